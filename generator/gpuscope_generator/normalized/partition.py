"""MIG by node and by cluster, and who holds each instance: what the GPU partition board reads."""

from gpuscope_generator.normalized.mig import MIG
from gpuscope_generator.normalized.node import NODE
from gpuscope_generator.promql import gauge, info

__all__ = [
    "CLUSTER_GPUS",
    "CLUSTER_INSTANCES",
    "CLUSTER_SLICES",
    "CONFIG",
    "GPU_SLICES",
    "HOLDER",
    "NODE_GPUS",
    "NODE_INSTANCES",
    "NODE_SLICES",
]

HOLDER = info(
    "mig:holder:union",
    *MIG,
    "namespace",
    "pod",
    "workload_kind",
    "workload",
    "job_id",
    meaning="Who holds an instance; of one that nobody is known to hold the labels are empty.",
)
GPU_SLICES = gauge(
    "gpu:mig_slices:sum",
    *MIG[:4],
    "state",
    meaning="Compute slices of a GPU in MIG mode: total (seven), configured (in instances), allocated, and free "
    "(configured, and held by nobody).",
)
NODE_GPUS = gauge("node:mig_gpus:count", *NODE, meaning="GPUs in MIG mode.")
NODE_INSTANCES = gauge(
    "node:mig_instances:count", *NODE, "profile", "state", meaning="MIG instances: total, allocated, free."
)
NODE_SLICES = gauge(
    "node:mig_slices:sum",
    *NODE,
    "state",
    meaning="Compute slices of the GPUs in MIG mode: total, configured, allocated, free, and busy (weighted by activity).",
)
CLUSTER_GPUS = gauge("cluster:mig_gpus:count", "cluster", meaning="GPUs in MIG mode.")
CLUSTER_INSTANCES = gauge(
    "cluster:mig_instances:count", "cluster", "profile", "state", meaning="MIG instances: total, allocated, free."
)
CLUSTER_SLICES = gauge("cluster:mig_slices:sum", "cluster", "state", meaning="As of the nodes.")
CONFIG = info(
    "node:mig_config:union",
    *NODE,
    "config",
    "state",
    meaning="What NVIDIA's MIG manager was asked for, and how far it is: pending, rebooting, success, failed.",
)

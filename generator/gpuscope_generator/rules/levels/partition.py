"""From MIG instances to GPUs, nodes and clusters, in instances and in slices."""

from __future__ import annotations

from gpuscope_generator.normalized import gpu, mig, node, partition
from gpuscope_generator.promql import (
    count_by,
    group_by,
    max_by,
    on,
    select,
    sum_by,
)
from gpuscope_generator.rules.model import Group, Recording, RuleFile, recording
from gpuscope_generator.rules.sources.devices import COMPUTE_SLICES, IS_A30, SLICES_OF_A30
from gpuscope_generator.rules.sources.labels import labelled
from gpuscope_generator.settings import Settings

__all__ = ["partition_rules"]

_NOBODY = dict.fromkeys(("namespace", "pod", "workload_kind", "workload", "job_id"), "")


def partition_rules(settings: Settings) -> RuleFile:
    """Rules about MIG above single instances."""
    rules = (_holder(), *_of_gpus(), *_of_nodes(), *_of_clusters())
    return RuleFile(
        path="recording/level-partition.yaml",
        comment="From MIG instances to GPUs, nodes and clusters, in instances and in slices.",
        groups=(Group("gpuscope-level-partition", settings.intervals.aggregate, rules),),
    )


def _holder() -> Recording:
    labels = (*mig.MIG, *_NOBODY)
    held = group_by(select(mig.OWNER), *labels)
    instances = group_by(select(mig.INFO), *mig.MIG)
    free = labelled(instances.unless(select(mig.OWNER), on=mig.MIG), **_NOBODY)
    return recording(partition.HOLDER, held.or_(free))


def _of_gpus() -> tuple[Recording, ...]:
    slices = select(mig.SLICES)
    split = max_by(select(gpu.MIG_MODE), *gpu.GPU).compare("==", 1)
    of_a30 = split.and_(select(gpu.INFO, IS_A30), on=gpu.GPU) * SLICES_OF_A30
    held = on(slices, "*", select(mig.ALLOCATED), mig.MIG)
    free = on(slices, "*", select(mig.ALLOCATED).compare("==", 0, as_bool=True), mig.MIG)
    return (
        recording(partition.GPU_SLICES, of_a30.or_(split * COMPUTE_SLICES), state="total"),
        recording(partition.GPU_SLICES, sum_by(slices, *gpu.GPU), state="configured"),
        recording(partition.GPU_SLICES, sum_by(held, *gpu.GPU), state="allocated"),
        recording(partition.GPU_SLICES, sum_by(free, *gpu.GPU), state="free"),
    )


def _of_nodes() -> tuple[Recording, ...]:
    by_profile = (*node.NODE, "profile")
    instances = group_by(select(mig.INFO), *mig.MIG)
    busy = on(select(mig.SLICES), "*", select(mig.COMPUTE_ACTIVE), mig.MIG)
    return (
        recording(partition.NODE_GPUS, sum_by(select(gpu.MIG_MODE), *node.NODE)),
        recording(partition.NODE_INSTANCES, count_by(instances, *by_profile), state="total"),
        recording(partition.NODE_INSTANCES, sum_by(select(mig.ALLOCATED), *by_profile), state="allocated"),
        recording(
            partition.NODE_INSTANCES,
            sum_by(select(mig.ALLOCATED).compare("==", 0, as_bool=True), *by_profile),
            state="free",
        ),
        recording(partition.NODE_SLICES, sum_by(select(partition.GPU_SLICES), *node.NODE, "state")),
        recording(partition.NODE_SLICES, sum_by(busy, *node.NODE), state="busy"),
    )


def _of_clusters() -> tuple[Recording, ...]:
    return (
        recording(partition.CLUSTER_GPUS, sum_by(select(partition.NODE_GPUS), "cluster")),
        recording(partition.CLUSTER_INSTANCES, sum_by(select(partition.NODE_INSTANCES), "cluster", "profile", "state")),
        recording(partition.CLUSTER_SLICES, sum_by(select(partition.NODE_SLICES), "cluster", "state")),
    )

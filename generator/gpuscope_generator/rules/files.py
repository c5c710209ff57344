"""Every rule file, in the order in which they build on each other."""

from __future__ import annotations

from gpuscope_generator.rules.alerts import alert_files
from gpuscope_generator.rules.levels.cluster import cluster_rules
from gpuscope_generator.rules.levels.demand import demand_rules
from gpuscope_generator.rules.levels.fault import fault_rules
from gpuscope_generator.rules.levels.filesystem import filesystem_level_rules
from gpuscope_generator.rules.levels.fleet import fleet_rules
from gpuscope_generator.rules.levels.heat import heat_rules
from gpuscope_generator.rules.levels.model import model_rules
from gpuscope_generator.rules.levels.node import node_rules
from gpuscope_generator.rules.levels.noise import noise_rules
from gpuscope_generator.rules.levels.objective import objective_rules
from gpuscope_generator.rules.levels.pace import pace_rules
from gpuscope_generator.rules.levels.partition import partition_rules
from gpuscope_generator.rules.levels.reliability import reliability_rules
from gpuscope_generator.rules.levels.team import team_rules
from gpuscope_generator.rules.levels.workload import workload_rules
from gpuscope_generator.rules.model import RuleFile
from gpuscope_generator.rules.sources.amd import amd_rules
from gpuscope_generator.rules.sources.cadvisor import cadvisor_rules
from gpuscope_generator.rules.sources.checks import check_rules
from gpuscope_generator.rules.sources.collector import collector_rules
from gpuscope_generator.rules.sources.dcgm import dcgm_rules
from gpuscope_generator.rules.sources.devices import device_rules
from gpuscope_generator.rules.sources.dynamo import dynamo_rules
from gpuscope_generator.rules.sources.evaluation import evaluation_rules
from gpuscope_generator.rules.sources.exporters import exporter_rules
from gpuscope_generator.rules.sources.filesystem import filesystem_rules
from gpuscope_generator.rules.sources.fsx import fsx_rules
from gpuscope_generator.rules.sources.gpfs import gpfs_rules
from gpuscope_generator.rules.sources.health import health_rules
from gpuscope_generator.rules.sources.hyperpod_inference import hyperpod_inference_rules
from gpuscope_generator.rules.sources.hyperpod_training import hyperpod_training_rules
from gpuscope_generator.rules.sources.interconnect import interconnect_rules
from gpuscope_generator.rules.sources.jobset import jobset_rules
from gpuscope_generator.rules.sources.kubeflow import kubeflow_rules
from gpuscope_generator.rules.sources.kubernetes import kubernetes_rules
from gpuscope_generator.rules.sources.kueue import kueue_rules
from gpuscope_generator.rules.sources.llm_d import llm_d_rules
from gpuscope_generator.rules.sources.lustre_hpe import lustre_hpe_rules
from gpuscope_generator.rules.sources.maintenance import maintenance_rules
from gpuscope_generator.rules.sources.mig_manager import mig_manager_rules
from gpuscope_generator.rules.sources.native import native_rules
from gpuscope_generator.rules.sources.nccl import nccl_rules
from gpuscope_generator.rules.sources.nfs_mountstats import nfs_mountstats_rules
from gpuscope_generator.rules.sources.node_exporter import node_exporter_rules
from gpuscope_generator.rules.sources.node_filesystem import node_filesystem_rules
from gpuscope_generator.rules.sources.nvsentinel import nvsentinel_rules
from gpuscope_generator.rules.sources.ports import port_rules
from gpuscope_generator.rules.sources.racks import rack_rules
from gpuscope_generator.rules.sources.ray_train import ray_train_rules
from gpuscope_generator.rules.sources.scaling import scaling_rules
from gpuscope_generator.rules.sources.sglang import sglang_rules
from gpuscope_generator.rules.sources.slurm_exporters import slurm_exporter_rules
from gpuscope_generator.rules.sources.slurm_native import slurm_native_rules
from gpuscope_generator.rules.sources.tensorrt_llm import tensorrt_llm_rules
from gpuscope_generator.rules.sources.tgi import tgi_rules
from gpuscope_generator.rules.sources.training import training_rules
from gpuscope_generator.rules.sources.triton import triton_rules
from gpuscope_generator.rules.sources.versions import version_rules
from gpuscope_generator.rules.sources.vllm import vllm_rules
from gpuscope_generator.rules.sources.volcano import volcano_rules
from gpuscope_generator.settings import Settings

__all__ = ["RECORDING_FILES", "rule_files"]

RECORDING_FILES = (
    health_rules,
    collector_rules,
    kubernetes_rules,
    maintenance_rules,
    rack_rules,
    exporter_rules,
    check_rules,
    evaluation_rules,
    cadvisor_rules,
    node_exporter_rules,
    port_rules,
    native_rules,
    dcgm_rules,
    amd_rules,
    device_rules,
    interconnect_rules,
    mig_manager_rules,
    vllm_rules,
    sglang_rules,
    tgi_rules,
    triton_rules,
    tensorrt_llm_rules,
    dynamo_rules,
    hyperpod_inference_rules,
    llm_d_rules,
    scaling_rules,
    version_rules,
    training_rules,
    kubeflow_rules,
    jobset_rules,
    hyperpod_training_rules,
    kueue_rules,
    volcano_rules,
    slurm_native_rules,
    slurm_exporter_rules,
    nvsentinel_rules,
    nccl_rules,
    ray_train_rules,
    filesystem_rules,
    lustre_hpe_rules,
    node_filesystem_rules,
    nfs_mountstats_rules,
    gpfs_rules,
    fsx_rules,
    fault_rules,
    node_rules,
    heat_rules,
    fleet_rules,
    partition_rules,
    workload_rules,
    pace_rules,
    team_rules,
    model_rules,
    filesystem_level_rules,
    cluster_rules,
    reliability_rules,
    demand_rules,
    objective_rules,
    noise_rules,
)
"""One function a file: settings in, rules out."""


def rule_files(settings: Settings) -> tuple[RuleFile, ...]:
    """All rule files: those that record, then those that alert."""
    return tuple(make(settings) for make in RECORDING_FILES) + alert_files(settings)

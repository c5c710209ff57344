"""From devices to the pods and jobs that hold them, and from these to workloads."""

from __future__ import annotations

from gpuscope_generator.normalized import gpu, mig, workload
from gpuscope_generator.promql import Gauge, Vector, count_by, group_by, join, on, select, sum_by
from gpuscope_generator.rules.levels.holding import held, idle, mig_shares, of_gpus, of_instances, shares
from gpuscope_generator.rules.levels.utilization_class import class_rules
from gpuscope_generator.rules.model import Group, Recording, RuleFile, recording
from gpuscope_generator.settings import Settings

__all__ = ["workload_rules"]


def workload_rules(settings: Settings) -> RuleFile:
    """Rules of pods' GPUs, of workloads, and of how these use their GPUs."""
    return RuleFile(
        path="recording/level-workload.yaml",
        comment="Which pod or Slurm job holds how much of which GPU, and what that does: by pod and by workload. A GPU "
        "that several share is split evenly between them, which is an estimate; MIG instances count by their slices.",
        groups=(
            Group("gpuscope-level-pod", settings.intervals.aggregate, _pods()),
            Group("gpuscope-level-workload", settings.intervals.aggregate, (*_workloads(settings),)),
            Group("gpuscope-level-workload-class", settings.intervals.slow, class_rules(settings)),
        ),
    )


def _pods() -> tuple[Recording, ...]:
    def active(target: Gauge, whole: Gauge, instance: Gauge) -> Recording:
        return recording(target, sum_by(of_gpus(whole).or_(of_instances(instance)), *workload.POD))

    both = select(workload.POD_GPU_SHARE).or_(select(workload.POD_MIG_SHARE))
    power = on(select(workload.POD_MIG_SHARE), "*", select(gpu.POWER), gpu.GPU, many="left")
    return (
        recording(workload.POD_GPU_SHARE, shares()),
        recording(workload.POD_MIG_SHARE, mig_shares()),
        recording(workload.POD_GPUS, sum_by(both, *workload.POD)),
        active(workload.POD_COMPUTE_ACTIVE, gpu.COMPUTE_ACTIVE, mig.COMPUTE_ACTIVE),
        active(workload.POD_SM_ACTIVE, gpu.SM_ACTIVE, mig.SM_ACTIVE),
        active(workload.POD_OCCUPANCY, gpu.OCCUPANCY, mig.OCCUPANCY),
        active(workload.POD_TENSOR_ACTIVE, gpu.TENSOR_ACTIVE, mig.TENSOR_ACTIVE),
        active(workload.POD_DRAM_ACTIVE, gpu.DRAM_ACTIVE, mig.DRAM_ACTIVE),
        recording(workload.POD_GPU_MEMORY_USED, sum_by(held(gpu.MEMORY_USED, mig.MEMORY_USED), *workload.POD)),
        recording(workload.POD_GPU_MEMORY_TOTAL, sum_by(held(gpu.MEMORY_TOTAL, mig.MEMORY_TOTAL), *workload.POD)),
        recording(workload.POD_POWER, sum_by(of_gpus(gpu.POWER).or_(power), *workload.POD)),
    )


def _workloads(settings: Settings) -> tuple[Recording, ...]:
    def summed(of_pods: Gauge | Vector) -> Vector:
        found = select(of_pods) if isinstance(of_pods, Gauge) else of_pods
        return sum_by(found, *workload.WORKLOAD)

    def by_model(shared: Vector) -> Vector:
        modelled = join(shared, select(gpu.INFO), on=gpu.GPU, take=("model",))
        return sum_by(modelled, *workload.WORKLOAD, "model")

    both = select(workload.POD_GPU_SHARE).or_(select(workload.POD_MIG_SHARE))
    known = group_by(select(workload.POD_INFO), *workload.WORKLOAD).or_(group_by(both, *workload.WORKLOAD))
    return (
        recording(workload.WORKLOAD_INFO, known),
        recording(workload.WORKLOAD_GPUS_BY_MODEL, by_model(both), state="allocated"),
        recording(workload.WORKLOAD_GPUS_BY_MODEL, by_model(idle(settings)), state="idle"),
        recording(workload.WORKLOAD_PODS, count_by(select(workload.POD_PHASE), *workload.WORKLOAD, "phase")),
        recording(workload.WORKLOAD_GPUS, summed(workload.POD_GPUS), state="allocated"),
        recording(workload.WORKLOAD_GPUS, summed(idle(settings)), state="idle"),
        recording(workload.WORKLOAD_COMPUTE_ACTIVE, summed(workload.POD_COMPUTE_ACTIVE)),
        recording(workload.WORKLOAD_SM_ACTIVE, summed(workload.POD_SM_ACTIVE)),
        recording(workload.WORKLOAD_TENSOR_ACTIVE, summed(workload.POD_TENSOR_ACTIVE)),
        recording(workload.WORKLOAD_GPU_MEMORY_USED, summed(workload.POD_GPU_MEMORY_USED)),
        recording(workload.WORKLOAD_GPU_MEMORY_TOTAL, summed(workload.POD_GPU_MEMORY_TOTAL)),
        recording(workload.WORKLOAD_POWER, summed(workload.POD_POWER)),
        recording(workload.WORKLOAD_CPU, summed(workload.POD_CPU)),
        recording(workload.WORKLOAD_MEMORY, summed(workload.POD_MEMORY)),
    )

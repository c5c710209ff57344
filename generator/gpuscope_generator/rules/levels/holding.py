"""What pods and jobs hold of GPUs: the one join of owners with devices, at which all sums of workloads start."""

from __future__ import annotations

from gpuscope_generator.normalized import gpu, mig, workload
from gpuscope_generator.promql import (
    Gauge,
    Info,
    Vector,
    count_by,
    first_of,
    group_by,
    max_by,
    on,
    ratio,
    select,
)
from gpuscope_generator.rules.sources.devices import COMPUTE_SLICES, IS_A30, SLICES_OF_A30
from gpuscope_generator.settings import Settings

__all__ = ["held", "idle", "instance_weights", "mig_shares", "of_gpus", "of_instances", "shares"]


def instance_weights() -> Vector:
    """Share of its GPU that an instance is, by compute slices; an even part where nobody tells slices."""
    slices = max_by(select(mig.SLICES), *mig.MIG)
    of_a30 = slices.and_(select(gpu.INFO, IS_A30), on=gpu.GPU) / SLICES_OF_A30
    instances = group_by(select(mig.INFO), *mig.MIG)
    even = ratio(instances, count_by(instances, *gpu.GPU), on=gpu.GPU, many="left")
    return first_of(of_a30, slices / COMPUTE_SLICES, even)


def _even(owner: Info, device: tuple[str, ...], *, without: Vector | None = None) -> Vector:
    """1 for an owner that has the device alone, else an even part of it."""
    labels = tuple(dict.fromkeys((*workload.POD, *device)))
    owners = group_by(select(owner), *labels)
    if without is not None:
        owners = owners.unless(without, on=gpu.GPU)
    return ratio(owners, count_by(owners, *device), on=device, many="left")


def shares() -> Vector:
    """Of whole GPUs. A GPU with instances is told by these: its owners hold parts, and no even ones."""
    return _even(gpu.OWNER, gpu.GPU, without=select(mig.INFO))


def _parts() -> Vector:
    """Of MIG instances: 1, or an even part of a shared one."""
    return _even(mig.OWNER, mig.MIG)


def mig_shares() -> Vector:
    """Of GPUs by MIG instances."""
    return on(_parts(), "*", instance_weights(), mig.MIG, many="left")


def of_gpus(value: Gauge) -> Vector:
    """A reading of each GPU, times what each owner holds of it."""
    return on(select(workload.POD_GPU_SHARE), "*", max_by(select(value), *gpu.GPU), gpu.GPU, many="left")


def of_instances(value: Gauge) -> Vector:
    """A reading of each MIG instance, times what each owner holds of the GPU by it."""
    return on(select(workload.POD_MIG_SHARE), "*", max_by(select(value), *mig.MIG), mig.MIG, many="left")


def held(whole: Gauge, part: Gauge) -> Vector:
    """What an owner has of something that belongs to the device itself, such as its memory."""
    parts = on(_parts(), "*", max_by(select(part), *mig.MIG), mig.MIG, many="left")
    return of_gpus(whole).or_(parts)


def idle(settings: Settings) -> Vector:
    """What an owner holds of GPUs and instances that do nothing; 0 where they work."""
    quiet = max_by(select(mig.COMPUTE_ACTIVE), *mig.MIG).compare("<", settings.thresholds.idle_ratio, as_bool=True)
    instances = on(select(workload.POD_MIG_SHARE), "*", quiet, mig.MIG, many="left")
    return of_gpus(gpu.IDLE).or_(instances)

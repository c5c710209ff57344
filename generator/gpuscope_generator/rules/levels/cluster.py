"""From nodes to the cluster: what the overview of the largest cluster reads."""

from __future__ import annotations

from gpuscope_generator.normalized import cluster, fleet, gpu, node
from gpuscope_generator.promql import (
    Gauge,
    Vector,
    count_by,
    first_of,
    group_by,
    join,
    max_by,
    min_by,
    quantile_by,
    ratio,
    resampled,
    select,
    sum_by,
)
from gpuscope_generator.rules.model import Group, Recording, RuleFile, recording
from gpuscope_generator.rules.sources.events import of_a_day
from gpuscope_generator.rules.sources.labels import labelled
from gpuscope_generator.settings import Settings

__all__ = ["cluster_rules"]

_MODEL_MEMORY = "1d"
"""How long the model of a node's GPUs is remembered once nothing tells of it any more."""
_TENTHS = tuple(step / 10 for step in range(1, 10))


def cluster_rules(settings: Settings) -> RuleFile:
    """Rules that sum the nodes of each cluster."""
    here = cluster.CLUSTER
    rules = (
        recording(node.COUNTED_MODEL, _counted_model()),
        recording(cluster.INFO, group_by(select(node.GPU_FACTS), *here)),
        recording(cluster.NODES, sum_by(select(node.STATE), *here, "state")),
        recording(cluster.NODES, count_by(max_by(select(node.STATE), *node.NODE), *here), state="total"),
        *_numbers(),
        *_activity(),
        recording(cluster.GPU_MEMORY, sum_by(select(node.MEMORY_USED), *here), state="used"),
        recording(cluster.GPU_MEMORY, sum_by(select(node.MEMORY_TOTAL), *here), state="total"),
        recording(cluster.POWER, sum_by(select(node.POWER), *here)),
        recording(cluster.POWER_LIMIT, sum_by(select(node.POWER_LIMIT), *here)),
        recording(cluster.HOTTEST, min_by(select(node.HEADROOM), *here)),
        recording(cluster.THROTTLED, sum_by(select(node.THROTTLED), *here, "reason")),
        recording(cluster.XID_ERRORS_HOURLY, sum_by(select(node.XID_ERRORS_HOURLY), *here, "xid")),
        recording(cluster.XID_ERRORS_DAILY, of_a_day(select(cluster.XID_ERRORS_HOURLY))),
        recording(cluster.ECC_ERRORS_HOURLY, sum_by(select(fleet.ECC_ERRORS_HOURLY), *here, "severity")),
        *_quantiles(),
        *_hosts(),
    )
    return RuleFile(
        path="recording/level-cluster.yaml",
        comment="From nodes to clusters.",
        groups=(Group("gpuscope-level-cluster", settings.intervals.aggregate, rules),),
    )


def _numbers() -> tuple[Recording, ...]:
    states = ("present", "missing", "healthy", "allocated", "idle")
    present = max_by(select(node.GPUS, state="present"), *node.NODE)
    missing = max_by(select(node.GPUS, state="missing"), *node.NODE)
    # Where nobody promises a number, as of a node whose scheduler counts MIG instances, what is there is expected;
    # where nobody watches, what its scheduler counts.
    counted = max_by(select(node.GPUS, state="expected"), *node.NODE)
    expected = first_of(present + missing, missing, present, counted)
    return (
        *(recording(cluster.GPUS, _by_model(select(node.GPUS, state=state)), state=state) for state in states),
        recording(cluster.GPUS, _by_model(expected), state="expected"),
        recording(cluster.GPUS, _by_model(_allocatable()), state="allocatable"),
        recording(cluster.GPUS, _by_model(_held_of(present)), state="allocated_present"),
    )


def _held_of(present: Vector) -> Vector:
    """GPUs in use among those that answer: a scheduler also gives out GPUs that nobody watches."""
    held = max_by(select(node.GPUS, state="allocated"), *node.NODE)
    return first_of(held.compare("<=", present), present.and_(held, on=node.NODE))


def _allocatable() -> Vector:
    """Healthy GPUs of nodes that take work, at most what the scheduler offers there; it offers no GPUs in MIG mode."""
    healthy = max_by(select(node.GPUS, state="healthy"), *node.NODE)
    offered = max_by(select(node.GPUS, state="allocatable"), *node.NODE)
    takes_work = select(node.STATE, state="ready").compare("==", 1)
    return first_of(offered.compare("<=", healthy), healthy).and_(takes_work, on=node.NODE)


def _counted_model() -> Vector:
    """Recorded once: a look back over a day for each sum by model would be most of the work of the group."""
    now = group_by(select(node.GPU_FACTS), *node.NODE, "model")
    before = group_by(resampled("max_over_time", select(node.GPU_FACTS), _MODEL_MEMORY, "10m"), *node.NODE, "model")
    models = now.or_(before.unless(now, on=node.NODE))
    several = count_by(models, *node.NODE).compare(">", 1)
    return models.unless(several, on=node.NODE).or_(labelled(group_by(several, *node.NODE), model="mixed"))


def _by_model(numbers: Vector) -> Vector:
    """Sums by GPU model; a node with GPUs of several models counts under ``mixed``."""
    plain = max_by(numbers, *node.NODE)
    known = join(plain, select(node.COUNTED_MODEL), on=node.NODE, take=("model",))
    unknown = labelled(plain.unless(select(node.COUNTED_MODEL), on=node.NODE), model="unknown")
    return sum_by(known.or_(unknown), *cluster.CLUSTER, "model")


def _activity() -> tuple[Recording, ...]:
    pairs: tuple[tuple[str, Gauge, Gauge], ...] = (
        ("compute", node.COMPUTE_ACTIVE, node.COMPUTE_COUNT),
        ("sm", node.SM_ACTIVE, node.SM_COUNT),
        ("tensor", node.TENSOR_ACTIVE, node.TENSOR_COUNT),
        ("memory_bandwidth", node.DRAM_ACTIVE, node.DRAM_COUNT),
    )
    means = tuple(
        recording(
            cluster.ACTIVITY,
            ratio(sum_by(select(total), *cluster.CLUSTER), sum_by(select(count), *cluster.CLUSTER)),
            what=what,
        )
        for what, total, count in pairs
    )
    sums = tuple(
        recording(cluster.WORK, sum_by(select(total), *cluster.CLUSTER), what=what) for what, total, _ in pairs
    )
    value = select(gpu.COMPUTE_ACTIVE)
    shares = tuple(
        recording(cluster.SHARE, sum_by(value.compare("<=", bound, as_bool=True), *cluster.CLUSTER), le=str(bound))
        for bound in _TENTHS
    )
    return (*means, *sums, *shares, recording(cluster.SHARE, count_by(value, *cluster.CLUSTER), le="1.0"))


def _quantiles() -> tuple[Recording, ...]:
    active = max_by(select(gpu.COMPUTE_ACTIVE), *gpu.GPU)
    held = active.and_(select(gpu.ALLOCATED).compare(">", 0), on=gpu.GPU)
    return tuple(
        recording(
            cluster.QUANTILE,
            first_of(*(quantile_by(quantile, each, *cluster.CLUSTER) for each in (held, active))),
            quantile=str(quantile),
        )
        for quantile in (0.1, 0.5, 0.95)
    )


def _hosts() -> tuple[Recording, ...]:
    sums: tuple[tuple[Gauge, str, Gauge], ...] = (
        (cluster.CPUS, "total", node.CPUS),
        (cluster.CPUS, "used", node.CPU_USED),
        (cluster.MEMORY, "total", node.SYSTEM_MEMORY_TOTAL),
        (cluster.MEMORY, "used", node.SYSTEM_MEMORY_USED),
        (cluster.DISK, "total", node.DISK_TOTAL),
        (cluster.DISK, "used", node.DISK_USED),
    )
    return (
        *(recording(target, sum_by(select(each), *cluster.CLUSTER), state=state) for target, state, each in sums),
        recording(cluster.NETWORK, sum_by(select(node.NETWORK_BYTES), *cluster.CLUSTER, "fabric", "direction")),
    )

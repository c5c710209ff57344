"""From GPUs to nodes: sums, each with the number of GPUs that it is over."""

from __future__ import annotations

from gpuscope_generator.external import kubernetes as kube
from gpuscope_generator.normalized import gpu, mig, node, workload
from gpuscope_generator.promql import (
    Gauge,
    Matcher,
    Vector,
    clamp,
    count_by,
    first_of,
    group_by,
    max_by,
    min_by,
    resampled,
    select,
    sum_by,
)
from gpuscope_generator.rules.model import Group, Recording, RuleFile, recording
from gpuscope_generator.settings import Settings

__all__ = ["THROTTLED_SHARE", "node_rules"]

THROTTLED_SHARE = 0.1
"""Share of five minutes from which on a GPU counts as held down."""
_WATCHED = "1d"
"""How long a node counts as watched once the exporter on it is gone."""


def node_rules(settings: Settings) -> RuleFile:
    """Rules that sum the GPUs of each node."""
    throttled = select(gpu.THROTTLED).compare(">=", THROTTLED_SHARE, as_bool=True)
    rules = (
        recording(node.GPU_FACTS, group_by(select(gpu.INFO), *node.NODE, "vendor", "model")),
        *_numbers(),
        *_activity(),
        recording(node.MEMORY_USED, sum_by(select(gpu.MEMORY_USED), *node.NODE)),
        recording(node.MEMORY_TOTAL, sum_by(select(gpu.MEMORY_TOTAL), *node.NODE)),
        recording(node.POWER, sum_by(select(gpu.POWER), *node.NODE)),
        recording(node.POWER_LIMIT, sum_by(select(gpu.POWER_LIMIT), *node.NODE)),
        recording(node.TEMPERATURE, max_by(select(gpu.TEMPERATURE), *node.NODE)),
        recording(node.HEADROOM, min_by(select(gpu.HEADROOM), *node.NODE)),
        recording(node.THROTTLED, sum_by(throttled, *node.NODE, "reason")),
        recording(node.XID_ERRORS_HOURLY, sum_by(select(gpu.XID_ERRORS_HOURLY), *node.NODE, "xid")),
    )
    return RuleFile(
        path="recording/level-node.yaml",
        comment="From normalized series of GPUs to nodes.",
        groups=(Group("gpuscope-level-node", settings.intervals.normalize, rules),),
    )


def _activity() -> tuple[Recording, ...]:
    pairs: tuple[tuple[Gauge, Gauge, Gauge], ...] = (
        (gpu.COMPUTE_ACTIVE, node.COMPUTE_ACTIVE, node.COMPUTE_COUNT),
        (gpu.SM_ACTIVE, node.SM_ACTIVE, node.SM_COUNT),
        (gpu.TENSOR_ACTIVE, node.TENSOR_ACTIVE, node.TENSOR_COUNT),
        (gpu.DRAM_ACTIVE, node.DRAM_ACTIVE, node.DRAM_COUNT),
    )
    return tuple(
        rule
        for value, total, count in pairs
        for rule in (
            recording(total, sum_by(select(value), *node.NODE)),
            recording(count, count_by(select(value), *node.NODE)),
        )
    )


def _numbers() -> tuple[Recording, ...]:
    present = sum_by(select(gpu.UP), *node.NODE)
    # Of a cluster in which no exporter tells of any GPU, it is not known which are missing.
    told = group_by(select(gpu.UP), "cluster")
    # A scheduler counts MIG instances and partitions where there are any, and no GPUs.
    split = group_by(select(mig.INFO), *node.NODE)
    counted = select(node.GPUS, state="expected").unless(split, on=node.NODE)
    promised = max_by(select(node.GPUS, state="installed").or_(counted), *node.NODE)
    # A dead node has no series at all: all its GPUs are missing. One that works and that no exporter ever watched
    # misses none: of its GPUs nothing is known.
    watched = group_by(resampled("max_over_time", select(node.GPU_FACTS), _WATCHED, "10m"), *node.NODE)
    dead = promised.and_(watched.or_(select(node.READY).compare("==", 0)), on=node.NODE) * 0
    seen = present.or_(dead)
    missing = clamp(promised - seen, low=0).and_(told, on=("cluster",))
    return (
        recording(node.GPUS, present, state="present"),
        recording(node.GPUS, missing, state="missing"),
        recording(node.GPUS, sum_by(select(gpu.HEALTHY), *node.NODE), state="healthy"),
        recording(node.GPUS, _broken(), state="broken"),
        recording(node.GPUS, _allocated(), state="allocated"),
        recording(node.GPUS, sum_by(select(gpu.IDLE), *node.NODE), state="idle"),
    )


def _broken() -> Vector:
    """As one number, for lists of all nodes; where nobody tells of health, those that answer are not called broken."""
    present = max_by(select(node.GPUS, state="present"), *node.NODE)
    missing = max_by(select(node.GPUS, state="missing"), *node.NODE)
    healthy = max_by(select(node.GPUS, state="healthy"), *node.NODE)
    unhealthy = clamp(present - first_of(healthy, present), low=0)
    return first_of(missing + unhealthy, missing, unhealthy)


def _allocated() -> Vector:
    """As the devices know it; where nobody tells their owners, as the scheduler does."""
    held = sum_by(select(gpu.ALLOCATED), *node.NODE)
    by_scheduler = max_by(select(node.GPUS, state="scheduled"), *node.NODE)
    whole = Matcher("resource", "=~", kube.WHOLE_GPU_RESOURCES)
    requested = sum_by(select(workload.POD_GPU_REQUEST, whole, Matcher("node", "!=", "")), *node.NODE)
    return first_of(held, by_scheduler, requested)

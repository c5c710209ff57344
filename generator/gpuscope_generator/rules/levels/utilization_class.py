"""How a workload uses its GPUs, in one word: the quadrants of memory and activity over an hour."""

from __future__ import annotations

from gpuscope_generator.normalized import workload
from gpuscope_generator.promql import (
    Gauge,
    Vector,
    avg_over_time,
    first_of,
    group_by,
    max_by,
    max_over_time,
    ratio,
    select,
)
from gpuscope_generator.rules.model import Recording, recording
from gpuscope_generator.settings import Settings

__all__ = ["class_rules"]


def class_rules(settings: Settings) -> tuple[Recording, ...]:
    """The two means over an hour, and the class that follows; a workload is in one class only."""
    limits = settings.thresholds
    busy, full = select(workload.WORKLOAD_BUSY), select(workload.WORKLOAD_MEMORY_HELD)
    window = f"{limits.idle_minutes}m"
    lately = ratio(
        max_over_time(select(workload.WORKLOAD_COMPUTE_ACTIVE), window),
        max_by(max_over_time(select(workload.WORKLOAD_GPUS, state="allocated"), window), *workload.WORKLOAD),
    ).compare("<", limits.idle_ratio)
    before = select(workload.WORKLOAD_GPUS, state="allocated").offset(window)
    quiet = lately.and_(before, on=workload.WORKLOAD)
    unused = busy.compare("<", limits.idle_ratio).and_(full.compare("<=", limits.unused_memory_ratio))
    # Only of what has been there long enough: a job that starts is not idle yet.
    unused = unused.and_(before, on=workload.WORKLOAD)
    idle = quiet.and_(full.compare(">", limits.unused_memory_ratio))
    resting = first_of(unused, idle, on=workload.WORKLOAD)
    much, little = full.compare(">=", limits.high_memory_ratio), full.compare("<", limits.high_memory_ratio)
    hard, rare = busy.compare(">=", limits.high_busy_ratio), busy.compare("<", limits.rare_busy_ratio)
    some = busy.compare("<", limits.high_busy_ratio)

    def working(name: str, found: Vector) -> Recording:
        return _class(name, found.unless(resting, on=workload.WORKLOAD))

    return (
        recording(workload.WORKLOAD_BUSY, ratio(_mean(workload.WORKLOAD_COMPUTE_ACTIVE), _allocated())),
        recording(
            workload.WORKLOAD_MEMORY_HELD,
            ratio(_mean(workload.WORKLOAD_GPU_MEMORY_USED), _mean(workload.WORKLOAD_GPU_MEMORY_TOTAL)),
        ),
        _class("allocated_unused", unused),
        _class("allocated_idle", idle),
        working("saturated", hard.and_(much)),
        working("resident_idle", rare.and_(much)),
        working("memory_bound", some.compare(">=", limits.rare_busy_ratio).and_(much)),
        working("compute_bound_small", hard.and_(little)),
        working("underused", some.and_(little)),
    )


def _mean(series: Gauge) -> Vector:
    return avg_over_time(select(series), "1h")


def _allocated() -> Vector:
    return max_by(avg_over_time(select(workload.WORKLOAD_GPUS, state="allocated"), "1h"), *workload.WORKLOAD)


def _class(name: str, found: Vector) -> Recording:
    return recording(workload.WORKLOAD_CLASS, group_by(found, *workload.WORKLOAD), **{"class": name})

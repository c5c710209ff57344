"""Shares of what was not as it should be, over windows: of answers, of GPU-time of training, of waits in queues."""

from __future__ import annotations

from collections.abc import Iterable

from gpuscope_generator.normalized import inference, objective, queue, training
from gpuscope_generator.promql import (
    Gauge,
    Matcher,
    Selector,
    Vector,
    avg_over_time,
    clamp,
    increase,
    max_by,
    ratio,
    select,
    sum_by,
    sum_over_time,
    with_zero,
)
from gpuscope_generator.promql.filling import seconds
from gpuscope_generator.rules.levels.bounds import SMALLEST, bounds_up_to
from gpuscope_generator.rules.model import Group, Recording, RuleFile, recording
from gpuscope_generator.settings import Settings

__all__ = ["objective_rules"]

_COUNTED = 3600
"""Of windows of so many seconds and more it is asked whether there was enough to tell."""
_LOST = "initializing|pulling|scheduling|stalled|recovering|suspended|queued"


def objective_rules(settings: Settings) -> RuleFile:
    """Rules of windows; sums of both parts first, and one division at the end."""
    intervals = settings.intervals
    return RuleFile(
        path="recording/level-objective.yaml",
        comment="What was not as it should be, as a share over windows from five minutes to three days: answers of "
        "model "
        "servers, GPU-time of training, waits in queues.",
        groups=(
            Group("gpuscope-objective-gpus", intervals.aggregate, _gpus()),
            Group("gpuscope-objective-short", intervals.aggregate, _of_windows(settings, objective.SHORT)),
            Group("gpuscope-objective-long", intervals.slow, _of_windows(settings, objective.LONG)),
            Group("gpuscope-objective-queues", intervals.slow, _queues(settings)),
        ),
    )


def _gpus() -> tuple[Recording, ...]:
    def summed(states: Matcher) -> Vector:
        return sum_by(select(training.GPUS, states), *objective.OWNER)

    held = summed(Matcher("state", "!=", "unknown"))
    return (
        recording(objective.TEAM_GPUS, held, use="held"),
        recording(objective.TEAM_GPUS, with_zero(summed(Matcher("state", "=~", _LOST)), held), use="lost"),
    )


def _of_windows(settings: Settings, windows: Iterable[str]) -> tuple[Recording, ...]:
    return tuple(rule for window in windows for rule in (*_models(settings, window), _badput(settings, window)))


def _models(settings: Settings, window: str) -> tuple[Recording, ...]:
    found = []
    for name in inference.OBJECTIVES:
        good, total = (select(inference.SLO, objective=name, result=result) for result in ("good", "total"))
        bad = _lost_part(good, total, window, inference.MODEL)
        if seconds(window) >= _COUNTED:
            # Not the mean times the window: it may be longer than there are samples.
            many = sum_by(sum_over_time(total, window), *inference.MODEL) * settings.intervals.aggregate
            bad = bad.and_(many.compare(">=", settings.thresholds.slo_min_requests), on=inference.MODEL)
        found.append(recording(objective.MODEL_BAD, bad, objective=name, window=window))
    return tuple(found)


def _lost_part(good: Selector[Gauge], total: Selector[Gauge], window: str, keys: tuple[str, ...]) -> Vector:
    every, kept = (sum_by(avg_over_time(each, window), *keys) for each in (total, good))
    return ratio(clamp(every - kept, low=0), every)


def _badput(settings: Settings, window: str) -> Recording:
    held, lost = (select(objective.TEAM_GPUS, use=use) for use in ("held", "lost"))
    bad = ratio(*(sum_by(avg_over_time(each, window), *objective.OWNER) for each in (lost, held)))
    if seconds(window) >= _COUNTED:
        hours = sum_by(sum_over_time(held, window), *objective.OWNER) * settings.intervals.aggregate / 3600
        bad = bad.and_(hours.compare(">=", settings.thresholds.goodput_min_gpu_hours), on=objective.OWNER)
    return recording(objective.BADPUT, bad, window=window)


def _queues(settings: Settings) -> tuple[Recording, ...]:
    limits = settings.thresholds
    within = Matcher("le", "=~", bounds_up_to(max(limits.queue_wait_slo_seconds, SMALLEST)))
    found = []
    for window in ("30m", "6h", "3d"):

        def admitted(bound: Matcher, window: str = window) -> Vector:
            # Of cumulative buckets the largest is that of the highest bound.
            waits = select(queue.WAIT_BUCKETS, Matcher("until", "=", "admitted"), bound)
            return increase(waits, window)

        total = sum_by(admitted(Matcher("le", "=", "+Inf")), *queue.QUEUE)
        soon = sum_by(max_by(admitted(within), *queue.QUEUE, "instance"), *queue.QUEUE)
        slow = ratio(clamp(total - with_zero(soon, total), low=0), total)
        if seconds(window) >= _COUNTED:
            slow = slow.and_(total.compare(">=", limits.queue_min_workloads), on=queue.QUEUE)
        found.append(recording(objective.SLOW_WAITS, slow, window=window))
    return tuple(found)

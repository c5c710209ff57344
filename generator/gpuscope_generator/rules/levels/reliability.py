"""Reliability of training over a day, a week and a month, summed from what came in ten minutes each."""

from __future__ import annotations

from gpuscope_generator.normalized import reliability, training
from gpuscope_generator.promql import (
    Counter,
    Gauge,
    Matcher,
    Selector,
    Vector,
    histogram_quantile,
    increase,
    label_replace,
    on,
    ratio,
    resampled,
    select,
    sum_by,
    with_zero,
)
from gpuscope_generator.rules.model import Group, Recording, RuleFile, recording
from gpuscope_generator.settings import Settings

__all__ = ["gained", "reliability_rules"]

_STEP = "10m"
_TRAINED = Matcher("state", "=~", "training|checkpointing")
_UNPLANNED = Matcher("domain", "!=", "planned")
_JUDGED = Matcher("outcome", "=~", "succeeded|failed|timed_out|interrupted")
_LOST = "recovering|suspended|stalled"


def gained(counter: Selector[Counter], window: str = _STEP) -> Vector:
    """What came to a counter in a window, exactly where it was there before and did not begin anew.

    ``increase`` guesses what lies before the first and after the last sample. Over windows that touch each other that
    would count an event at the seam a little too much, or not at all.
    """
    return (counter - counter.offset(window)).compare(">=", 0).or_(increase(counter, window))


def reliability_rules(settings: Settings) -> RuleFile:
    """Rules of ten minutes, and of the windows that are summed from them."""
    windows = [
        Group(f"gpuscope-reliability-{window}", settings.intervals.slow, _of_window(window))
        for window in reliability.WINDOWS
    ]
    return RuleFile(
        path="recording/level-reliability.yaml",
        comment="Success, MTBF, MTTR, goodput, ETTR and uptime of training by cluster, over a day, a week and a month; "
        "the definitions stand in docs/collector.md. A window ends at the last full ten minutes, and lacks the time in "
        "which the rules did not run.",
        groups=(Group("gpuscope-reliability", settings.intervals.aggregate, _tens()), *windows),
    )


def _tens() -> tuple[Recording, ...]:
    def summed(target: Gauge, counter: Counter, *conditions: Matcher) -> Recording:
        return recording(target, sum_by(gained(select(counter, *conditions)), *target.labels))

    seconds = gained(select(training.JOB_STATE_SECONDS))
    weighted = on(seconds, "*", select(training.JOB_GPUS), training.JOB, many="left")
    return (
        summed(reliability.ENDED_GAINED, training.JOBS_ENDED),
        summed(reliability.INTERRUPTIONS_GAINED, training.INTERRUPTIONS),
        summed(reliability.FAULTS_GAINED, training.FAULTS),
        summed(reliability.RESTARTS_GAINED, training.RESTARTS),
        summed(reliability.GPU_SECONDS_GAINED, training.GPU_SECONDS),
        summed(reliability.RECOVERIES_GAINED, training.RECOVERY_COUNT, _UNPLANNED),
        summed(reliability.RECOVERY_SECONDS_GAINED, training.RECOVERY_SUM, _UNPLANNED),
        summed(reliability.RECOVERY_BUCKETS_GAINED, training.RECOVERY_BUCKETS, _UNPLANNED),
        recording(reliability.WALL_SECONDS_GAINED, sum_by(seconds, "cluster", "state")),
        recording(reliability.WALL_GPU_SECONDS_GAINED, sum_by(weighted, "cluster", "state")),
    )


def _of_window(window: str) -> tuple[Recording, ...]:
    def over(series: Gauge, *conditions: Matcher) -> Vector:
        return resampled("sum_over_time", select(series, *conditions), window, _STEP)

    def total(series: Gauge, *conditions: Matcher, by: tuple[str, ...] = ("cluster",)) -> Vector:
        return sum_by(over(series, *conditions), *by)

    def kept(target: Gauge, found: Vector) -> Recording:
        return recording(target, found, window=window)

    def share(part: Vector, whole: Vector) -> Vector:
        return ratio(with_zero(part, whole), whole)

    held = total(reliability.GPU_SECONDS_GAINED)
    broken = total(reliability.INTERRUPTIONS_GAINED, Matcher("domain", "=", "infrastructure"))
    recoveries = total(reliability.RECOVERIES_GAINED, by=("cluster", "until"))
    buckets = total(reliability.RECOVERY_BUCKETS_GAINED, by=("cluster", "until", "le"))
    p90 = histogram_quantile(0.9, buckets).and_(recoveries.compare(">", 0), on=("cluster", "until"))
    states = Matcher("state", "!~", "queued|scheduling|unknown")
    lost = total(reliability.WALL_SECONDS_GAINED, Matcher("state", "=~", _LOST), by=("cluster", "state"))
    return (
        kept(reliability.ENDED, over(reliability.ENDED_GAINED)),
        kept(reliability.INTERRUPTIONS, over(reliability.INTERRUPTIONS_GAINED)),
        kept(reliability.FAULTS, total(reliability.FAULTS_GAINED, by=("cluster", "domain"))),
        kept(reliability.RESTARTS, over(reliability.RESTARTS_GAINED)),
        kept(reliability.GPU_SECONDS, over(reliability.GPU_SECONDS_GAINED)),
        kept(reliability.DOWNTIME, sum_by(label_replace(lost, "kind", "$1", "state", "(.*)"), "cluster", "kind")),
        kept(reliability.RECOVERIES, recoveries),
        kept(
            reliability.SUCCESS,
            share(
                total(reliability.ENDED_GAINED, Matcher("outcome", "=", "succeeded")),
                total(reliability.ENDED_GAINED, _JUDGED),
            ),
        ),
        kept(
            reliability.UNKNOWN_FAULTS,
            share(
                total(reliability.FAULTS_GAINED, Matcher("domain", "=", "unknown")), total(reliability.FAULTS_GAINED)
            ),
        ),
        kept(reliability.MTBF, ratio(held, broken)),
        kept(reliability.MTBF_BOUND, (held / 3).and_(broken.compare("==", 0)).compare(">", 0)),
        kept(
            reliability.MTTR,
            ratio(total(reliability.RECOVERY_SECONDS_GAINED, by=("cluster", "until")), recoveries),
        ),
        kept(reliability.MTTR_P90, p90),
        kept(reliability.GOODPUT, share(total(reliability.GPU_SECONDS_GAINED, _TRAINED), held)),
        kept(
            reliability.ETTR,
            share(total(reliability.WALL_GPU_SECONDS_GAINED, _TRAINED), total(reliability.WALL_GPU_SECONDS_GAINED)),
        ),
        kept(
            reliability.UPTIME,
            share(total(reliability.WALL_SECONDS_GAINED, _TRAINED), total(reliability.WALL_SECONDS_GAINED, states)),
        ),
    )

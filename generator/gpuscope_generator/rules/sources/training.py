"""Our collector: training jobs, what interrupts them, and how they come back."""

from __future__ import annotations

from gpuscope.catalogue import training as raw
from gpuscope.catalogue.metric import Metric
from gpuscope_generator.normalized import training
from gpuscope_generator.promql import (
    Counter,
    Gauge,
    Histogram,
    Matcher,
    Series,
    Vector,
    as_counter,
    as_gauge,
    as_histogram,
    as_info,
    label_join,
    label_replace,
    max_by,
    now,
    rate,
    resampled,
    select,
    sum_by,
)
from gpuscope_generator.promql.joins import one_of
from gpuscope_generator.rules.model import Group, Recording, RuleFile, recording
from gpuscope_generator.rules.sources.canonical import clustered, of_object, of_source
from gpuscope_generator.rules.sources.collector import SOURCE
from gpuscope_generator.settings import Settings

__all__ = ["STATES", "of_jobs", "training_rules"]

STATES = raw.STATES
"""In the order of their numbers."""


def of_jobs(inner: Vector, settings: Settings) -> Vector:
    """Gives what the collector tells of jobs its cluster, and the namespace of the job.

    Jobs of Slurm have none; the one that stands there then is of the collector's own pod.
    """
    named = of_object(inner, settings, "namespace", "job_id")
    return label_replace(named, "namespace", "", "scheduler", "slurm")


def training_rules(settings: Settings) -> RuleFile:
    """Rules of all that the collector tells of jobs."""
    return RuleFile(
        path="recording/training.yaml",
        comment="From the gpuscope collector to training jobs, interruptions and recoveries. Where it follows a "
        "scheduler, adapters of other sources for that scheduler are silent.",
        groups=(
            Group("gpuscope-normalize-training", settings.intervals.normalize, _counters(settings)),
            Group("gpuscope-normalize-training-jobs", settings.intervals.normalize, _jobs(settings)),
        ),
    )


def _counters(settings: Settings) -> tuple[Recording, ...]:
    def counted(target: Counter, metric: Metric, **fixed: str) -> Recording:
        found = of_jobs(of_source(as_counter(metric), settings, SOURCE), settings)
        given = {"source": SOURCE, "workload": "", **fixed}
        own = {"instance", "cluster", *metric.labels}
        empty = {label: "" for label in target.labels if label not in own and label not in given}
        kept = [label for label in target.labels if label in own and label not in fixed]
        return recording(target, max_by(found, *kept), **(empty | given))

    def observed(target: Counter, part: Counter) -> Recording:
        found = clustered(of_source(part, settings, SOURCE), settings)
        return recording(target, max_by(found, *(label for label in target.labels if label != "source")), source=SOURCE)

    phase: Histogram = as_histogram(raw.PHASE_SECONDS)
    recovery: Histogram = as_histogram(raw.RECOVERY_SECONDS)
    return (
        counted(training.JOBS_CREATED, raw.JOBS_CREATED),
        counted(training.JOBS_ENDED, raw.JOBS_ENDED),
        counted(training.JOBS_ENDED, raw.FORGOTTEN, outcome="forgotten"),
        counted(training.RESTARTS, raw.RESTARTS),
        counted(training.FAULTS, raw.FAULTS),
        counted(training.INTERRUPTIONS, raw.INTERRUPTIONS),
        counted(training.GPU_SECONDS, raw.STATE_GPU_SECONDS),
        observed(training.PHASE_BUCKETS, phase.buckets),
        observed(training.PHASE_SUM, phase.sums),
        observed(training.PHASE_COUNT, phase.counts),
        observed(training.RECOVERY_BUCKETS, recovery.buckets),
        observed(training.RECOVERY_SUM, recovery.sums),
        observed(training.RECOVERY_COUNT, recovery.counts),
    )


def _jobs(settings: Settings) -> tuple[Recording, ...]:
    def read(series: Series, *conditions: Matcher) -> Vector:
        return of_jobs(of_source(series, settings, SOURCE, *conditions), settings)

    def level(target: Gauge, metric: Metric) -> Recording:
        return recording(target, max_by(read(as_gauge(metric)), *target.labels))

    # The id of a job where Slurm has it, else the workload: `slurm;17;llama`, `kubernetes;;llama`.
    words = label_join(read(as_info(raw.JOB_INFO)), "held_by", ";", "scheduler", "job_id", "workload")
    of_slurm = label_replace(words, "held_by", "$1", "held_by", "slurm;([^;]*);.*")
    held = label_replace(of_slurm, "held_by", "$1", "held_by", "[^;]*;[^;]*;(.*)")
    states = read(as_gauge(raw.STATE)).compare("==", 1)
    numbers = [
        max_by(read(as_gauge(raw.STATE), Matcher("state", "=", state)).compare("==", 1), *training.JOB) * index
        for index, state in enumerate(STATES)
    ]
    code = numbers[0]
    for other in numbers[1:]:
        code = code.or_(other, on=training.JOB)
    held_gpus = rate(of_source(as_counter(raw.STATE_GPU_SECONDS), settings, SOURCE), "5m")
    return (
        recording(training.JOB_INFO, one_of(max_by(held, *training.JOB_INFO.labels), *training.JOB)),
        recording(training.JOB_STATE, max_by(states, *training.JOB_STATE.labels)),
        recording(training.JOB_STATE_CODE, code),
        recording(
            training.JOB_STATE_SECONDS,
            max_by(read(as_counter(raw.STATE_SECONDS)), *training.JOB_STATE_SECONDS.labels),
        ),
        level(training.JOB_GPUS, raw.GPUS),
        level(training.JOB_PROGRESS, raw.PROGRESS),
        level(training.JOB_REMAINING, raw.REMAINING),
        level(training.JOB_STEP, raw.STEP),
        level(training.JOB_CHECKPOINT_TIME, raw.CHECKPOINT_TIME),
        level(training.JOB_PROGRESS_TIME, raw.PROGRESS_TIME),
        recording(training.JOB_CLOCK_AHEAD, _clock_ahead()),
        level(training.JOB_END_TIME, raw.JOB_ENDED),
        recording(training.JOB_RESTARTS, max_by(read(as_counter(raw.JOB_RESTARTS)), *training.JOB_RESTARTS.labels)),
        level(training.JOBS, raw.JOBS),
        recording(training.GPUS, sum_by(of_jobs(held_gpus, settings), *training.GPUS.labels)),
    )


def _clock_ahead() -> Vector:
    ahead = max_by(select(training.JOB_PROGRESS_TIME), *training.JOB) - now()
    return resampled("max_over_time", ahead, "6h", "1m").compare(">", 0)

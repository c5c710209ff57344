"""HyperPod's training operator: jobs by name, restarts by reason, and numbers of the last day."""

from __future__ import annotations

from collections.abc import Iterable

from gpuscope_generator.external import operators
from gpuscope_generator.normalized import reliability, training
from gpuscope_generator.promql import (
    Counter,
    Gauge,
    Histogram,
    Matcher,
    Series,
    Vector,
    first_of,
    label_replace,
    max_by,
    ratio,
    sum_by,
    with_zero,
)
from gpuscope_generator.rules.model import Group, Recording, RuleFile, recording
from gpuscope_generator.rules.sources.adapting import Adapter
from gpuscope_generator.settings import Settings

__all__ = ["hyperpod_training_rules"]

_KEYS = ("cluster", "instance", "namespace", "workload")
_DAY = {"window": "1d"}
_INFRASTRUCTURE = "(?i).*(instance|node|gpu|hardware).*"


def hyperpod_training_rules(settings: Settings) -> RuleFile:
    """Rules of HyperPod's operator. Its numbers of a day join our windows of a day where nothing better is there."""
    adapter = Adapter(settings, "hyperpod")
    return RuleFile(
        path="recording/hyperpod-training.yaml",
        comment="From HyperPod's training operator to training jobs, restarts by reason, and latencies. Its counts, "
        "downtimes and uptime of the last day are gauges, and stand for the window of a day only.",
        groups=(
            Group("gpuscope-normalize-hyperpod-training", settings.intervals.normalize, _events(adapter)),
            Group("gpuscope-normalize-hyperpod-training-day", settings.intervals.slow, _of_day(adapter)),
        ),
    )


def _events(adapter: Adapter) -> tuple[Recording, ...]:
    def read(series: Series, *more: str, conditions: tuple[Matcher, ...] = ()) -> Vector:
        named = label_replace(adapter.read(series, *conditions), "workload", "$1", "jobName", "(.*)")
        return max_by(named, *_KEYS, *more)

    def interruptions(domain: str, operator: str) -> Recording:
        found = read(operators.HYPERPOD_RESTARTED, "reason", conditions=(Matcher("reason", operator, _INFRASTRUCTURE),))
        return adapter.counted(training.INTERRUPTIONS, with_zero(sum_by(found, *_KEYS), created), domain=domain)

    def latency(parts: tuple[Counter, Counter, Counter], family: Histogram, **fixed: str) -> list[Recording]:
        keys = ("cluster", "instance")
        fixed = {"source": "hyperpod", "scheduler": "kubernetes", "domain": "unknown"} | fixed
        buckets, sums, counts = parts
        return [
            recording(buckets, sum_by(read(family.buckets, "le"), *keys, "le"), **fixed),
            recording(sums, sum_by(read(family.sums), *keys), **fixed),
            recording(counts, sum_by(read(family.counts), *keys), **fixed),
        ]

    created = read(operators.HYPERPOD_CREATED)
    reasons = label_replace(read(operators.HYPERPOD_RESTARTED, "reason"), "fault_type", "$1", "reason", "(.*)")
    domains = label_replace(reasons, "domain", "unknown", "reason", ".*")
    faults = label_replace(domains, "domain", "infrastructure", "reason", _INFRASTRUCTURE)
    return (
        adapter.counted(training.JOBS_CREATED, created),
        *(
            adapter.counted(training.JOBS_ENDED, with_zero(read(series), created), outcome=outcome)
            for outcome, series in operators.HYPERPOD_ENDED.items()
        ),
        adapter.counted(training.RESTARTS, reasons, trigger="unknown"),
        adapter.counted(training.FAULTS, faults, scope="unknown"),
        interruptions("infrastructure", "=~"),
        interruptions("unknown", "!~"),
        *latency(
            (training.PHASE_BUCKETS, training.PHASE_SUM, training.PHASE_COUNT),
            operators.HYPERPOD_DETECTION,
            phase="detection",
        ),
        *latency(
            (training.RECOVERY_BUCKETS, training.RECOVERY_SUM, training.RECOVERY_COUNT),
            operators.HYPERPOD_RESTART_LATENCY,
            until="running",
        ),
    )


def _of_day(adapter: Adapter) -> tuple[Recording, ...]:
    def read(series: Gauge) -> Vector:
        return max_by(adapter.read(series, scheduler=""), "cluster", "job_name")

    def either(names: Iterable[Gauge]) -> Vector:
        return sum_by(first_of(*(read(series) for series in names)), "cluster")

    trained = read(operators.HYPERPOD_TRAINING_MS)
    # Uptimes of jobs are not averaged: the time behind each is summed, and divided once.
    passed = ratio(trained * 100, read(operators.HYPERPOD_UPTIME))
    restarts = [
        recording(reliability.RESTARTS, either(names), trigger=trigger, **_DAY)
        for trigger, names in operators.HYPERPOD_RESTARTS_OF_DAY.items()
    ]
    downtimes = [
        recording(reliability.DOWNTIME, either(names) / 1000, kind=trigger, **_DAY)
        for trigger, names in operators.HYPERPOD_DOWNTIME.items()
    ]
    uptime = ratio(sum_by(trained, "cluster"), sum_by(passed, "cluster"))
    return (recording(reliability.UPTIME, uptime, **_DAY), *restarts, *downtimes)

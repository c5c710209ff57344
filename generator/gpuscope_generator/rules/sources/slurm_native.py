"""Slurm's own metrics: jobs and GPUs of partitions. Where our collector follows Slurm, it tells of the jobs instead."""

from __future__ import annotations

from gpuscope.catalogue import training
from gpuscope_generator.external import slurm
from gpuscope_generator.normalized import queue
from gpuscope_generator.promql import Gauge, Matcher, Vector, as_gauge, label_replace, max_by, sum_by
from gpuscope_generator.rules.model import Group, Recording, RuleFile, recording
from gpuscope_generator.rules.sources.adapting import followed
from gpuscope_generator.rules.sources.canonical import clustered, of_source
from gpuscope_generator.rules.sources.training import of_jobs
from gpuscope_generator.settings import Settings

__all__ = ["partition_facts", "partition_samples", "slurm_native_rules"]

SOURCE = "slurm"
_WAITS = "queued"


def partition_samples(series: Gauge, settings: Settings, *conditions: Matcher) -> Vector:
    """Samples of partitions as queues, where our collector does not follow Slurm."""
    return partition_facts(series, settings, *conditions).unless(followed(settings, "slurm"), on=("cluster",))


def partition_facts(series: Gauge, settings: Settings, *conditions: Matcher) -> Vector:
    """The same wherever it is told: of quotas, and of why jobs wait, the collector says nothing."""
    found = clustered(of_source(series, settings, SOURCE, *conditions), settings)
    if "partition" in series.labels:
        found = label_replace(found, "queue", "$1", "partition", "(.*)")
    else:
        found = label_replace(found, "queue", "", "", "")
    return max_by(found, "cluster", "queue")


def slurm_native_rules(settings: Settings) -> RuleFile:
    """Rules of ``/metrics/partitions``, and of the collector's jobs by partition."""

    def read(series: Gauge) -> Vector:
        return partition_samples(series, settings)

    # Without slurmdbd all numbers of GPUs are 0, which is not known to be so.
    counted = partition_facts(slurm.PARTITION_GPUS, settings).compare(">", 0)
    return RuleFile(
        path="recording/slurm-native.yaml",
        comment="From Slurm's own metrics (25.11 and newer) to partitions as queues. They are gauges of the jobs that "
        "slurmctld remembers, so that nothing is counted from them over time.",
        groups=(
            Group(
                "gpuscope-normalize-slurm-native",
                settings.intervals.normalize,
                (
                    *_of_collector(settings),
                    recording(queue.WORKLOADS, read(slurm.PARTITION_PENDING), source=SOURCE, state="pending"),
                    recording(queue.WORKLOADS, read(slurm.PARTITION_RUNNING), source=SOURCE, state="running"),
                    *(
                        recording(queue.PENDING, partition_facts(series, settings), source=SOURCE, reason=reason)
                        for reason, series in slurm.PARTITION_WAITING.items()
                    ),
                    recording(queue.QUOTA, counted, source=SOURCE, resource="gpu", state="nominal"),
                    recording(
                        queue.QUOTA,
                        partition_facts(slurm.PARTITION_GPUS_HELD, settings).and_(counted),
                        source=SOURCE,
                        resource="gpu",
                        state="used",
                    ),
                ),
            ),
        ),
    )


def _of_collector(settings: Settings) -> tuple[Recording, ...]:
    def jobs(state: Matcher) -> Vector:
        chosen = (Matcher("scheduler", "=", "slurm"), state)
        found = of_jobs(of_source(as_gauge(training.JOBS), settings, "collector", *chosen), settings)
        return sum_by(max_by(found, "cluster", "namespace", "team", "queue", "state"), "cluster", "queue")

    waiting, running = Matcher("state", "=", _WAITS), Matcher("state", "!=", _WAITS)
    return (
        recording(queue.WORKLOADS, jobs(waiting), source="collector", state="pending"),
        recording(queue.WORKLOADS, jobs(running), source="collector", state="running"),
    )

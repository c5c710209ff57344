"""Exporters of Slurm: Slinky, rivosinc, soperator, and vpenso with its descendants. The first that is there counts."""

from __future__ import annotations

from functools import reduce

from gpuscope_generator.external import slurm
from gpuscope_generator.normalized import queue
from gpuscope_generator.promql import Gauge, Matcher, Vector, count_by, label_replace, max_by
from gpuscope_generator.rules.model import Group, Recording, RuleFile, recording
from gpuscope_generator.rules.sources.canonical import clustered, of_source
from gpuscope_generator.rules.sources.slurm_native import SOURCE, partition_facts, partition_samples
from gpuscope_generator.settings import Settings

__all__ = ["slurm_exporter_rules"]


def slurm_exporter_rules(settings: Settings) -> RuleFile:
    """Rules of exporters, in the order in which they are believed; each is silent where a better one is."""

    def read(series: Gauge, *conditions: Matcher) -> Vector:
        return partition_samples(series, settings, *conditions)

    def unless(found: Vector, better: list[Gauge]) -> Vector:
        there = [clustered(of_source(series, settings, SOURCE), settings) for series in better]
        return reduce(lambda left, right: left.unless(right, on=("cluster",)), there, found)

    native, slinky, rivosinc = slurm.PARTITION_PENDING, slurm.SLINKY_PENDING, slurm.RIVOSINC_JOBS

    def jobs(source: str, pending: Vector, running: Vector, better: list[Gauge]) -> tuple[Recording, ...]:
        return (
            recording(queue.WORKLOADS, unless(pending, better), source=source, state="pending"),
            recording(queue.WORKLOADS, unless(running, better), source=source, state="running"),
        )

    def of_state(state: str) -> Vector:
        return read(rivosinc, Matcher("state", "=", state))

    gpus = partition_facts(slurm.VPENSO_GPUS["nominal"], settings).compare(">", 0)
    held = partition_facts(slurm.VPENSO_GPUS["used"], settings).and_(gpus)
    return RuleFile(
        path="recording/slurm-exporters.yaml",
        comment="From exporters of Slurm to partitions as queues. Several of their gauges are called _total; none of "
        "them is read as a counter.",
        groups=(
            Group(
                "gpuscope-normalize-slurm-exporters",
                settings.intervals.normalize,
                (
                    *jobs("slurm-slinky", read(slinky), read(slurm.SLINKY_RUNNING), [native]),
                    *jobs("slurm-rivosinc", of_state("PENDING"), of_state("RUNNING"), [native, slinky]),
                    *jobs(
                        "slurm-vpenso",
                        read(slurm.VPENSO_PENDING),
                        read(slurm.VPENSO_RUNNING),
                        [native, slinky, rivosinc],
                    ),
                    *(
                        recording(
                            queue.PENDING,
                            unless(partition_facts(series, settings), [native]),
                            source="slurm-vpenso",
                            reason=reason,
                        )
                        for reason, series in slurm.VPENSO_WAITING.items()
                    ),
                    recording(queue.PENDING, _of_soperator(settings), source="slurm-soperator"),
                    *(
                        recording(
                            queue.QUOTA,
                            unless(found, [native, slinky]),
                            source="slurm-vpenso",
                            resource="gpu",
                            state=state,
                        )
                        for state, found in (("nominal", gpus), ("used", held))
                    ),
                ),
            ),
        ),
    )


def _of_soperator(settings: Settings) -> Vector:
    """Jobs that wait by Slurm's own reason, in lower case with underscores as the others have it."""
    waiting = of_source(slurm.SOPERATOR_JOBS, settings, SOURCE, Matcher("job_state", "=", "PENDING"))
    found = max_by(clustered(waiting, settings), "cluster", "job_id", "slurm_partition", "job_state_reason")
    named = label_replace(found, "queue", "$1", "slurm_partition", "(.*)")
    reasons = label_replace(named, "reason", "$1", "job_state_reason", "(.*)")
    return count_by(reasons, "cluster", "queue", "reason")

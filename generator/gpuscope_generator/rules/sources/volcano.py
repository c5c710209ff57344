"""Volcano: pod groups of its queues, and the GPUs that these deserve and hold."""

from __future__ import annotations

from gpuscope_generator.external import queues
from gpuscope_generator.normalized import queue
from gpuscope_generator.promql import Matcher, Series, Vector, label_replace, max_by
from gpuscope_generator.rules.model import Group, RuleFile, recording
from gpuscope_generator.rules.sources.canonical import clustered, of_source
from gpuscope_generator.settings import Settings

__all__ = ["volcano_rules"]

SOURCE = "volcano"
_GPUS = Matcher("resource", "=~", ".*(gpu|mig-).*")
_WAITING = {"pending": "waits_for_quota", "inqueue": "waits_for_nodes"}


def volcano_rules(settings: Settings) -> RuleFile:
    """Rules of Volcano's scheduler."""

    def read(series: Series, *more: str, conditions: tuple[Matcher, ...] = ()) -> Vector:
        found = clustered(of_source(series, settings, SOURCE, *conditions), settings)
        return max_by(label_replace(found, "queue", "$1", "queue_name", "(.*)"), "cluster", "queue", *more)

    groups = {phase: read(series) for phase, series in queues.VOLCANO_GROUPS.items()}
    pending = groups["pending"] + groups["inqueue"]
    return RuleFile(
        path="recording/volcano.yaml",
        comment="From Volcano to queues: what waits, what runs, and the GPUs of each queue, which Volcano tells in "
        "thousandths.",
        groups=(
            Group(
                "gpuscope-normalize-volcano",
                settings.intervals.normalize,
                (
                    recording(queue.WORKLOADS, pending, source=SOURCE, state="pending"),
                    recording(queue.WORKLOADS, groups["running"], source=SOURCE, state="running"),
                    *(
                        recording(queue.PENDING, groups[phase], source=SOURCE, reason=reason)
                        for phase, reason in _WAITING.items()
                    ),
                    *(
                        recording(
                            queue.QUOTA,
                            read(series, "resource", conditions=(_GPUS,)) / 1000,
                            source=SOURCE,
                            state=state,
                        )
                        for state, series in queues.VOLCANO_QUOTA.items()
                    ),
                ),
            ),
        ),
    )

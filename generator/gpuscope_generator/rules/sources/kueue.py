"""Kueue: ClusterQueues, how long work waits in them, and what is put out again."""

from __future__ import annotations

from gpuscope_generator.external import queues
from gpuscope_generator.normalized import queue
from gpuscope_generator.promql import Matcher, Series, Vector, label_replace, max_by, sum_by
from gpuscope_generator.rules.model import Group, Recording, RuleFile, recording
from gpuscope_generator.rules.sources.canonical import clustered, of_source
from gpuscope_generator.settings import Settings

__all__ = ["kueue_rules"]

SOURCE = "kueue"
_LEADER = Matcher("replica_role", "!=", "follower")
_WAITING = {"active": "waits_for_quota", "inadmissible": "cannot_be_admitted"}


def kueue_rules(settings: Settings) -> RuleFile:
    """Rules of Kueue's leader: its followers tell the same."""

    def read(series: Series, *more: str, queue_from: str = "cluster_queue") -> Vector:
        found = clustered(of_source(series, settings, SOURCE, _LEADER), settings)
        return max_by(label_replace(found, "queue", "$1", queue_from, "(.*)"), "cluster", "queue", *more)

    def waits(until: str) -> Recording:
        buckets = read(queues.KUEUE_WAITS[until].buckets, "instance", "priority_class", "le")
        return recording(
            queue.WAIT_BUCKETS, sum_by(buckets, "cluster", "queue", "instance", "le"), source=SOURCE, until=until
        )

    status = read(queues.KUEUE_PENDING, "status")
    reasons = status
    for word, reason in _WAITING.items():
        reasons = label_replace(reasons, "reason", reason, "status", word)
    quota = [
        recording(
            queue.QUOTA,
            sum_by(read(series, "flavor", "resource"), "cluster", "queue", "resource"),
            source=SOURCE,
            state=state,
        )
        for state, series in queues.KUEUE_QUOTA.items()
    ]
    evicted = label_replace(
        read(queues.KUEUE_EVICTED, "instance", "priority_class", "reason", "underlying_cause"),
        "cause",
        "$1",
        "underlying_cause",
        "(.*)",
    )
    preempted = read(queues.KUEUE_PREEMPTED, "instance", "reason", queue_from="preempting_cluster_queue")
    admitted = read(queues.KUEUE_ADMITTED, "instance", "priority_class")
    return RuleFile(
        path="recording/kueue.yaml",
        comment="From Kueue to queues: what waits and why, for how long, what was put out, and the quota.",
        groups=(
            Group(
                "gpuscope-normalize-kueue",
                settings.intervals.normalize,
                (
                    recording(queue.WORKLOADS, sum_by(status, "cluster", "queue"), source=SOURCE, state="pending"),
                    recording(queue.WORKLOADS, read(queues.KUEUE_ADMITTED_ACTIVE), source=SOURCE, state="running"),
                    recording(queue.PENDING, sum_by(reasons, "cluster", "queue", "reason"), source=SOURCE),
                    waits("admitted"),
                    waits("ready"),
                    recording(queue.ADMITTED, sum_by(admitted, "cluster", "queue", "instance"), source=SOURCE),
                    recording(
                        queue.EVICTED,
                        sum_by(evicted, "cluster", "queue", "instance", "reason", "cause"),
                        source=SOURCE,
                    ),
                    recording(queue.PREEMPTED, preempted, source=SOURCE),
                    *quota,
                ),
            ),
        ),
    )

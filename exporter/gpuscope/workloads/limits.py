"""How many series the collector may have at most, and which of the jobs get theirs.

Anybody may submit a hundred thousand jobs, and a namespace for each of them. Every job is followed and counted; it has
series of its own while there is room, and an array that waits has one for all of its tasks.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from gpuscope.workloads.observation import JobState
from gpuscope.workloads.record import JobRecord
from gpuscope.workloads.store import Labels

__all__ = ["DEFAULT", "Limits", "Selection", "select", "waits_in_array"]


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits.

    Attributes:
        jobs: so many jobs have series of their own, each up to about 25.
        owners: so many owners (namespace, team, queue and kind of workload) have counters of their own, each about 30.
    """

    jobs: int = 5000
    owners: int = 1000


DEFAULT = Limits()


class Selection(NamedTuple):
    """Which jobs have series of their own.

    Attributes:
        own: those that do.
        arrays: labels of an array (scheduler, namespace, workload, job id) -> its tasks that have not begun.
        left_out: how many jobs have none for want of room.
    """

    own: list[JobRecord]
    arrays: Counter[Labels]
    left_out: int


def waits_in_array(record: JobRecord) -> bool:
    """Whether it is a task of an array that never began: there may be thousands of them, each like the others."""
    return (
        record.facts.kind == "array_task"
        and record.outcome is None
        and record.state in (JobState.QUEUED, JobState.SUSPENDED)
        and not (record.holds or record.closed or record.opened)
    )


def select(records: Iterable[JobRecord], limit: int) -> Selection:
    """Chooses the jobs that get series: those that hold GPUs, then those that live, then those that ended last.

    Args:
        records: all of them.
        limit: so many at most; a job that has series keeps them while others of its kind come.
    """
    arrays: Counter[Labels] = Counter()
    found: list[JobRecord] = []
    for record in records:
        if waits_in_array(record):
            key = record.key
            arrays[key.scheduler, key.namespace, record.facts.name, key.uid.rpartition("_")[0]] += record.facts.tasks
        else:
            found.append(record)
    if len(found) <= limit:
        return Selection(found, arrays, 0)
    found.sort(key=_rank)
    return Selection(found[:limit], arrays, len(found) - limit)


def _rank(record: JobRecord) -> tuple[int, float]:
    if record.outcome is not None:
        return 2, -(record.ended or 0.0)
    return (0 if record.holds else 1), record.created

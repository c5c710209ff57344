"""Arrays: one record of slurmctld stands for all tasks that wait; here each is a job, unless they are too many."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

from gpuscope.workloads.slurm.problems import Problems
from gpuscope.workloads.slurm.row import JobRow

__all__ = ["MAX_WAITING_TASKS", "Arrays", "Tasks", "tasks_of"]

MAX_WAITING_TASKS = 1000
"""An array of which more tasks wait is told as the first of them, which stands for all."""

_MOST = 10_000_000
_TASKS = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9})(?::([1-9][0-9]{0,8}))?)?")


class Tasks(NamedTuple):
    """Tasks of an array that wait.

    Attributes:
        first: their indexes, up to a limit.
        total: how many there are, at most ten million.
        readable: whether all of the text was understood.
    """

    first: list[int]
    total: int
    readable: bool


class Arrays:
    """Takes arrays apart, and remembers which were too long for that.

    Attributes:
        long: numbers of arrays that were told as one at the last look; they stay so until none of their tasks waits.
    """

    def __init__(self) -> None:
        self.long: frozenset[int] = frozenset()

    def apart(self, rows: Iterable[JobRow], problems: Problems) -> list[JobRow]:
        """Rows of which each is of one job, or of the first of many tasks of one array.

        Args:
            rows: records of slurmctld.
            problems: gets ``array_too_long``, which is no fault of anybody, and ``malformed_job``.
        """
        long: set[int] = set()
        told = [one for row in rows for one in self._of(row, long, problems)]
        self.long = frozenset(long)
        return told

    def _of(self, row: JobRow, long: set[int], problems: Problems) -> Iterator[JobRow]:
        if not row.array_tasks:
            yield row
            return
        array = row.array_job or row.job_id
        tasks = tasks_of(row.array_tasks)
        if not tasks.readable:
            problems.add("malformed_job", f"{array}_[{row.array_tasks}]")
        if array in self.long or tasks.total > MAX_WAITING_TASKS:
            long.add(array)
            problems.add("array_too_long", f"{array}_[{row.array_tasks}]")
            del tasks.first[1:]
        for task in tasks.first:
            stands_for = tasks.total if array in long else 1
            yield replace(row, array_job=array, array_task=task, array_tasks="", tasks=stands_for)


def tasks_of(text: str, limit: int = MAX_WAITING_TASKS) -> Tasks:
    """Tasks that wait, from ``1,4-8:2%3``.

    Args:
        text: as Slurm writes them.
        limit: so many indexes are told.
    """
    first: list[int] = []
    count = 0
    for part in text.partition("%")[0].split(","):
        match = _TASKS.fullmatch(part)
        if match is None:
            return Tasks(first, count, False)
        tasks = range(int(match[1]), int(match[2] or match[1]) + 1, int(match[3] or 1))
        first += tasks[: max(0, limit - len(first))]
        count = min(count + len(tasks), _MOST)
    return Tasks(first, count, True)

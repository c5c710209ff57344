"""Which job a number means: Slurm begins anew with its numbers after 67 million, and when its state was lost.

A job is its number and the second of its submission. slurmctld overwrites that second at each requeue, and nobody may
know of the attempts before: so a job keeps the submission by which it was first known, through a restart as well.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from gpuscope.workloads.observation import JobKey

__all__ = ["Identities", "KnownNumber"]

_HOUR_S = 3600
"""The completion log tells local time, which is put back by an hour once a year: such a time may be off by as much."""

_KEEP_S = 25 * 3600.0
"""So long a number is remembered after its job was last alive; the book forgets it after a day."""


class KnownNumber(NamedTuple):
    """The last job that had a number.

    Attributes:
        submitted: unix time of the submission by which it is known.
        seen_at: unix time at which it was last alive.
        restarts: how often it had been restarted then.
    """

    submitted: int
    seen_at: float
    restarts: int = 0


class Identities:
    """Tells jobs with the same number apart.

    Args:
        known: number as in a job's key -> what was known before the collector restarted.
    """

    def __init__(self, known: Mapping[str, KnownNumber]) -> None:
        self._known = dict(known)

    def submission(
        self, uid: str, submissions: Sequence[int], restarts: int, alive_at: float, *, whole: bool, apart_s: int = 0
    ) -> int:
        """The submission by which the job with this number is known.

        Args:
            uid: its number.
            submissions: unix times of the submissions that are on record, the earliest first; one of each attempt.
            restarts: how often it was restarted.
            alive_at: unix time of its end, or of this look while it lives.
            whole: whether the earliest of these is the first of all.
            apart_s: so far apart may the components of one job be submitted.
        """
        known = self._known.get(uid)
        if known is not None and _same(known, submissions, restarts, whole, apart_s):
            submitted = known.submitted
            alive_at, restarts = max(alive_at, known.seen_at), max(restarts, known.restarts)
        else:
            submitted = submissions[0]
        self._known[uid] = KnownNumber(submitted, alive_at, restarts)
        return submitted

    def of_arrays(self, arrays: Collection[int], told: Collection[str]) -> frozenset[JobKey]:
        """Jobs that are tasks of these arrays and are not among those that are told."""
        if not arrays:
            return frozenset()
        numbers = {str(array) for array in arrays}
        return frozenset(
            JobKey("slurm", "", uid, known.submitted)
            for uid, known in self._known.items()
            if "_" in uid and uid not in told and uid.partition("_")[0] in numbers
        )

    def of_numbers(self, numbers: Collection[str]) -> frozenset[JobKey]:
        """Jobs that have these numbers, as far as they are known."""
        return frozenset(JobKey("slurm", "", uid, self._known[uid].submitted) for uid in numbers if uid in self._known)

    def forget(self, now: float) -> None:
        """Forgets numbers that were last alive more than a day ago."""
        for uid in [uid for uid, known in self._known.items() if now - known.seen_at > _KEEP_S]:
            del self._known[uid]


def _same(known: KnownNumber, submissions: Sequence[int], restarts: int, whole: bool, apart_s: int) -> bool:
    for one in submissions:
        apart = abs(one - known.submitted)
        if apart <= apart_s or apart == _HOUR_S:
            return True
    # Where earlier attempts are not on record: it lived already when that one was last seen, or goes on from there.
    return not whole and (submissions[0] <= known.seen_at or restarts > known.restarts)

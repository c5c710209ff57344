"""What is remembered from before the collector's own clock was set back, brought to its present time."""

from collections.abc import Iterable
from dataclasses import replace

from gpuscope.workloads.observation import Attempt
from gpuscope.workloads.record import JobRecord

__all__ = ["rebase"]


def rebase(records: Iterable[JobRecord], back_s: float, now: float) -> None:
    """Takes back what a clock was ahead, from every time of the records that is not over yet.

    The last look is taken for one of this moment: how long it is ago nobody can know then, so that nothing is counted
    for the time in between.

    Args:
        records: jobs of one scheduler.
        back_s: seconds by which the last look is in the future.
        now: unix time.
    """

    def past(moment: float | None) -> float | None:
        return moment if moment is None or moment <= now else min(moment - back_s, now)

    for record in records:
        record.seen_at = min(record.seen_at - back_s, now)
        record.created = min(record.created, now)
        record.since, record.ended, record.still_since = (
            past(record.since),
            past(record.ended),
            past(record.still_since),
        )
        for episode in record.episodes:
            one = episode.attempt
            if any(moment is not None and moment > now for moment in _times(one)):
                started, running, ended = map(past, _times(one))
                episode.attempt = replace(one, started=started, running=running, ended=ended)


def _times(one: Attempt) -> tuple[float | None, float | None, float | None]:
    return one.started, one.running, one.ended

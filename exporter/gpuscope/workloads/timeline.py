"""What a job did between two looks, by the times that its scheduler tells: exact where it tells them to the second."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from gpuscope.workloads.observation import Attempt, JobState, ObservedJob
from gpuscope.workloads.record import JobRecord

__all__ = ["MAX_GAP_S", "Span", "spans"]

MAX_GAP_S = 300.0
"""What happened in a longer time between two looks is not known but for the times of the attempts."""

_WAITS = frozenset({JobState.QUEUED, JobState.SCHEDULING, JobState.SUSPENDED, JobState.RECOVERING})
"""States in which a job waits for an attempt, or for the next one."""

_BEGINS = frozenset({JobState.PULLING, JobState.INITIALIZING})


class Span(NamedTuple):
    """A part of the time between two looks.

    Attributes:
        state: what the job did.
        seconds: for how long.
        held: whether an attempt held its GPUs.
    """

    state: JobState
    seconds: float
    held: bool


def spans(record: JobRecord, job: ObservedJob, until: float, state: JobState) -> Iterator[Span]:
    """Divides the time since the last look.

    The state that was seen then goes on until an attempt begins, runs or ends. An attempt that began since is in the
    state of now, or, where it ended already, in the one that its times tell.

    Args:
        record: what was known at the last look, whose time is ``seen_at``.
        job: the job now.
        until: unix time of this look, or of the job's end.
        state: the job's state now.
    """
    began = record.seen_at
    attempts = sorted((one for one in job.attempts if one.started is not None), key=lambda one: one.number)
    if not attempts:
        if until > began:
            known = until - began <= MAX_GAP_S
            yield Span(record.state if known else JobState.UNKNOWN, until - began, record.holds)
        return
    cuts = {began, until}
    for one in attempts:
        cuts.update(at for at in (one.started, one.running, one.ended) if at is not None and began < at < until)
    for start, end in pairwise(sorted(cuts) if until > began else ()):
        holder = _holder(attempts, start, end)
        if until - began > MAX_GAP_S:
            spent = JobState.UNKNOWN
        elif holder is None:
            spent = _waiting(record, job, attempts, start, state)
        else:
            spent = _held(record, job, holder, start, state)
        yield Span(spent, end - start, holder is not None)


def _holder(attempts: Sequence[Attempt], start: float, end: float) -> Attempt | None:
    for one in reversed(attempts):
        if one.started is not None and one.started <= start and (one.ended is None or one.ended >= end):
            return one
    return None


def _held(record: JobRecord, job: ObservedJob, one: Attempt, start: float, state: JobState) -> JobState:
    runs = one.running is not None and one.running <= start
    if one.started is not None and one.started < record.seen_at and record.state not in _WAITS - {JobState.SUSPENDED}:
        if not runs or (one.running is not None and one.running <= record.seen_at):
            return record.state
        return state if one.ended is None else JobState.TRAINING
    if one.running is not None and not runs:
        return state if one.ended is None and state in _BEGINS else JobState.INITIALIZING
    if one.ended is None:
        return state
    # Slurm knows no more of an attempt than that it runs; without word of its ranks a pod may have waited for others.
    return JobState.TRAINING if runs or job.key.scheduler == "slurm" else JobState.UNKNOWN


def _waiting(
    record: JobRecord, job: ObservedJob, attempts: Sequence[Attempt], start: float, state: JobState
) -> JobState:
    over = [one.ended for one in attempts if one.ended is not None and one.ended <= start]
    if record.state in _WAITS and (not over or max(over) <= record.seen_at):
        return record.state
    if over:
        goes_on = any(one.started is not None and one.started > start for one in attempts)
        return JobState.RECOVERING if goes_on or state not in _WAITS else state
    if job.key.scheduler == "slurm":
        return JobState.QUEUED
    return JobState.UNKNOWN if job.facts.queue else JobState.SCHEDULING

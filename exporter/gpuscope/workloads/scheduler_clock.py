"""Clocks of a scheduler and of the collector: how far they are apart, and times brought from one to the other."""

import threading
import time
from collections.abc import Callable
from dataclasses import replace

from gpuscope.workloads.observation import Attempt, Observation, ObservedJob, Progress

__all__ = ["SKEW_S", "SchedulerClock", "on_our_clock"]

SKEW_S = 60.0
"""A scheduler's clock that is further off is worth a word: somebody should set one of the two."""

_SLACK_S = 1.0
_STEP_S = 1.0


class SchedulerClock:
    """Learns from answers how far a scheduler's clock is ahead of ours; safe to use from many threads.

    An answer that carries its time bounds that: it was made after it was asked for, and before it was here. What was
    learned stays as long as the bounds allow it, so that corrected times stand still.

    Args:
        wall: our clock, unix time.
        monotonic: seconds that no step of our clock changes; a step is known from it before the next answer.
    """

    def __init__(
        self, wall: Callable[[], float] = time.time, monotonic: Callable[[], float] = time.monotonic
    ) -> None:  # fmt: skip
        self._wall = wall
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._offset: float | None = None
        self._apart = wall() - monotonic()

    def now(self) -> float:
        """Unix time on our clock; taken before an answer is asked for."""
        return self._wall()

    def heard(self, told: float, asked: float, resolution_s: float = 1.0) -> None:
        """Takes the time of an answer that just came.

        Args:
            told: unix time by the scheduler, cut off to its resolution.
            asked: ``now`` before it was asked for.
            resolution_s: step of ``told`` in seconds.
        """
        low, high = told - self._wall(), told + resolution_s - asked
        if low > high:
            return  # our clock stepped meanwhile
        with self._lock:
            self._follow_steps()
            known = self._offset or 0.0
            if low - _SLACK_S <= 0.0 <= high + _SLACK_S:
                known = 0.0
            elif not low - _SLACK_S <= known <= high + _SLACK_S:
                known = (low + high) / 2
            self._offset = known

    @property
    def offset(self) -> float | None:
        """Seconds by which the scheduler's clock is ahead; 0 while nothing says so, ``None`` before any answer."""
        with self._lock:
            self._follow_steps()
            return self._offset

    def _follow_steps(self) -> None:
        apart = self._wall() - self._monotonic()
        if self._offset is not None and abs(apart - self._apart) > _STEP_S:
            self._offset -= apart - self._apart
            if abs(self._offset) <= _SLACK_S:
                self._offset = 0.0
        self._apart = apart


def on_our_clock(look: Observation) -> Observation:
    """The look with all times of the scheduler on the collector's clock."""
    offset = look.clock_offset
    if not offset:
        return look
    return replace(
        look,
        jobs=tuple(_job(job, offset) for job in look.jobs),
        nodes=tuple(replace(node, since=_back(node.since, offset)) for node in look.nodes),
    )


def _job(job: ObservedJob, offset: float) -> ObservedJob:
    return replace(
        job,
        created=job.created - offset,
        ended=_back(job.ended, offset),
        since=_back(job.since, offset),
        attempts=tuple(_attempt(one, offset) for one in job.attempts),
        progress=None if job.progress is None else _progress(job.progress, offset),
    )


def _attempt(one: Attempt, offset: float) -> Attempt:
    return replace(
        one, started=_back(one.started, offset), running=_back(one.running, offset), ended=_back(one.ended, offset)
    )


def _progress(told: Progress, offset: float) -> Progress:
    return replace(told, at=told.at - offset, checkpoint_at=_back(told.checkpoint_at, offset))


def _back(moment: float | None, offset: float) -> float | None:
    return None if moment is None else moment - offset

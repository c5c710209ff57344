"""The thread that follows one scheduler: looks, hands the look to the book, and waits."""

import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Protocol

from gpuscope.collector.snapshot import SourceStatus
from gpuscope.errors import SourceError
from gpuscope.workloads.observation import NOT_YET, Observation
from gpuscope.workloads.plausible import plausible
from gpuscope.workloads.scheduler_clock import SKEW_S, on_our_clock

__all__ = ["Follower", "SchedulerSource"]

_FIRST_S = 2.0
"""So soon it looks again while the scheduler has not answered yet."""

log = logging.getLogger("gpuscope.collector")


class SchedulerSource(Protocol):
    """What a follower needs of a scheduler."""

    name: str

    def start(self) -> None:
        """Begins whatever it needs; returns at once."""

    def observe(self, now: float) -> Observation:
        """Everything that it says now.

        Raises:
            SourceError: it does not answer.
        """

    def interrupt(self) -> None:
        """Ends what it waits for, from another thread: it is not asked again, and what it tells is left out."""

    def stop(self) -> None:
        """Ends it, within two seconds."""


class Follower:
    """Follows one scheduler.

    Args:
        source: the scheduler.
        interval_s: time between two looks.
        take: takes each look.
        changed: called after each look, when ``status`` says how it went.

    Attributes:
        status: how it goes; replaced whole.
        problems: what could not be read or understood, by reason, over all looks.
    """

    def __init__(
        self, source: SchedulerSource, interval_s: float, take: Callable[[Observation], None],
        changed: Callable[[], None],
    ) -> None:  # fmt: skip
        self.status = SourceStatus(source.name)
        self.problems: dict[str, int] = {}
        self._source = source
        self._interval_s = interval_s
        self._take = take
        self._changed = changed
        self._silent, self._broken = self.status.reason, ""
        self._skewed = False
        self._told: frozenset[str] = frozenset()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"follow-{source.name}", daemon=True)

    def start(self) -> None:
        """Starts the thread."""
        self._thread.start()

    def stop(self, timeout_s: float) -> None:
        """Asks it to end, and waits a while."""
        self._stop.set()
        self._source.interrupt()
        if self._thread.ident is not None:
            self._thread.join(timeout_s)

    def look(self) -> None:
        """Looks once; a scheduler that does not answer is remembered with its reason."""
        began = time.monotonic()
        try:
            checked = plausible(on_our_clock(self._source.observe(time.time())))
        except SourceError as error:
            self._failed(str(error))
        else:
            if self._stop.is_set():
                return
            seen = checked.seen
            self._tell(checked.examples)
            for reason, count in seen.problems.items():
                self.problems[reason] = self.problems.get(reason, 0) + count
            self._compare(seen.clock_offset)
            self._take(seen)
            if seen.complete:
                if self._silent and self.status.answered is not None:
                    log.info("%s answers again", self._source.name)
                self._silent = ""
                self.status = replace(self.status, answered=seen.at, reason="")
            else:
                problems = ", ".join(sorted(seen.problems))
                self._failed(seen.reason or problems or self._silent or NOT_YET)
        self.status = replace(self.status, seconds=time.monotonic() - began)

    def _compare(self, offset: float | None) -> None:
        """A clock that is far off is told and counted once, until it is right again."""
        self.status = replace(self.status, clock_offset=offset)
        if offset is None or (abs(offset) > SKEW_S) == self._skewed:
            return
        self._skewed, name = not self._skewed, self._source.name
        if self._skewed:
            self.problems["clock_skew"] = self.problems.get("clock_skew", 0) + 1
            side = "ahead of" if offset > 0 else "behind"
            log.warning("%s: its clock is %.0f s %s the collector's; its times are corrected", name, abs(offset), side)
        else:
            log.info("%s: its clock and the collector's agree again", name)

    def _run(self) -> None:
        steps = [self._source.start, self.look, self._changed]
        while not self._stop.is_set():
            began = time.monotonic()
            broke = False
            for step in tuple(steps):
                try:
                    step()
                    if step == self._source.start:
                        del steps[0]
                except Exception as error:  # noqa: BLE001  # the boundary: the next look is tried whatever this one met
                    self._broke(error)
                    broke = True
            if not broke:
                self._broken = ""
            pause = self._interval_s if self.status.answered is not None else min(self._interval_s, _FIRST_S)
            self._stop.wait(max(0.1, pause - (time.monotonic() - began)))
        self._source.stop()

    def _tell(self, examples: Mapping[str, str]) -> None:
        """Logs what cannot be so, once however long it lasts."""
        for reason in sorted(examples.keys() - self._told):
            log.warning("%s: %s; first: %.160r", self._source.name, reason, examples[reason])
        self._told = frozenset(examples)

    def _broke(self, error: Exception) -> None:
        """An error of this program, and not of the scheduler; told once however often it comes."""
        reason = f"internal error: {type(error).__name__}"
        if reason != self._broken:
            log.error("%s: a look failed by an error of gpuscope itself", self._source.name, exc_info=error)
        self._broken = reason
        self.status = replace(self.status, reason=reason)

    def _failed(self, reason: str) -> None:
        if not reason.startswith(NOT_YET):
            if reason != self._silent:
                log.warning("%s does not answer: %s", self._source.name, reason)
            self._silent = reason
        self.status = replace(self.status, reason=reason)

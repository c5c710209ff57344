"""A time in which this collector leads: the book is open, and the schedulers are followed."""

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from gpuscope.collector.debut import HOLD_S, Debut
from gpuscope.collector.follower import Follower, SchedulerSource
from gpuscope.collector.publishing import exposition
from gpuscope.collector.rendering import Rendering
from gpuscope.collector.snapshot import SourceStatus
from gpuscope.errors import StateError
from gpuscope.sampling.exposition import Exposition
from gpuscope.workloads.agents import AgentFaults
from gpuscope.workloads.book import Book
from gpuscope.workloads.observation import JobKey, Observation
from gpuscope.workloads.record import JobRecord
from gpuscope.workloads.store import Store

__all__ = ["KnownJobs", "OpenSources", "Term"]

log = logging.getLogger("gpuscope.collector")

KnownJobs = Mapping[JobKey, JobRecord]
"""Job -> what the book knows of it."""

OpenSources = Callable[[KnownJobs], Sequence[SchedulerSource]]
"""Makes the schedulers, at the beginning of each term."""


class Term:
    """Order of use: ``start``, ``end``.

    Args:
        store: where the book is kept; closed by ``end``.
        open_book: reads the book from it.
        open_sources: makes the schedulers.
        agents: reads the faults of the nodes, ``None`` where nobody does; stopped by ``end``.
        interval_s: time between two looks.
        changed: called after each look, on the thread of its scheduler.
        counter_hold_s: so long new counters are shown as they were before.

    Attributes:
        unsaved: why the last look could not be written; empty while all is written.

    Raises:
        ConfigError: a scheduler cannot be followed; the store is closed.
    """

    def __init__(
        self, store: Store, open_book: Callable[[Store], Book], open_sources: OpenSources, interval_s: float,
        changed: Callable[[], None], agents: AgentFaults | None = None, counter_hold_s: float = HOLD_S,
    ) -> None:  # fmt: skip
        self._store = store
        self._agents = agents
        self._lock = threading.Lock()
        self._over = False
        self.unsaved = ""
        self._seen: dict[str, Observation] = {}
        self._debut = Debut(counter_hold_s)
        self._rendering = Rendering()
        try:
            self._book = open_book(store)
            self._debut.take_up(self._book.counters())
            self._followers = [Follower(one, interval_s, self._take, changed) for one in open_sources(self._book.jobs)]
        except BaseException:
            store.close()
            raise

    @property
    def sources(self) -> tuple[SourceStatus, ...]:
        """How each scheduler answers."""
        return tuple(one.status for one in self._followers)

    def start(self) -> None:
        """Starts following."""
        if self._agents is not None:
            self._agents.start(self._nodes)
        for follower in self._followers:
            follower.start()

    def end(self) -> None:
        """Ends everything; what could not be written before is tried once more."""
        with self._lock:
            self._over = True
        for follower in self._followers:
            follower.stop(0.0)
        for follower in self._followers:
            follower.stop(1.0)
        if self._agents is not None:
            self._agents.stop()
        with self._lock:
            if self.unsaved:
                self._save(self._book.flush)
            self._store.close()

    def publication(self) -> tuple[Exposition, tuple[JobRecord, ...]]:
        """The metrics, and all jobs, newest first."""
        with self._lock:
            jobs = sorted(self._book.jobs.values(), key=lambda job: -job.created)
            metrics = exposition(
                self._book, self._followers, self._seen, self._debut, self._rendering, self._agents,
                saved=not self.unsaved,
            )  # fmt: skip
            return metrics, tuple(jobs)

    def _nodes(self) -> list[str]:
        with self._lock:
            return [node.name for look in self._seen.values() for node in look.nodes]

    def _take(self, look: Observation) -> None:
        with self._lock:
            if self._over:
                return
            self._seen[look.source] = look
            self._save(partial(self._book.apply, look))

    def _save(self, step: Callable[[], None]) -> None:
        """What cannot be written stays in memory, and is written as soon as that works again."""
        try:
            step()
        except StateError as error:
            if str(error) != self.unsaved:
                log.warning("%s; what was counted is kept in memory until it can be written", error)
            self.unsaved = str(error)
        else:
            if self.unsaved:
                log.info("the state file is written again; nothing was lost")
            self.unsaved = ""

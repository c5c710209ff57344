"""The collector of one cluster: follows its schedulers, keeps the book, and serves what it knows."""

import logging
import threading
import time
from collections.abc import Sequence

from gpuscope import __version__
from gpuscope.api import Server, WebSettings
from gpuscope.collector.follower import Follower, SchedulerSource
from gpuscope.collector.pages import ROUTES
from gpuscope.collector.publishing import exposition
from gpuscope.collector.snapshot import CollectorSnapshot
from gpuscope.faults.xids import XidCatalogue
from gpuscope.workloads.book import Book
from gpuscope.workloads.classification import classify
from gpuscope.workloads.fault import Classification
from gpuscope.workloads.observation import Attempt, Observation, Outcome
from gpuscope.workloads.store import Store
from gpuscope.workloads.trigger import trigger_of

__all__ = ["Collector"]

log = logging.getLogger("gpuscope.collector")

_STUCK_LOOKS = 10


class Collector:
    """Order of use: ``start``, ``stop``.

    Args:
        sources: the schedulers.
        store: where the book is kept; closed by ``stop``.
        web: settings of the HTTP server.
        xids: meaning of each XID.
        interval_s: time between two looks.

    Raises:
        ConfigError: a port is in use, or the web configuration is bad. Nothing runs then.
    """

    def __init__(
        self, sources: Sequence[SchedulerSource], store: Store, web: WebSettings, xids: XidCatalogue, interval_s: float
    ) -> None:
        self._store = store
        self._xids = xids
        self._interval_s = interval_s
        self._lock = threading.Lock()
        self._book = Book(store, self._classify, trigger_of)
        self._seen: dict[str, Observation] = {}
        self._sources = sources
        self._followers = [Follower(source, interval_s, self._take) for source in sources]
        self._snapshot = CollectorSnapshot(sources=tuple(one.status for one in self._followers))
        self._stopped = threading.Event()
        self._server = Server(self, web, ROUTES)
        self._server.bind()

    @property
    def addresses(self) -> tuple[str, ...]:
        """Addresses that are listened on, with their true ports."""
        return self._server.addresses

    @property
    def simulated(self) -> str:
        """Nothing is simulated."""
        return ""

    def snapshot(self) -> CollectorSnapshot:
        """What is known now; made anew when a scheduler was looked at, and once a second at most."""
        return self._snapshot

    def alive(self) -> tuple[bool, str]:
        """Whether it still publishes; a scheduler that is silent is no matter."""
        age = time.time() - self._snapshot.created
        limit = _STUCK_LOOKS * self._interval_s
        return (
            (True, "") if age < limit or not self._snapshot.created else (False, f"nothing published for {age:.0f} s")
        )

    def start(self) -> None:
        """Starts following and answering."""
        names = ", ".join(one.status.name for one in self._followers)
        log.info("gpuscope collector %s follows %s", __version__, names)
        self._publish()
        for follower in self._followers:
            follower.start()
        threading.Thread(target=self._tick, name="publish", daemon=True).start()
        self._server.start()

    def stop(self) -> None:
        """Ends everything; the book is on the disk after each look already."""
        self._stopped.set()
        self._server.stop(0.5)
        for follower in self._followers:
            follower.stop(1.0)
        with self._lock:
            self._store.close()

    def _take(self, look: Observation) -> None:
        with self._lock:
            if self._stopped.is_set():
                return
            self._book.apply(look)
            self._seen[look.source] = look
        self._publish()

    def _tick(self) -> None:
        while not self._stopped.wait(self._interval_s):
            self._publish()

    def _publish(self) -> None:
        with self._lock:
            jobs = sorted(self._book.jobs.values(), key=lambda job: -job.created)
            self._snapshot = CollectorSnapshot(
                exposition=exposition(self._book, self._followers, self._seen),
                sources=tuple(one.status for one in self._followers),
                jobs=tuple(jobs),
                created=time.time(),
            )

    def _classify(self, attempt: Attempt) -> Classification:
        return classify(attempt.evidence, attempt.outcome or Outcome.UNKNOWN, self._xids)

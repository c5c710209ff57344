"""The collector of one cluster: leads or waits, follows its schedulers, keeps the book, and serves what it knows."""

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Sequence

from gpuscope import __version__
from gpuscope.api import Server, WebSettings
from gpuscope.collector.debut import HOLD_S
from gpuscope.collector.election import Election
from gpuscope.collector.pages import ROUTES
from gpuscope.collector.publishing import waiting_exposition
from gpuscope.collector.snapshot import CollectorSnapshot
from gpuscope.collector.term import OpenSources, Term
from gpuscope.errors import GpuscopeError
from gpuscope.faults.xids import XidCatalogue
from gpuscope.workloads.agent_access import AgentAccess
from gpuscope.workloads.agent_target import check_urls
from gpuscope.workloads.agents import AgentFaults
from gpuscope.workloads.book import STALLED_AFTER_S, Book
from gpuscope.workloads.classification import classify
from gpuscope.workloads.fault import Classification
from gpuscope.workloads.limits import DEFAULT, Limits
from gpuscope.workloads.node_faults import NodeFaults
from gpuscope.workloads.observation import Attempt, Outcome
from gpuscope.workloads.store import Store
from gpuscope.workloads.trigger import trigger_of

__all__ = ["Collector"]

log = logging.getLogger("gpuscope.collector")

_STUCK_LOOKS = 10
_ELECTION_S = 2.0


class Collector:
    """Order of use: ``start``, ``stop``.

    Args:
        open_sources: makes the schedulers, whenever it begins to lead.
        open_store: opens the state, whenever it begins to lead.
        election: tells whether it leads.
        web: settings of the HTTP server.
        xids: meaning of each XID.
        interval_s: time between two looks.
        agents: base URLs of the agents whose faults explain ends of attempts; none reads no agents.
        agent_access: what agents want to know of who asks.
        stalled_after_s: progress that stands still for longer makes a job stalled.
        counter_hold_s: so long new counters are shown as they were before.
        limits: how many series there may be.

    Raises:
        ConfigError: a port is in use, or the web configuration is bad. Nothing runs then.
    """

    def __init__(
        self, open_sources: OpenSources, open_store: Callable[[], Store], election: Election, web: WebSettings,
        xids: XidCatalogue, interval_s: float, agents: Sequence[str] = (), stalled_after_s: float = STALLED_AFTER_S,
        counter_hold_s: float = HOLD_S, agent_access: AgentAccess | None = None, limits: Limits = DEFAULT,
    ) -> None:  # fmt: skip
        self._open_sources = open_sources
        self._open_store = open_store
        self._election = election
        self._xids = xids
        self._interval_s = interval_s
        self._agents = check_urls(agents)
        self._agent_access = agent_access
        self._stalled_after_s = stalled_after_s
        self._counter_hold_s = counter_hold_s
        self._limits = limits
        self._publishing = threading.Lock()
        self._term: Term | None = None
        self._waits = "has not asked yet whether it leads"
        self._fell = ""
        self._snapshot = CollectorSnapshot(waits=self._waits)
        self._stopped = threading.Event()
        self._leading = threading.Thread(target=self._lead, name="lead", daemon=True)
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
        """What is known now; made anew after each look at a scheduler."""
        return self._snapshot

    def alive(self) -> tuple[bool, str]:
        """Whether it still publishes; a scheduler that is silent is no matter, and neither is another's lead."""
        age = time.time() - self._snapshot.created
        limit = max(_STUCK_LOOKS * self._interval_s, 60.0)
        return (
            (True, "") if age < limit or not self._snapshot.created else (False, f"nothing published for {age:.0f} s")
        )

    def start(self) -> None:
        """Starts following, or waiting, and answering."""
        log.info("gpuscope collector %s", __version__)
        self._publish()
        self._leading.start()
        self._server.start()

    def stop(self) -> None:
        """Ends everything and gives the lead away."""
        self._stopped.set()
        self._server.stop(0.5)
        self._leading.join(1.3)

    def _lead(self) -> None:
        """Owns the term: begins it, ends it, and renews the claim to it while looks go on."""
        while not self._stopped.is_set():
            try:
                self._elect()
                self._fell = ""
            except Exception as error:  # noqa: BLE001  # the boundary: a lead without an owner would never be renewed
                self._fall(error)
            self._stopped.wait(_ELECTION_S)
        self._end()
        self._election.release()

    def _elect(self) -> None:
        reason = self._election.hold()
        if not reason and self._term is None:
            reason = self._begin()
        before, self._waits = self._waits, reason
        if reason:
            self._end()
        if reason != before:
            log.info("%s", f"waits: {reason}" if reason else "leads")
        if reason != before or time.time() - self._snapshot.created > 2 * self._interval_s:
            self._publish()

    def _fall(self, error: Exception) -> None:
        """Gives the lead away after an error of this program, so that another one may have it, and tries again."""
        reason = f"internal error: {type(error).__name__}"
        if reason != self._fell:
            log.error("gives the lead away after an error of gpuscope itself", exc_info=error)
        self._waits = self._fell = reason
        with contextlib.suppress(Exception):
            self._end()
        with contextlib.suppress(Exception):
            self._election.release()
        with self._publishing:
            self._term = None
            self._snapshot = CollectorSnapshot(waiting_exposition(), waits=reason, created=time.time())

    def _begin(self) -> str:
        agents = AgentFaults(self._agents, NodeFaults(), self._agent_access) if self._agents else None

        def open_book(store: Store) -> Book:
            faults = None if agents is None else agents.memory
            return Book(store, self._classify, trigger_of, faults, self._stalled_after_s, self._limits)

        try:
            term = Term(
                self._open_store(), open_book, self._open_sources, self._interval_s, self._publish, agents,
                self._counter_hold_s,
            )  # fmt: skip
        except GpuscopeError as error:
            # Settings were checked at the start: the disk, or whoever shares it, changed since then.
            self._election.release()
            return str(error)
        with self._publishing:
            self._term = term
        term.start()
        return ""

    def _end(self) -> None:
        with self._publishing:
            term, self._term = self._term, None
        if term is not None:
            term.end()

    def _publish(self) -> None:
        with self._publishing:
            term = self._term
            if term is None:
                self._snapshot = CollectorSnapshot(waiting_exposition(), waits=self._waits, created=time.time())
                return
            metrics, jobs = term.publication()
            self._snapshot = CollectorSnapshot(metrics, term.sources, jobs, time.time(), unsaved=term.unsaved)

    def _classify(self, attempt: Attempt) -> Classification:
        return classify(attempt.evidence, attempt.outcome or Outcome.UNKNOWN, self._xids)

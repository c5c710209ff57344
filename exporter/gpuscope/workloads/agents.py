"""Reads the faults of the agents: ``/api/v1/faults`` of each, again and again, in threads of its own.

Answers are small and are read once a round, so that 1,250 agents cost about 40 requests a second at the default
interval. The agents' own answers are read, and not Prometheus, because they hold each fault with its own time, need no
labels that somebody has to set, and are there when Prometheus is not. What an agent told is remembered after its node
is gone.
"""

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, wait

from gpuscope.workloads.agent_access import AgentAccess, fetch
from gpuscope.workloads.agent_answer import AnswerError, read_answer
from gpuscope.workloads.agent_target import Target, check_urls, targets
from gpuscope.workloads.node_faults import NodeFaults
from gpuscope.workloads.plausible import mended

__all__ = ["AgentFaults"]

log = logging.getLogger(__name__)

_THREADS = 16
_TIMEOUT_S = 3.0


class AgentFaults:
    """Reads agents into a memory.

    Args:
        urls: base URLs, as ``targets`` takes them.
        memory: where the faults go.
        access: what agents want to know of who asks.
        interval_s: time between two rounds.
        timeout_s: longest time for each step of one request, and for the request as a whole.

    Attributes:
        failures: answers that did not come or could not be used, by reason.
        answering: agents that answered in the last round.
        failed: agents that did not.
    """

    def __init__(
        self, urls: Iterable[str], memory: NodeFaults, access: AgentAccess | None = None, interval_s: float = 30.0,
        timeout_s: float = _TIMEOUT_S,
    ) -> None:  # fmt: skip
        self._urls = check_urls(urls)
        self.memory = memory
        self._access = access or AgentAccess()
        self.failures: Counter[str] = Counter()
        self.answering = 0
        self.failed = 0
        self._interval_s = interval_s
        self._timeout_s = timeout_s
        self._reasons: dict[Target, str] = {}
        self._busy: set[Target] = set()
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="agents")
        self._thread: threading.Thread | None = None

    def start(self, nodes: Callable[[], Iterable[str]]) -> None:
        """Begins; ``nodes`` gives the names that ``{node}`` stands for."""
        self._thread = threading.Thread(target=self._run, args=(nodes,), name="agents", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Ends it; a request that goes on ends by its time limit."""
        self._stopped.set()
        self._pool.shutdown(wait=False, cancel_futures=True)
        if self._thread is not None:
            self._thread.join(1.0)

    def round(self, nodes: Iterable[str]) -> None:
        """Reads every agent once; one that does not answer costs what it would have told."""
        began = time.time()
        self._access.renew()
        asked = list(dict.fromkeys(targets(self._urls, nodes)))
        with self._lock:
            free = [target for target in asked if target not in self._busy]
            self._busy.update(free)
        for _ in range(len(asked) - len(free)):
            self._count("busy")
        futures = [self._pool.submit(self._read, target) for target in free]
        # Requests are bounded one by one; several of them share a thread.
        done, late = wait(futures, timeout=(2 * self._timeout_s) * (1 + len(free) // _THREADS))
        reasons = dict(future.result() for future in done)
        self._tell(reasons)
        self.answering = sum(not reason for reason in reasons.values())
        self.failed = len(asked) - self.answering
        if not late:
            self.memory.ended_round(began)

    def _run(self, nodes: Callable[[], Iterable[str]]) -> None:
        while not self._stopped.is_set():
            began = time.monotonic()
            try:
                self.round(nodes())
            except Exception:  # the boundary: the next round is tried whatever this one met
                if not self._stopped.is_set():
                    log.exception("reading the agents failed")
            self._stopped.wait(max(1.0, self._interval_s - (time.monotonic() - began)))

    def _read(self, target: Target) -> tuple[Target, str]:
        reason = ""
        try:
            answer = read_answer(fetch(target, self._access, self._timeout_s), time.time())
            self.memory.note(answer.node, answer.xids, answer.signals, answer.watched_until)
            if answer.stale:
                reason = "stale"
        except AnswerError as error:
            reason = str(error)
        except Exception:  # the boundary: one agent costs its own node and no round
            reason = "malformed"
            if self._reasons.get(target) != reason:
                log.exception("the answer of the agent at %s is beyond gpuscope", mended(target.host))
        finally:
            with self._lock:
                self._busy.discard(target)
        if reason:
            self._count(reason)
        return target, reason

    def _tell(self, reasons: dict[Target, str]) -> None:
        for target, reason in reasons.items():
            if reason and self._reasons.get(target) != reason:
                log.warning("the agent at %s cannot be used: %s", mended(target.address or target.host), reason)
            elif not reason and self._reasons.get(target):
                log.info("the agent at %s answers again", target.address)
        self._reasons = reasons

    def _count(self, reason: str) -> None:
        with self._lock:
            self.failures[reason] += 1

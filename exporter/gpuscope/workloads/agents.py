"""Reads the faults of the agents: ``/api/v1/faults`` of each, again and again, in threads of its own.

Answers are small and are read once a round, so that 1,250 agents cost about 40 requests a second at the default
interval. The agents' own answers are read, and not Prometheus, because they hold each fault with its own time, need no
labels that somebody has to set, and are there when Prometheus is not. What an agent told is remembered after its node
is gone.
"""

import http.client
import logging
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from urllib.parse import urlsplit

from gpuscope.errors import ConfigError
from gpuscope.workloads.agent_answer import AnswerError, read_answer
from gpuscope.workloads.node_faults import NodeFaults

__all__ = ["AgentFaults", "check_urls"]

log = logging.getLogger(__name__)

_NODE = "{node}"
_PATH = "/api/v1/faults"
_LARGEST = 4 << 20
_THREADS = 16
_TIMEOUT_S = 3.0


@dataclass(frozen=True, slots=True)
class _Target:
    secure: bool
    host: str
    port: int
    path: str
    address: str


class AgentFaults:
    """Reads agents into a memory.

    Args:
        urls: base URLs. ``{node}`` in a URL stands for the name of every node; the host of an ``http`` URL without it
            may have many addresses, as a headless service of Kubernetes has, and all of them are asked.
        memory: where the faults go.
        interval_s: time between two rounds.
        timeout_s: longest time for each step of one request, and for the request as a whole.

    Attributes:
        failures: answers that did not come or could not be used, by reason.
        answering: agents that answered in the last round.
        failed: agents that did not.
    """

    def __init__(
        self, urls: Iterable[str], memory: NodeFaults, interval_s: float = 30.0, timeout_s: float = _TIMEOUT_S
    ) -> None:
        self._urls = check_urls(urls)
        self.memory = memory
        self.failures: Counter[str] = Counter()
        self.answering = 0
        self.failed = 0
        self._interval_s = interval_s
        self._timeout_s = timeout_s
        self._reasons: dict[_Target, str] = {}
        self._busy: set[_Target] = set()
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
        targets = list(dict.fromkeys(self._targets(nodes)))
        with self._lock:
            free = [target for target in targets if target not in self._busy]
            self._busy.update(free)
        for _ in range(len(targets) - len(free)):
            self._count("busy")
        futures = [self._pool.submit(self._read, target) for target in free]
        # Requests are bounded one by one; several of them share a thread.
        done, late = wait(futures, timeout=(2 * self._timeout_s) * (1 + len(free) // _THREADS))
        reasons = dict(future.result() for future in done)
        self._tell(reasons)
        self.answering = sum(not reason for reason in reasons.values())
        self.failed = len(targets) - self.answering
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

    def _targets(self, nodes: Iterable[str]) -> Iterator[_Target]:
        known = tuple(nodes)
        for url in self._urls:
            for text in (url.replace(_NODE, name) for name in known) if _NODE in url else (url,):
                yield from self._addresses(text, many=_NODE not in url)

    def _addresses(self, url: str, *, many: bool) -> Iterator[_Target]:
        parts = urlsplit(url)
        host, secure = parts.hostname or "", parts.scheme == "https"
        port = parts.port or (443 if secure else 80)
        path = parts.path.rstrip("/") + _PATH
        if not many or secure:
            yield _Target(secure, host, port, path, host)
            return
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except OSError:
            self._count("address")
            log.debug("%s has no address", host)
            return
        for address in sorted({str(info[4][0]) for info in found}):
            yield _Target(secure, host, port, path, address)

    def _read(self, target: _Target) -> tuple[_Target, str]:
        try:
            self._ask(target)
        except TimeoutError:
            reason = "timeout"
        except AnswerError as error:
            reason = str(error)
        except (OSError, http.client.HTTPException):
            reason = "connection"
        else:
            reason = ""
        finally:
            with self._lock:
                self._busy.discard(target)
        if reason:
            self._count(reason)
        return target, reason

    def _ask(self, target: _Target) -> None:
        make = http.client.HTTPSConnection if target.secure else http.client.HTTPConnection
        connection = make(target.address, target.port, timeout=self._timeout_s)
        until = time.monotonic() + 2 * self._timeout_s
        try:
            connection.request("GET", target.path, headers={"Host": target.host, "Accept": "application/json"})
            response = connection.getresponse()
            if response.status != http.client.OK:
                raise AnswerError("status")
            body = bytearray()
            while chunk := response.read1(65_536):
                body += chunk
                if len(body) > _LARGEST:
                    raise AnswerError("too_large")
                if time.monotonic() > until:
                    raise TimeoutError
        finally:
            connection.close()
        answer = read_answer(bytes(body), time.time())
        self.memory.note(answer.node, answer.xids, answer.signals, answer.watched_until)
        if answer.stale:
            raise AnswerError("stale")

    def _tell(self, reasons: dict[_Target, str]) -> None:
        for target, reason in reasons.items():
            if reason and self._reasons.get(target) != reason:
                log.warning("the agent at %s cannot be used: %s", target.address, reason)
            elif not reason and self._reasons.get(target):
                log.info("the agent at %s answers again", target.address)
        self._reasons = reasons

    def _count(self, reason: str) -> None:
        with self._lock:
            self.failures[reason] += 1


def check_urls(urls: Iterable[str]) -> tuple[str, ...]:
    """The base URLs of agents.

    Raises:
        ConfigError: one is none.
    """
    found = tuple(urls)
    for url in found:
        try:
            parts = urlsplit(url.replace(_NODE, "node"))
            wrong = parts.scheme not in {"http", "https"} or not parts.hostname or parts.port == 0
        except ValueError:
            wrong = True
        if wrong or "{" in url.replace(_NODE, "") or parts.query or parts.fragment or parts.username:
            raise ConfigError(f"--agents {url!r}: is no URL such as http://{_NODE}:9836")
    return found

"""A look-alike of kubelet's pod-resources service: real gRPC on a Unix socket, answers that can be set at any time.

Nothing imports this module before it is needed: asyncio, gRPC and protobuf cost some MiB.
"""

import asyncio
import logging
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

from grpclib.const import Cardinality, Handler, Status
from grpclib.exceptions import GRPCError
from grpclib.protocol import H2Protocol
from grpclib.server import Server, Stream

from gpuscope.podresources import LIST_METHOD, ListPodResourcesRequest, ListPodResourcesResponse
from gpuscope.podresources.socket_path import short_path

__all__ = ["GARBAGE", "SimulatedKubelet"]

log = logging.getLogger(__name__)

GARBAGE = b"SSH-2.0-OpenSSH_9.6\r\n\x00\xff\xfe not HTTP/2 at all\r\n"
"""What is sent to everybody who connects while the socket belongs to something else."""

_PATIENCE_S = 30.0

Answer = ListPodResourcesResponse | Callable[[], ListPodResourcesResponse]


class SimulatedKubelet:
    """Serves ``v1.PodResourcesLister/List`` in a thread of its own, and misbehaves on demand.

    All methods may be called from any thread, before ``start`` and after ``stop`` too; what was set stays set over a
    restart. It is a context manager that starts and stops.

    Args:
        socket: path of the Unix socket; its folder is made.
        answer: what ``List`` returns, or what makes it.

    Attributes:
        calls: ``List`` calls that arrived, whatever was answered.
        connections: connections that were accepted.
    """

    def __init__(self, socket: Path, answer: Answer | None = None) -> None:
        self.socket = socket
        self.calls = 0
        self.connections = 0
        self._answer: Answer = answer or ListPodResourcesResponse()
        self._delay_s = 0.0
        self._exhausted = 0
        self._status: tuple[Status, str] | None = None
        self._garbage = False
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._changed: asyncio.Event | None = None
        self._ending = self._away = False
        self._transports: set[asyncio.Transport] = set()

    def __enter__(self) -> "SimulatedKubelet":
        self.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self.stop()

    def start(self) -> None:
        """Opens the socket, over one that a predecessor left. Harmless while it runs.

        Raises:
            OSError: the socket cannot be made there.
        """
        if self._thread is not None:
            return
        self.socket.parent.mkdir(parents=True, exist_ok=True)
        self._ending = False
        ready, problems = threading.Event(), list[OSError]()
        self._thread = threading.Thread(target=self._run, args=(ready, problems), name="simulated kubelet", daemon=True)
        self._thread.start()
        if not ready.wait(_PATIENCE_S):
            problems.append(TimeoutError(f"{self.socket}: not opened within {_PATIENCE_S:g} s"))
        if problems:
            self.stop()
            raise problems[0]

    def stop(self) -> None:
        """Ends every connection and removes the socket, as a kubelet that ends. Harmless when it does not run."""
        thread, self._thread = self._thread, None
        if thread is None:
            return
        self._ending = True
        self._wake()
        thread.join(_PATIENCE_S)

    def go_away(self, away: bool) -> None:
        """Ends every connection and removes the socket, or opens it again; unlike ``stop`` it waits for nothing."""
        self._away = away
        self._wake()

    def answer(self, answer: Answer) -> None:
        """Sets what ``List`` returns from now on.

        Args:
            answer: the response, or a function without arguments that makes it; it runs in the server's thread.
        """
        self._answer = answer

    def exhaust(self, calls: int) -> None:
        """Refuses the next calls with ResourceExhausted, as kubelet's rate limit does."""
        self._exhausted = calls

    def delay(self, seconds: float) -> None:
        """Lets every answer come so much later; 0 ends that."""
        self._delay_s = seconds

    def fail(self, status: str | None, message: str = "") -> None:
        """Answers every call with a gRPC status such as ``UNAVAILABLE``; ``None`` ends that.

        Raises:
            KeyError: no such status.
        """
        self._status = None if status is None else (Status[status], message)

    def speak_garbage(self, garbage: bool) -> None:
        """Answers with bytes that are not HTTP/2, as a socket that belongs to another program; ends connections."""
        self._garbage = garbage
        self.drop_connections()

    def drop_connections(self) -> None:
        """Ends every connection; the socket stays open."""
        self._tell(self._abort)

    def _wake(self) -> None:
        changed = self._changed
        if changed is not None:
            self._tell(changed.set)

    def _tell(self, call: Callable[[], object]) -> None:
        loop = self._loop
        try:
            if loop is not None:
                loop.call_soon_threadsafe(call)
        except RuntimeError:
            log.debug("the simulated kubelet's loop has ended")

    def _run(self, ready: threading.Event, problems: list[OSError]) -> None:
        try:
            asyncio.run(self._serve(ready))
        except OSError as error:
            problems.append(error)
        finally:
            self._loop = self._changed = None
            ready.set()

    async def _serve(self, ready: threading.Event) -> None:
        self._changed = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        server = Server([self])
        listener: asyncio.Server | None = None
        try:
            while not self._ending:
                if self._away:
                    await self._close(listener)
                    listener = None
                elif listener is None:
                    with short_path(self.socket) as path:
                        listener = await self._loop.create_unix_server(lambda: self._protocol(server), path)
                ready.set()
                await self._changed.wait()
                self._changed.clear()
        finally:
            await self._close(listener)

    async def _close(self, listener: asyncio.Server | None) -> None:
        if listener is None:
            return
        listener.close()
        self._abort()
        self.socket.unlink(missing_ok=True)
        # What the transports call when they end runs in the next turns of the loop.
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    def _protocol(self, server: Server) -> asyncio.Protocol:
        self.connections += 1
        if self._garbage:
            return _Garbage()
        return _Watched(server._protocol_factory(), self._transports)

    def _abort(self) -> None:
        for transport in list(self._transports):
            transport.abort()

    def __mapping__(self) -> Mapping[str, Handler]:
        """The service, as grpclib asks for it."""
        return {
            LIST_METHOD: Handler(self._list, Cardinality.UNARY_UNARY, ListPodResourcesRequest, ListPodResourcesResponse)
        }

    async def _list(self, stream: Stream[ListPodResourcesRequest, ListPodResourcesResponse]) -> None:
        self.calls += 1
        await stream.recv_message()
        if self._exhausted > 0:
            self._exhausted -= 1
            raise GRPCError(Status.RESOURCE_EXHAUSTED, "rejected by rate limit")
        if self._delay_s:
            await asyncio.sleep(self._delay_s)
        if self._status is not None:
            raise GRPCError(*self._status)
        answer = self._answer
        await stream.send_message(answer() if callable(answer) else answer)


class _Watched(asyncio.Protocol):
    """A gRPC connection whose transport is known to the server, which grpclib leaves open when it closes."""

    def __init__(self, inner: H2Protocol, transports: set[asyncio.Transport]) -> None:
        self._inner = inner
        self._transports = transports
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._transports.add(transport)
        self._inner.connection_made(transport)

    def connection_lost(self, exc: BaseException | None) -> None:
        if self._transport is not None:
            self._transports.discard(self._transport)
        self._inner.connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._inner.data_received(data)

    def pause_writing(self) -> None:
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        self._inner.resume_writing()


class _Garbage(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        transport.write(GARBAGE)
        transport.close()

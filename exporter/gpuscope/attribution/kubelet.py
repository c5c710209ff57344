"""Asks kubelet, over its Unix socket, which container holds which device.

Source: gRPC ``v1.PodResourcesLister/List`` on ``/var/lib/kubelet/pod-resources/kubelet.sock``, which belongs to root.
kubelet answers 100 calls a second, 10 at once, to all its clients together, and ``RESOURCE_EXHAUSTED`` beyond that.

grpclib rather than grpcio: 7 MiB of memory instead of 21 (nothing but the import, Python 3.11), and no threads.
"""

import asyncio
import errno
import os
import stat
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from gpuscope.attribution.problems import reason_of
from gpuscope.errors import SourceError
from gpuscope.podresources.socket_path import short_path

if TYPE_CHECKING:
    from grpclib.client import Channel, Stream

    from gpuscope.podresources import ListPodResourcesRequest, ListPodResourcesResponse

__all__ = ["Kubelet", "KubeletError"]

_TIMEOUT_S = 5.0
_MAX_ANSWER = 1 << 24
"""Bytes; 110 pods make some ten thousand. grpclib takes whatever is announced, and would fill the machine's memory."""


class KubeletError(SourceError):
    """kubelet gave no answer.

    Attributes:
        code: a gRPC status in lower case (``resource_exhausted``), or ``missing``, ``no_permission``,
            ``not_a_socket``, ``connection_refused``, ``connection_lost``, ``timeout``, ``bad_answer``.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class Kubelet:
    """One kept connection; used by one thread only.

    Args:
        socket: kubelet's socket.
        timeout_s: how long an answer may take.
    """

    def __init__(self, socket: Path, *, timeout_s: float = _TIMEOUT_S) -> None:
        self._socket = socket
        self._timeout_s = timeout_s
        self._loop: asyncio.AbstractEventLoop | None = None
        self._channel: Channel | None = None
        self._inode: tuple[int, int] | None = None
        self._paths = ExitStack()

    def list(self) -> "ListPodResourcesResponse":
        """All pods of this machine with their devices.

        A connection that kubelet closed, or that leads to a kubelet which is no more, is made anew once.

        Raises:
            KubeletError: no answer.
        """
        inode = self._look()
        if inode != self._inode:
            self._disconnect()
        kept = self._channel is not None
        try:
            return self._ask(inode)
        except KubeletError as error:
            self._disconnect()
            if not kept or error.code not in {"connection_lost", "connection_refused"}:
                raise
        return self._ask(inode)

    def close(self) -> None:
        """Ends the connection."""
        self._disconnect()
        if self._loop is not None:
            self._loop.close()
            self._loop = None

    def _look(self) -> tuple[int, int]:
        try:
            found = os.stat(self._socket)
        except OSError as error:
            raise KubeletError(reason_of(error), f"{self._socket}: {error.strerror}") from error
        if not stat.S_ISSOCK(found.st_mode):
            raise KubeletError("not_a_socket", f"{self._socket}: is not a socket")
        return found.st_dev, found.st_ino

    def _ask(self, inode: tuple[int, int]) -> "ListPodResourcesResponse":
        from grpclib.exceptions import GRPCError, ProtocolError, StreamTerminatedError

        if self._loop is None:
            self._loop = asyncio.new_event_loop()
        try:
            answer = self._loop.run_until_complete(asyncio.wait_for(self._call(), self._timeout_s))
        except GRPCError as error:
            raise KubeletError(error.status.name.lower(), f"kubelet: {error.message or error.status.name}") from error
        except TimeoutError as error:
            raise KubeletError("timeout", f"{self._socket}: no answer within {self._timeout_s:g} s") from error
        except OSError as error:
            code = "connection_refused" if error.errno == errno.ECONNREFUSED else reason_of(error)
            code = "connection_lost" if isinstance(error, ConnectionResetError | BrokenPipeError) else code
            raise KubeletError(code, f"{self._socket}: {error.strerror or error}") from error
        except StreamTerminatedError as error:
            raise KubeletError("connection_lost", f"{self._socket}: {error}") from error
        except ProtocolError as error:
            raise KubeletError("bad_answer", f"{self._socket}: {error}") from error
        except Exception as error:  # the boundary: whatever a broken peer makes the library raise
            raise KubeletError("bad_answer", f"{self._socket}: {type(error).__name__}: {error}") from error
        self._inode = inode
        return answer

    async def _call(self) -> "ListPodResourcesResponse":
        from grpclib.client import Channel, UnaryUnaryMethod
        from grpclib.exceptions import ProtocolError

        from gpuscope.podresources import LIST_METHOD, ListPodResourcesRequest, ListPodResourcesResponse

        if self._channel is None:
            self._channel = Channel(path=self._paths.enter_context(short_path(self._socket)))
        method: UnaryUnaryMethod[ListPodResourcesRequest, ListPodResourcesResponse] = UnaryUnaryMethod(
            self._channel, LIST_METHOD, ListPodResourcesRequest, ListPodResourcesResponse
        )
        async with method.open() as stream:
            await stream.send_message(ListPodResourcesRequest(), end=True)
            await stream.recv_initial_metadata()
            _bound(stream)
            answer = await stream.recv_message()
        if answer is None:
            raise ProtocolError("no message in the answer")
        return answer

    def _disconnect(self) -> None:
        if self._channel is None or self._loop is None:
            return
        channel, self._channel = self._channel, None
        channel.close()
        self._paths.close()
        # The transport tells its end in a callback of the loop.
        self._loop.run_until_complete(asyncio.sleep(0))


def _bound(stream: "Stream[ListPodResourcesRequest, ListPodResourcesResponse]") -> None:
    """Refuses an answer that is too large before it is taken."""
    from grpclib.exceptions import ProtocolError

    buffer = stream._stream.buffer
    read = buffer.read

    async def bounded(size: int) -> bytes:
        if size > _MAX_ANSWER:
            raise ProtocolError(f"an answer of {size} bytes; at most {_MAX_ANSWER} are taken")
        return await read(size)

    buffer.read = bounded  # type: ignore[method-assign]

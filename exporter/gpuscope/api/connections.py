"""Open connections: who makes no progress is closed, so that nobody can keep the others out."""

import resource
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from tornado.iostream import IOStream

__all__ = ["Connections", "raise_file_limit"]

_RESERVED_FILES = 128  # NVML's device files, the listeners, logs, libraries


class _Phase(Enum):
    NEW = "no complete request yet"
    ASKED = "request being answered"
    ANSWERED = "answer handed to the kernel or waiting for the client to read"


@dataclass(slots=True)
class _Connection:
    phase: _Phase
    since: float


class Connections:
    """The open connections, in the order of their last progress.

    Progress is a complete request head or a finished answer, and nothing else: bytes that trickle in do not count.
    At the limit a new connection takes the place of the one without progress for longest. A client that asks and
    reads is always among the newest and stays.

    Args:
        limit: connections at a time.
        header_timeout_s: seconds for the first complete request head.
        write_timeout_s: seconds for taking an answer.
        clock: monotonic seconds.
    """

    def __init__(
        self,
        limit: int,
        header_timeout_s: float,
        write_timeout_s: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._limit = limit
        self._header_timeout_s = header_timeout_s
        self._write_timeout_s = write_timeout_s
        self._clock = clock
        self._open: dict[IOStream, _Connection] = {}

    def __len__(self) -> int:
        return len(self._open)

    def opened(self, stream: IOStream) -> None:
        """A client connected."""
        while len(self._open) >= self._limit:
            oldest = next(iter(self._open))
            del self._open[oldest]
            oldest.close()
        self._open[stream] = _Connection(_Phase.NEW, self._clock())

    def asked(self, stream: IOStream) -> None:
        """A complete request head arrived."""
        self._move(stream, _Phase.ASKED)

    def answered(self, stream: IOStream) -> None:
        """The answer is written as far as the client reads."""
        self._move(stream, _Phase.ANSWERED)

    def closed(self, stream: IOStream) -> None:
        """The connection is gone."""
        self._open.pop(stream, None)

    def sweep(self) -> None:
        """Closes connections whose time is over; to be called about once a second."""
        now = self._clock()
        for stream, connection in list(self._open.items()):
            age = now - connection.since
            if (connection.phase is _Phase.NEW and age > self._header_timeout_s) or (
                connection.phase is _Phase.ANSWERED and age > self._write_timeout_s and stream.writing()
            ):
                stream.close()

    def busy(self) -> bool:
        """Whether an answer is under way."""
        return any(entry.phase is _Phase.ASKED or stream.writing() for stream, entry in self._open.items())

    def close_all(self) -> None:
        """Closes every connection."""
        for stream in list(self._open):
            stream.close()
        self._open.clear()

    def _move(self, stream: IOStream, phase: _Phase) -> None:
        if self._open.pop(stream, None) is not None:  # else it was evicted meanwhile
            self._open[stream] = _Connection(phase, self._clock())


def raise_file_limit(wanted_connections: int) -> int:
    """Raises the limit of open files as far as the kernel lets an ordinary user; returns the connections that fit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    if hard == resource.RLIM_INFINITY:
        return wanted_connections
    return max(8, min(wanted_connections, hard - _RESERVED_FILES))

"""Child processes of the demo: started, watched, and always stopped."""

import contextlib
import ctypes
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType

from gpuscope.errors import SourceError

__all__ = ["Child", "Children", "free_port"]

_PR_SET_PDEATHSIG = 1
_STOP_S = 4.0
_LOG_LINES = 15


def free_port() -> int:
    """A loopback port that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """Keeps Ctrl-C and SIGTERM until the block is left: a program that was started is not forgotten half-way."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    kept: list[int] = []
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    ordinary = {number: handler for number, handler in handlers.items() if callable(handler)}
    try:
        for number in ordinary:
            signal.signal(number, lambda number, _: kept.append(number))
        yield
    finally:
        for number, handler in ordinary.items():
            signal.signal(number, handler)
        for first in kept[:1]:
            signal.raise_signal(first)


class Child:
    """A running program and the file that takes its output."""

    def __init__(self, name: str, process: "subprocess.Popen[bytes]", output: Path) -> None:
        self.name = name
        self.process = process
        self.output = output

    def check(self) -> None:
        """Raises when the program ended.

        Raises:
            SourceError: with its last lines behind the reason.
        """
        code = self.process.poll()
        if code is not None:
            lines = self.output.read_text(encoding="utf-8", errors="replace").splitlines()[-_LOG_LINES:]
            raise SourceError("\n".join([f"{self.name} ended with code {code}", *lines]))


class Children:
    """Starts programs and stops them all at the end, in the reverse order, each by its own process id.

    Args:
        folder: gets a file of output for each.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._children: list[Child] = []

    def __enter__(self) -> "Children":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(
        self,
        name: str,
        command: Sequence[str],
        environment: Mapping[str, str] | None = None,
        folder: Path | None = None,
    ) -> Child:
        """Starts a program, in a folder where that matters; it also ends when this process is killed."""
        output = self._folder / f"{name}.log"
        with _uninterrupted(), output.open("wb") as stream:
            process = subprocess.Popen(  # noqa: S603
                list(command),
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.STDOUT,
                env=dict(environment) if environment is not None else None,
                cwd=folder,
                # Not in the terminal's foreground group: Ctrl-C reaches this process alone, which then stops them.
                start_new_session=True,
                preexec_fn=_die_with_parent if os.name == "posix" else None,
            )
            child = Child(name, process, output)
            self._children.append(child)
        return child

    def check(self) -> None:
        """Raises when one of them ended.

        Raises:
            SourceError: with its last lines.
        """
        for child in self._children:
            child.check()

    def stop(self) -> None:
        """Stops them: SIGTERM, and SIGKILL for what does not end in time."""
        for child in reversed(self._children):
            if child.process.poll() is None:
                child.process.terminate()
        end = time.monotonic() + _STOP_S
        for child in reversed(self._children):
            try:
                child.process.wait(max(0.1, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                child.process.kill()
                child.process.wait()
        self._children.clear()

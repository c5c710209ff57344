"""Runs Slurm's own commands: no shell, a fixed environment, an end in time, and no more output than fits."""

import contextlib
import os
import selectors
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from gpuscope.errors import SourceError

__all__ = ["SlurmCommands"]

_PLACES = "/usr/bin:/usr/local/bin:/opt/slurm/bin:/cm/shared/apps/slurm/current/bin"
_FOR_US = ("PATH", "SLURM_CONF", "LD_LIBRARY_PATH", "HOME", "SLURM_CONF_SERVER", "SLURM_JWT", "SACK_SOCKET")
_CHUNK = 1 << 16
_NO_ACCOUNTING = ("accounting storage is disabled",)
_UNREACHABLE = (
    "Unable to contact slurm controller", "Connection refused", "Connection reset", "connect failure", "timed out",
    "Zero Bytes were transmitted", "Problem talking to the database", "Could not establish a configuration source",
)  # fmt: skip
_DENIED = ("ermission denied", "Invalid user", "uthentication")


class SlurmCommands:
    """Slurm's commands of this machine.

    Args:
        folder: where the programs are; ``None`` looks in ``$PATH`` and in the usual places.
        timeout_s: after this a command and what it started is killed. slurmctld may take its time on a big cluster, and
            a client itself gives up on a dead one after about 10 seconds.
        max_bytes: longest answer that is read; 10,000 running jobs in JSON are about 60 MB.
    """

    def __init__(self, folder: Path | None = None, timeout_s: float = 60.0, max_bytes: int = 256 << 20) -> None:
        self._folder = folder
        self._timeout_s = timeout_s
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self._running: subprocess.Popen[bytes] | None = None
        self.stopped = False

    def stop(self) -> None:
        """Ends the command that runs, with what it started, and runs none any more; from any thread."""
        with self._lock:
            self.stopped = True
            if self._running is not None:
                _kill(self._running)

    def run(self, program: str, *arguments: str) -> str:
        """What the command wrote.

        A user's own defaults (``SQUEUE_FORMAT``, ``SACCT_FORMAT``, ``SLURM_CLUSTERS``) do not reach it, and it writes
        times in UTC: ``SLURM_TIME_FORMAT=%s`` would be shorter, but with it ``sacct`` 22.05 cannot read its own ``-S``.
        Bytes that are no UTF-8 become U+FFFD: anything longer in their place would be no JSON any more.

        Raises:
            SourceError: the message is a reason: ``missing``, ``timeout``, ``too_long``, ``permission``,
                ``unreachable`` (no daemon answers), ``no_accounting`` (the cluster has no slurmdbd), ``stopped`` or
                ``error``.
        """
        path = self._find(program)
        if path is None:
            raise SourceError("missing")
        process = self._start(path, arguments)
        try:
            out, complaint = self._read(process)
            code = process.wait(max(self._timeout_s, 1.0))
        except subprocess.TimeoutExpired as error:
            raise SourceError("timeout") from error
        finally:
            with self._lock:
                self._running = None
            _end(process)
        if self.stopped:
            raise SourceError("stopped")
        if code != 0:
            raise SourceError(_reason(complaint))
        return out

    def _start(self, path: str, arguments: Sequence[str]) -> "subprocess.Popen[bytes]":
        with self._lock:
            if self.stopped:
                raise SourceError("stopped")
            try:
                self._running = subprocess.Popen(  # noqa: S603 - the programs are the administrator's, the arguments ours
                    [path, *arguments],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    start_new_session=True,
                    env=_environment(),
                )
            except OSError as error:
                raise SourceError("permission" if isinstance(error, PermissionError) else "error") from error
            return self._running

    def _find(self, program: str) -> str | None:
        places = f"{os.environ.get('PATH', '')}:{_PLACES}" if self._folder is None else str(self._folder)
        return shutil.which(program, path=places)

    def _read(self, process: "subprocess.Popen[bytes]") -> tuple[str, str]:
        """Reads both pipes at once, so that neither can fill up; stops at the limits of time and of bytes."""
        until = time.monotonic() + self._timeout_s
        texts: dict[int, bytearray] = {}
        with selectors.DefaultSelector() as selector:
            for pipe in (process.stdout, process.stderr):
                if pipe is not None:
                    selector.register(pipe, selectors.EVENT_READ)
                    texts[pipe.fileno()] = bytearray()
            out, complaint = texts.values()
            while selector.get_map():
                ready = selector.select(max(0.0, until - time.monotonic()))
                if not ready:
                    raise SourceError("timeout")
                for key, _ in ready:
                    piece = os.read(key.fd, _CHUNK)
                    if not piece:
                        selector.unregister(key.fileobj)
                    texts[key.fd] += piece
                if len(out) > self._max_bytes or len(complaint) > self._max_bytes:
                    raise SourceError("too_long")
        return out.decode("utf-8", "replace"), complaint.decode("utf-8", "replace")


def _environment() -> dict[str, str]:
    kept = {name: os.environ[name] for name in _FOR_US if name in os.environ}
    # Without SLURM_BITSTR_LEN=0 the tasks of an array are cut off after 64 letters.
    return {**kept, "LC_ALL": "C", "TZ": "UTC", "SLURM_TIME_FORMAT": "standard", "SLURM_BITSTR_LEN": "0"}


def _kill(process: "subprocess.Popen[bytes]") -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _end(process: "subprocess.Popen[bytes]") -> None:
    if process.poll() is None:
        _kill(process)
        process.wait(5.0)
    pipes: Sequence[IO[bytes] | None] = (process.stdout, process.stderr)
    for pipe in pipes:
        if pipe is not None:
            pipe.close()


def _reason(complaint: str) -> str:
    if any(words in complaint for words in _NO_ACCOUNTING):
        return "no_accounting"
    if any(words in complaint for words in _UNREACHABLE):
        return "unreachable"
    return "permission" if any(words in complaint for words in _DENIED) else "error"

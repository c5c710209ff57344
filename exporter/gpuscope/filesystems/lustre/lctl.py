"""``lctl get_param``: the client's own tool, which knows where its release keeps a parameter."""

import fnmatch
import os
import re
import selectors
import shutil
import signal
import subprocess
import threading
import time
from contextlib import suppress

from gpuscope.errors import SourceError

__all__ = ["Lctl"]

_PLACES = "/usr/sbin:/sbin:/usr/local/sbin"
_NAME = re.compile(r"([a-z]+(?:\.[^=\s]+)?)=(.*\n?)")
_MAX_BYTES = 8 << 20
_CHUNK = 1 << 16
_KILL_S = 1.0


class Lctl:
    """Runs ``lctl``, never through a shell, and never a second one while the first runs.

    Args:
        program: path or name; a name is looked for in ``$PATH`` and in the system's folders.
        timeout_s: after this the command and what it started is killed.
        pause_s: after that, how long it is not run again.
    """

    def __init__(self, program: str = "lctl", timeout_s: float = 5.0, pause_s: float = 60.0) -> None:
        self._program = program
        self._timeout_s = timeout_s
        self._pause_s = pause_s
        self._paused_until = 0.0
        self._closed = threading.Event()
        self._left: subprocess.Popen[bytes] | None = None

    def close(self) -> None:
        """Runs nothing any more; a command that runs is killed within a moment."""
        self._closed.set()

    def get(self, pattern: str) -> dict[str, str]:
        """Content of all parameters that match, by full name.

        The names are asked for, as with ``-n`` nobody could tell the instances apart.

        Raises:
            SourceError: the message is a reason: ``missing``, ``permission``, ``timeout`` or ``error``.
        """
        if self._closed.is_set() or time.monotonic() < self._paused_until:
            raise SourceError("timeout")
        if self._left is not None and self._left.poll() is None:
            raise SourceError("timeout")  # not even SIGKILL ends it: it waits in the kernel
        program = shutil.which(self._program, path=f"{os.environ.get('PATH', '')}:{_PLACES}")
        if program is None:
            raise SourceError("permission" if "/" in self._program and os.path.isfile(self._program) else "missing")
        found = _parse(self._run([program, "get_param", pattern]), pattern)
        if not found:
            raise SourceError("missing")
        return found

    def _run(self, command: list[str]) -> str:
        try:
            process = subprocess.Popen(  # noqa: S603 - the program is the administrator's choice, the pattern is ours
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
                env={**os.environ, "LC_ALL": "C"},
            )
        except OSError as error:
            raise SourceError("permission" if isinstance(error, PermissionError) else "error") from error
        try:
            out, complaint = self._listen(process, time.monotonic() + self._timeout_s)
        except TimeoutError as error:
            self._paused_until = time.monotonic() + self._pause_s
            raise SourceError("timeout") from error
        finally:
            self._left = _end(process)
        if process.returncode != 0 and not out:
            raise SourceError(_reason(complaint))
        return out.decode("utf-8", "backslashreplace")

    def _listen(self, process: "subprocess.Popen[bytes]", end: float) -> tuple[bytes, bytes]:
        """What it prints, to both, until it ends.

        Raises:
            TimeoutError: it did not end in time.
            SourceError: it prints without an end.
        """
        assert process.stdout is not None
        assert process.stderr is not None
        texts = {process.stdout.fileno(): bytearray(), process.stderr.fileno(): bytearray()}
        with selectors.DefaultSelector() as selector:
            for pipe in texts:
                selector.register(pipe, selectors.EVENT_READ)
            while selector.get_map():
                if time.monotonic() > end or self._closed.is_set():
                    raise TimeoutError
                for key, _ in selector.select(0.1):
                    some = os.read(key.fd, _CHUNK)
                    if not some:
                        selector.unregister(key.fd)
                    texts[key.fd] += some
                    if len(texts[key.fd]) > _MAX_BYTES:
                        raise SourceError("error")
        try:
            process.wait(max(0.0, end - time.monotonic()))
        except subprocess.TimeoutExpired as error:
            raise TimeoutError from error
        out, complaint = texts.values()
        return bytes(out), bytes(complaint)


def _end(process: "subprocess.Popen[bytes]") -> "subprocess.Popen[bytes] | None":
    """Kills a command that was not waited for, and all that it started; gives it back if that does not end it."""
    for pipe in (process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()
    if process.returncode is not None:
        return None
    # Nobody has taken note of its end yet, so its number, and that of its group, is still its own.
    with suppress(OSError):  # its group is gone, or belongs to another user, as below sudo
        os.killpg(process.pid, signal.SIGKILL)
    try:
        process.wait(_KILL_S)
    except subprocess.TimeoutExpired:
        return process
    return None


def _reason(complaint: bytes) -> str:
    if b"ermission denied" in complaint or b"not permitted" in complaint:
        return "permission"
    return "missing" if b"No such" in complaint else "error"


def _parse(out: str, pattern: str) -> dict[str, str]:
    """Splits ``name=content`` blocks; a content may go over many lines and may itself contain ``=``."""
    found: dict[str, list[str]] = {}
    current: list[str] | None = None
    for line in out.splitlines(keepends=True):
        match = _NAME.fullmatch(line)
        if match and fnmatch.fnmatchcase(match[1], pattern):
            current = found[match[1]] = [match[2]] if match[2].strip() else []
        elif current is not None:
            current.append(line)
    return {name: "".join(lines) for name, lines in found.items()}

"""``lctl get_param``: the client's own tool, which knows where its release keeps a parameter."""

import fnmatch
import os
import re
import shutil
import signal
import subprocess
import time

from gpuscope.errors import SourceError

__all__ = ["Lctl"]

_PLACES = "/usr/sbin:/sbin:/usr/local/sbin"
_NAME = re.compile(r"([a-z]+(?:\.[^=\s]+)?)=(.*\n?)")


class Lctl:
    """Runs ``lctl``, never through a shell.

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

    def get(self, pattern: str) -> dict[str, str]:
        """Content of all parameters that match, by full name.

        The names are asked for, as with ``-n`` nobody could tell the instances apart.

        Raises:
            SourceError: the message is a reason: ``missing``, ``permission``, ``timeout`` or ``error``.
        """
        if time.monotonic() < self._paused_until:
            raise SourceError("timeout")
        program = shutil.which(self._program, path=f"{os.environ.get('PATH', '')}:{_PLACES}")
        if program is None:
            raise SourceError("missing")
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
            out, complaint = process.communicate(timeout=self._timeout_s)
        except subprocess.TimeoutExpired as error:
            self._paused_until = time.monotonic() + self._pause_s
            raise SourceError("timeout") from error
        finally:
            _end(process)
        if process.returncode != 0 and not out:
            raise SourceError(_reason(complaint))
        return out.decode("utf-8", "backslashreplace")


def _end(process: "subprocess.Popen[bytes]") -> None:
    if process.poll() is None:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            process.kill()
        process.wait(1.0)
    for pipe in (process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()


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

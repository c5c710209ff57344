"""Which of several collectors of one cluster counts; the others wait, so that sums do not double."""

import fcntl
import logging
import os
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from gpuscope.errors import ConfigError

__all__ = ["Election", "FileLock", "Together"]

log = logging.getLogger("gpuscope.collector")


class Election(Protocol):
    """One way to agree on a leader."""

    def hold(self) -> str:
        """Takes the lead or keeps it; called every two seconds, it raises nothing.

        Returns:
            Why another one leads, or why that cannot be known; empty for the leader.
        """

    def release(self) -> None:
        """Gives the lead to whoever waits for it."""


class FileLock:
    """A lock beside the state file: whoever shares the file shares the lock, and the kernel frees it with the process.

    Args:
        state_file: the state file, by whichever of its names: links are followed. The lock is ``<state file>.lock``.

    Raises:
        ConfigError: there can be no such file.
    """

    def __init__(self, state_file: Path) -> None:
        try:
            resolved = state_file.resolve()
            self._path = resolved.with_name(resolved.name + ".lock")
            self._file = self._open()
        except (OSError, RuntimeError) as error:
            reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
            raise ConfigError(f"--state-file {state_file}: no lock beside it: {reason}") from error
        self._held = False

    def hold(self) -> str:
        """Locks the file, unless another process has it.

        A lock on a file that was removed or replaced protects nothing, for the next one locks the new file: so that is
        noticed, and the new one is wanted.
        """
        try:
            if not self._there():
                if self._held:
                    log.warning("%s was removed or replaced: whether this collector leads is asked anew", self._path)
                self._held = False
                new = self._open()
                os.close(self._file)
                self._file = new
            if self._held:
                return ""
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return f"{self._path} is locked by {self._holder()}, which leads"
        except OSError as error:
            return f"{self._path} cannot be locked: {error.strerror}"
        if not self._there():  # it was replaced in between
            self.release()
            return f"{self._path} was replaced while it was locked"
        self._held = True
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, f"process {os.getpid()} on {socket.gethostname()}\n".encode(), 0)
        return ""

    def release(self) -> None:
        """Unlocks the file; it stays, for a lock on a file that is not there any more protects nothing."""
        fcntl.flock(self._file, fcntl.LOCK_UN)
        self._held = False

    def _open(self) -> int:
        return os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o640)

    def _there(self) -> bool:
        """Whether the file that is open is the one that has its name."""
        try:
            named = self._path.stat()
        except FileNotFoundError:
            return False
        own = os.fstat(self._file)
        return (named.st_dev, named.st_ino) == (own.st_dev, own.st_ino)

    def _holder(self) -> str:
        return os.pread(self._file, 200, 0).decode("utf-8", "replace").strip() or "another process"


class Together:
    """Leads when it leads in every election; with none it always does.

    Args:
        elections: taken in this order, and given back in the opposite one.
    """

    def __init__(self, elections: Sequence[Election]) -> None:
        self._elections = tuple(elections)

    def hold(self) -> str:
        """Takes one after the other; whoever does not get all of them keeps none of the later ones."""
        for index, election in enumerate(self._elections):
            reason = election.hold()
            if reason:
                for later in reversed(self._elections[index + 1 :]):
                    later.release()
                return reason
        return ""

    def release(self) -> None:
        """Gives all of them back."""
        for election in reversed(self._elections):
            election.release()

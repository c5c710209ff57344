"""Which of several collectors of one cluster counts; the others wait, so that sums do not double."""

import fcntl
import os
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from gpuscope.errors import ConfigError

__all__ = ["Election", "FileLock", "Together"]


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
        state_file: the state file; the lock is ``<state file>.lock``.

    Raises:
        ConfigError: there can be no such file.
    """

    def __init__(self, state_file: Path) -> None:
        self._path = state_file.with_name(state_file.name + ".lock")
        try:
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o640)
        except OSError as error:
            raise ConfigError(f"--state-file {state_file}: no lock beside it: {error.strerror}") from error
        self._held = False

    def hold(self) -> str:
        """Locks the file, unless another process has it."""
        if self._held:
            return ""
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return f"{self._path} is locked by {self._holder()}, which leads"
        except OSError as error:
            return f"{self._path} cannot be locked: {error.strerror}"
        self._held = True
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, f"process {os.getpid()} on {socket.gethostname()}\n".encode(), 0)
        return ""

    def release(self) -> None:
        """Unlocks the file; it stays, for a lock on a file that is not there any more protects nothing."""
        if self._held:
            fcntl.flock(self._file, fcntl.LOCK_UN)
        self._held = False

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

"""One agent for each state folder: two would overwrite each other's position in the kernel log."""

import contextlib
import errno
import fcntl
import os
from pathlib import Path

from gpuscope.errors import ConfigError

__all__ = ["StateLock"]


class StateLock:
    """Holds the folder until ``release``, or until the process ends, however it does.

    Args:
        folder: the state folder; ``None`` holds nothing. Nothing is written into it.

    Raises:
        ConfigError: another agent holds it.
    """

    def __init__(self, folder: Path | None) -> None:
        self._opened: int | None = None
        if folder is None:
            return
        # A file system that knows no locks, or a folder that has gone meanwhile, is no reason to refuse service.
        with contextlib.suppress(OSError):
            self._opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        if self._opened is None:
            return
        try:
            fcntl.flock(self._opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self.release()
            if error.errno in {errno.EWOULDBLOCK, errno.EACCES}:
                raise ConfigError(f"--state-dir: {folder}: another agent uses it") from error

    def release(self) -> None:
        """Lets the folder go; harmless a second time."""
        opened, self._opened = self._opened, None
        if opened is not None:
            os.close(opened)

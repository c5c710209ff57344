"""Reads /dev/kmsg: the kernel's ring of records, one a read, numbered without gaps."""

import errno
import os
import re
from pathlib import Path

from gpuscope.faults.cursor import Cursor

__all__ = ["RECORD", "KmsgDevice"]

RECORD = re.compile(r"^[0-9]{1,5},(?P<seq>[0-9]{1,20}),(?P<usec>[0-9]{1,18}),[^;]*;(?P<text>.*)$", re.DOTALL)
_READ = 1 << 16
_BATCH = 1000
_MAX_HELD = 1 << 18
_MAX_SKIP = 1_000_000


class KmsgDevice:
    """A reader of the device, or of a pipe with records of its format.

    It starts behind the record of ``cursor``. With the cursor of an earlier boot it starts at the first record of
    this boot, and without one it starts now: what is in the ring then belongs to a time before.

    Args:
        path: ``/dev/kmsg``.
        cursor: where the last reader stopped.
        boot_id: id of this boot; empty when unknown, and a cursor then holds for this process only.

    Attributes:
        lost: records that the kernel overwrote before they were read.

    Raises:
        OSError: the device cannot be opened; without CAP_SYSLOG most systems refuse it.
    """

    def __init__(self, path: Path, cursor: Cursor | None, boot_id: str) -> None:
        self._path = path
        self._boot_id = boot_id
        self._held = b""
        self._seq = -1
        self.lost = 0
        self._descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        if cursor is None or cursor.inode >= 0:
            try:
                self._skip()
            except OSError:
                self.close()
                raise
        elif cursor.boot_id == boot_id:
            self._seq = cursor.seq

    @property
    def cursor(self) -> Cursor:
        """Behind the last record that ``read`` returned."""
        return Cursor(str(self._path), boot_id=self._boot_id, seq=self._seq)

    def read(self) -> list[str]:
        """The next records, at most a thousand; empty when there is nothing new.

        Raises:
            OSError: the device failed.
        """
        found: list[str] = []
        for _ in range(_BATCH):
            data = self._next()
            if not data:
                break
            found += self._fresh(data)
        return found

    def close(self) -> None:
        """Closes the device."""
        os.close(self._descriptor)

    def _next(self) -> bytes:
        while True:
            try:
                return os.read(self._descriptor, _READ)
            except BlockingIOError:
                return b""
            except OSError as error:
                # The ring was overrun; the next read goes on behind the gap, which the numbers show.
                if error.errno != errno.EPIPE:
                    raise

    def _fresh(self, data: bytes) -> list[str]:
        *lines, self._held = (self._held + data).split(b"\n")
        if len(self._held) > _MAX_HELD:
            self._held = b""
        found = []
        for raw in lines:
            if raw.startswith(b" ") or not raw:
                continue  # SUBSYSTEM= and DEVICE= of the record before
            line = raw.decode(errors="replace")
            record = RECORD.match(line)
            if record:
                number = int(record["seq"])
                if number <= self._seq:
                    continue
                if self._seq >= 0:
                    self.lost += number - self._seq - 1
                self._seq = number
            found.append(line)
        return found

    def _skip(self) -> None:
        for _ in range(_MAX_SKIP):
            data = self._next()
            if not data:
                break
            self._fresh(data)
        self.lost = 0

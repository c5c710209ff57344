"""Follows a log file through rotation, truncation and half-written lines."""

import os
import zlib
from pathlib import Path
from typing import BinaryIO

from gpuscope.faults.cursor import Cursor

__all__ = ["LogFile"]

_CHUNK = 1 << 18
_MAX_LINE = 1 << 16
_HEAD = 256


class LogFile:
    """A reader of whole lines.

    It starts behind ``cursor``: in the same file, or in ``<name>.1`` when the file was rotated meanwhile, or at the
    beginning of a new one. Without a cursor it starts at the end.

    Args:
        path: the file.
        cursor: where the last reader stopped.

    Attributes:
        lost: always 0; a file loses nothing.

    Raises:
        OSError: the file cannot be opened.
    """

    def __init__(self, path: Path, cursor: Cursor | None) -> None:
        self._path = path
        self._rest = b""
        self._replaced = False
        self.lost = 0
        self._file: BinaryIO = path.open("rb")
        if cursor is None or cursor.inode < 0:
            self._file.seek(0, os.SEEK_END)
        elif not _resume(self._file, cursor):
            self._resume_rotated(cursor)
        self._head = self._first_bytes()

    @property
    def cursor(self) -> Cursor:
        """Behind the last line that ``read`` returned."""
        offset = self._file.tell() - len(self._rest)
        head = zlib.crc32(os.pread(self._file.fileno(), min(_HEAD, offset), 0))
        return Cursor(str(self._path), inode=os.fstat(self._file.fileno()).st_ino, offset=offset, head=head)

    def read(self) -> list[str]:
        """The next lines, of at most 256 KiB; empty when there is nothing new.

        Raises:
            OSError: the file failed, or is gone.
        """
        chunk = self._file.read(_CHUNK)
        if not chunk:
            return self._at_end()
        self._replaced = False
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        if len(self._rest) > _MAX_LINE:
            self._rest = b""
        return [line.decode(errors="replace") for line in lines]

    def close(self) -> None:
        """Closes the file."""
        self._file.close()

    def _at_end(self) -> list[str]:
        opened, named = os.fstat(self._file.fileno()), self._path.stat()
        if (opened.st_dev, opened.st_ino) != (named.st_dev, named.st_ino):
            # Who writes it may go on in the old file for a moment: one more look before it is left.
            if not self._replaced:
                self._replaced = True
                return []
            last = [self._rest.decode(errors="replace")] if self._rest else []
            self._switch(self._path.open("rb"))
            return last
        head = self._first_bytes()
        if named.st_size < self._file.tell() or not head.startswith(self._head):
            self._rest = b""
            self._file.seek(0)
        self._head = head
        return []

    def _switch(self, file: BinaryIO) -> None:
        self._file.close()
        self._file, self._rest, self._replaced = file, b"", False
        self._head = self._first_bytes()

    def _resume_rotated(self, cursor: Cursor) -> None:
        try:
            old = self._path.with_name(self._path.name + ".1").open("rb")
        except OSError:
            return
        if _resume(old, cursor):
            self._file.close()
            self._file, self._replaced = old, True
        else:
            old.close()

    def _first_bytes(self) -> bytes:
        return os.pread(self._file.fileno(), min(_HEAD, self._file.tell()), 0)


def _resume(file: BinaryIO, cursor: Cursor) -> bool:
    """Goes to the cursor if this is its file, else stays at the beginning."""
    known = os.fstat(file.fileno())
    if known.st_ino != cursor.inode or not 0 <= cursor.offset <= known.st_size:
        return False
    if zlib.crc32(os.pread(file.fileno(), min(_HEAD, cursor.offset), 0)) != cursor.head:
        return False
    file.seek(cursor.offset)
    return True

"""Small text files that other programs drop into a folder, read with bounds and without waiting."""

import os
import stat
from pathlib import Path

from gpuscope.attribution.problems import Problem

__all__ = ["Unusable", "list_names", "read_text"]

_MAX_ENTRIES = 4096
_MAX_BYTES = 1 << 16


class Unusable(Exception):
    """A file whose content is not taken, for a short ``reason``."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def list_names(folder: Path, problems: list[Problem]) -> list[str]:
    """Names in a folder, sorted; hidden ones are left out: they are being written, or locks.

    Raises:
        OSError: the folder cannot be read.
    """
    names = []
    with os.scandir(folder) as entries:
        for number, entry in enumerate(entries):
            if number == _MAX_ENTRIES:
                problems.append(Problem(str(folder), "too_many_files"))
                break
            if not entry.name.startswith("."):
                names.append(entry.name)
    return sorted(names)


def read_text(path: Path) -> str:
    """The content of a regular file of at most 64 KiB.

    Raises:
        Unusable: ``not_a_file``, ``too_large`` or ``binary``.
        OSError: it cannot be read, or is gone.
    """
    # O_NONBLOCK: opening a pipe without a writer would wait for ever.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise Unusable("not_a_file")
        with open(descriptor, "rb", closefd=False) as file:
            content: bytes | None = file.read(_MAX_BYTES + 1)
    finally:
        os.close(descriptor)
    if content is None:
        raise Unusable("not_a_file")  # something that looks like one, such as /proc/kmsg, and has nothing to read now
    if len(content) > _MAX_BYTES:
        raise Unusable("too_large")
    if b"\0" in content:
        raise Unusable("binary")
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise Unusable("binary") from None

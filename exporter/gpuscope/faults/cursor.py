"""Where reading the kernel log stopped, kept in a file, so that a restart neither loses nor repeats a fault."""

import json
import logging
from dataclasses import asdict, dataclass
from pathlib import Path

__all__ = ["Cursor", "CursorFile"]

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Cursor:
    """A position: ``boot_id`` and ``seq`` in /dev/kmsg, or ``inode``, ``offset`` and ``head`` in a file.

    ``seq`` is the last record that was read, -1 before the first. ``head`` is a checksum of the first bytes of the
    file (at most ``offset`` of them), which tells a file that was written anew.
    """

    path: str
    boot_id: str = ""
    seq: int = -1
    inode: int = -1
    offset: int = -1
    head: int = 0


class CursorFile:
    """A small JSON file with a cursor.

    Args:
        path: the file, or ``None`` to remember nothing.

    Attributes:
        unusable: a file was there but could not be understood.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.unusable = False
        self._complaint = ""

    def load(self, log_path: Path) -> Cursor | None:
        """The cursor of this log, or ``None``: no file, one for another log, or an unusable one (warned of)."""
        if self.path is None:
            return None
        try:
            raw = json.loads(self.path.read_text(encoding="utf-8"))
            cursor = _checked(raw)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError, RecursionError) as error:
            self.unusable = True
            log.warning("position in the kernel log, %s, is unusable; reading starts from now: %s", self.path, error)
            return None
        return cursor if cursor.path == str(log_path) else None

    def save(self, cursor: Cursor) -> bool:
        """Writes atomically; false when that failed, with one warning per cause."""
        if self.path is None:
            return True
        temporary = self.path.with_name(self.path.name + ".new")
        try:
            temporary.write_text(json.dumps(asdict(cursor)), encoding="utf-8")
            temporary.replace(self.path)
        except OSError as error:
            complaint = error.strerror or str(error)
            if complaint != self._complaint:
                log.warning("position in the kernel log cannot be saved to %s: %s", self.path, complaint)
            self._complaint = complaint
            return False
        self._complaint = ""
        return True


def _checked(raw: object) -> Cursor:
    if not isinstance(raw, dict):
        raise TypeError("not an object")
    cursor = Cursor(**raw)
    for name in ("path", "boot_id"):
        if not isinstance(getattr(cursor, name), str):
            raise TypeError(f"{name} is not a string")
    for name in ("seq", "inode", "offset", "head"):
        value = getattr(cursor, name)
        if type(value) is not int or value < -1:
            raise TypeError(f"{name} is not a whole number")
    return cursor

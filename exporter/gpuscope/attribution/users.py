"""Names of users, from the host's passwd file."""

import os
from pathlib import Path

__all__ = ["UserNames"]

_MAX_BYTES = 1 << 24


class UserNames:
    """User id -> name, read again when the file changes.

    Users of a directory service (LDAP, SSSD) do not stand in the file: they have their number, or the name that a job
    file tells.

    Args:
        passwd: for example ``/etc/passwd`` of the host, mounted read-only.
    """

    def __init__(self, passwd: Path = Path("/etc/passwd")) -> None:
        self._passwd = passwd
        self._read: tuple[int, int, int] | None = None
        self._names: dict[int, str] = {}

    def name(self, uid: int) -> str:
        """The user's name, else the number as text; it raises nothing."""
        try:
            status = os.stat(self._passwd)
            version = (status.st_ino, status.st_size, status.st_mtime_ns)
            if version != self._read:
                with self._passwd.open("rb") as file:
                    self._names = _parse(file.read(_MAX_BYTES))
                self._read = version
        except OSError:
            self._names, self._read = {}, None
        return self._names.get(uid, str(uid))


def _parse(content: bytes) -> dict[int, str]:
    names: dict[int, str] = {}
    for line in content.decode(errors="replace").splitlines():
        fields = line.split(":")
        # Some files have comments, and lines such as "+::::::" for a directory service.
        if len(fields) >= 4 and fields[0].isprintable() and fields[0] and fields[2].isascii() and fields[2].isdigit():
            names.setdefault(int(fields[2][:20]), fields[0])
    return names

"""Asking a mount for its capacity, which blocks for as long as its server is silent."""

import errno
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from gpuscope.filesystems.mountinfo import Mount, parse_mountinfo, reachable

__all__ = ["UNKNOWN", "Capacity", "Prober", "Statfs", "failure_reason"]

UNKNOWN = frozenset({"permission", "not_visible", "automount", "not_watched"})
"""Reasons that say nothing about the mount itself."""

_REASONS = {
    errno.ESTALE: "stale",
    errno.EACCES: "permission",
    errno.EPERM: "permission",
    errno.ENOTCONN: "disconnected",
    errno.ESHUTDOWN: "disconnected",
    errno.ECONNABORTED: "disconnected",
    errno.EIO: "io",
    errno.EREMOTEIO: "io",
    errno.EHOSTDOWN: "unreachable",
    errno.EHOSTUNREACH: "unreachable",
    errno.ENETUNREACH: "unreachable",
    errno.ENETDOWN: "unreachable",
    errno.ETIMEDOUT: "unreachable",
    errno.ECONNREFUSED: "unreachable",
    errno.ENOENT: "missing",
    errno.ENOTDIR: "missing",
}


@dataclass(frozen=True, slots=True)
class Capacity:
    """What statfs tells: bytes and inodes; ``files`` is 0 where the file system has no fixed number."""

    size: int
    free: int
    available: int
    files: int
    files_free: int


class Prober(Protocol):
    """How mounts are asked; the simulator has one of its own."""

    def see(self, mounts: Iterable[Mount]) -> Mapping[bytes, bytes | None]:
        """For each mount point the path at which this process sees that file system, ``None`` where it does not.

        Never blocks on a mount.

        Raises:
            OSError: nobody can tell.
        """

    def ask(self, path: bytes) -> Capacity:
        """Asks the file system at ``path``; may block for ever.

        Raises:
            OSError: what the system call returned.
        """


class Statfs:
    """The real prober: statvfs(3), in this process' own mount namespace.

    Args:
        rootfs: where the host's root is mounted in this process' namespace.
        own: this process' table of mounts. A mount of the host counts as visible only where this table has the same
            superblock: else statfs would answer for the directory below the mount point.
    """

    def __init__(self, rootfs: Path = Path("/"), own: Path = Path("/proc/self/mountinfo")) -> None:
        self._rootfs = os.fsencode(rootfs).rstrip(b"/")
        self._own = own

    def see(self, mounts: Iterable[Mount]) -> Mapping[bytes, bytes | None]:
        """The same mount point below ``rootfs`` if that is the same file system, else wherever it is mounted."""
        own = parse_mountinfo(self._own.read_bytes(), lambda _: None)
        top = {path: mount.device for path, mount in reachable(own).items()}
        anywhere: dict[str, bytes] = {}
        for path, device in top.items():
            anywhere.setdefault(device, path)
        seen: dict[bytes, bytes | None] = {}
        for mount in mounts:
            path = self._rootfs + mount.mountpoint
            seen[mount.mountpoint] = path if top.get(path) == mount.device else anywhere.get(mount.device)
        return seen

    def ask(self, path: bytes) -> Capacity:
        """One call of statvfs(3); the interpreter's lock is free meanwhile."""
        answer = os.statvfs(path)
        unit = answer.f_frsize or answer.f_bsize
        return Capacity(
            answer.f_blocks * unit, answer.f_bfree * unit, answer.f_bavail * unit, answer.f_files, answer.f_ffree
        )


def failure_reason(error: OSError) -> str:
    """The word for a label: ``stale``, ``disconnected``, ``unreachable``, ``io``, ``permission``, ``missing`` …"""
    return _REASONS.get(error.errno or 0, "error")

"""Which mounts are watched: each file system once, pseudo file systems never."""

import re
from collections.abc import Container, Iterable
from dataclasses import dataclass, field

from gpuscope.config.settings import DEFAULT_SCRATCH, DEFAULT_TYPES
from gpuscope.filesystems.mountinfo import Mount, reachable, text

__all__ = ["Selection"]

_LOCAL = frozenset({"ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "f2fs", "bcachefs", "jfs"})
_PSEUDO = frozenset(
    {
        "autofs", "binder", "binfmt_misc", "bpf", "cgroup", "cgroup2", "configfs", "debugfs", "devpts", "devtmpfs",
        "efivarfs", "erofs", "fuse.lxcfs", "fusectl", "hugetlbfs", "iso9660", "mqueue", "nsfs", "overlay", "proc",
        "pstore", "ramfs", "rootfs", "rpc_pipefs", "securityfs", "selinuxfs", "squashfs", "sysfs", "tmpfs", "tracefs",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Selection:
    """Rules that pick mounts.

    Attributes:
        types: file system types that are watched wherever they are mounted.
        scratch: mount points at which a local file system is watched.
        exclude: mount points that are not watched.
        expected: raw mount points that are always watched, whatever their type.
    """

    types: re.Pattern[str] = re.compile(DEFAULT_TYPES)
    scratch: re.Pattern[str] = re.compile(DEFAULT_SCRATCH)
    exclude: re.Pattern[str] = re.compile("")
    expected: frozenset[bytes] = field(default_factory=frozenset)

    def pick(self, mounts: Iterable[Mount]) -> tuple[Mount, ...]:
        """The mounts to watch: those that are expected, then the others, each in the kernel's order.

        What another mount covers is left out, and of bind mounts of one file system all but the one that users most
        likely know: the whole file system, and the shortest path.
        """
        wanted = [mount for mount in reachable(mounts).values() if self._wants(mount)]
        first: dict[tuple[str, bytes], Mount] = {}
        sources = {(mount.device, mount.source) for mount in wanted}
        for mount in wanted:
            key = (mount.device, _whole(mount, sources))
            if key not in first or _rank(mount) < _rank(first[key]):
                first[key] = mount
        kept = {mount.mountpoint for mount in first.values()} | self.expected
        found = [mount for mount in wanted if mount.mountpoint in kept]
        return tuple(sorted(found, key=lambda mount: mount.mountpoint not in self.expected))

    def _wants(self, mount: Mount) -> bool:
        if mount.mountpoint in self.expected:
            return True
        path = text(mount.mountpoint)
        if mount.type in _PSEUDO or self.exclude.fullmatch(path):
            return False
        local = mount.type in _LOCAL and self.scratch.fullmatch(path) is not None
        return local or self.types.fullmatch(mount.type) is not None


def _whole(mount: Mount, sources: Container[tuple[str, bytes]]) -> bytes:
    """Source of the file system of which a mount is a part.

    NFS adds the folder to the source: a bind mount of ``sub`` in ``nas:/data`` reads ``nas:/data/sub``.
    """
    if mount.root != b"/" and mount.source.endswith(mount.root):
        export = mount.source.removesuffix(mount.root)
        for source in (export, export + b"/"):
            if (mount.device, source) in sources:
                return source
    return mount.source


def _rank(mount: Mount) -> tuple[int, int, bytes]:
    return (len(mount.root), len(mount.mountpoint), mount.mountpoint)

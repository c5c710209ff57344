"""The kernel's table of mounts, ``/proc/<pid>/mountinfo``; the format is in proc_pid_mountinfo(5)."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Mount", "mount_table", "parse_mountinfo", "reachable", "text", "unescape"]

_OCTAL = re.compile(rb"\\([0-7]{3})")
_DEVICE = re.compile(rb"\d+:\d+")
_NUMBER = re.compile(rb"\d{1,20}")


@dataclass(frozen=True, slots=True)
class Mount:
    """One line of the table.

    Attributes:
        device: major and minor number of the superblock, the same in every mount namespace.
        root: directory of the file system that is mounted; ``/`` unless it is a bind mount or a subvolume.
        mountpoint: raw path, without escapes.
        options: options of the mount and of the superblock, each once.
        type: file system type.
        source: what is mounted: a device, ``server:/export``, ``10.0.0.1@tcp:/lustre01``.
        number: of the mount.
        parent: number of the mount on which it is mounted.
    """

    device: str
    root: bytes
    mountpoint: bytes
    options: tuple[str, ...]
    type: str
    source: bytes
    number: int = 0
    parent: int = 0

    @property
    def read_only(self) -> bool:
        """Whether the mount or the superblock is read-only."""
        return "ro" in self.options


def text(raw: bytes) -> str:
    """A raw path as a label: what is not UTF-8 is shown as ``\\xNN``."""
    return raw.decode("utf-8", "backslashreplace")


def unescape(raw: bytes) -> bytes:
    """Undoes the kernel's octal escapes: ``\\040`` is a space."""
    return _OCTAL.sub(lambda match: bytes((int(match[1], 8) & 0xFF,)), raw)


def parse_mountinfo(content: bytes, bad: Callable[[str], None]) -> tuple[Mount, ...]:
    """All mounts, in the kernel's order: of two at one mount point the later covers the earlier.

    Args:
        content: the file.
        bad: called with ``garbage`` or ``truncated`` for each line that is none.
    """
    found = []
    lines = content.split(b"\n")
    for place, line in enumerate(lines):
        if not line:
            continue
        mount = None if place == len(lines) - 1 else _parse(line)
        if mount is None:
            # Every line of the kernel ends in a newline: one that does not was cut off.
            bad("truncated" if place == len(lines) - 1 else "garbage")
        else:
            found.append(mount)
    return tuple(found)


def _parse(line: bytes) -> Mount | None:
    fields = line.split(b" ")
    try:
        separator = fields.index(b"-", 6)
        number, parent, device, root, mountpoint, options = fields[:6]
        kind, source, more = fields[separator + 1 : separator + 4]
    except ValueError:
        return None
    if not _NUMBER.fullmatch(number) or not _NUMBER.fullmatch(parent):
        return None
    if not _DEVICE.fullmatch(device) or not mountpoint.startswith(b"/") or not kind:
        return None
    words = dict.fromkeys(text(unescape(word)) for word in options.split(b",") + more.split(b","))
    return Mount(
        device.decode("ascii"),
        unescape(root),
        unescape(mountpoint),
        tuple(words),
        text(unescape(kind)),
        unescape(source),
        int(number),
        int(parent),
    )


def reachable(mounts: Iterable[Mount]) -> dict[bytes, Mount]:
    """The mounts to which their path leads, by mount point.

    Another mount at the same place covers a mount, and so does one that came later to a folder above it: at
    ``/data/sub`` there is then what the later ``/data`` has there, which is another file system or nothing.
    """
    table = tuple(mounts)
    places = {(mount.parent, mount.mountpoint) for mount in table if mount.parent != mount.number}
    hidden = {mount.number for mount in table if any((mount.parent, above) in places for above in _above(mount))}
    parents = {mount.number: mount.parent for mount in table}

    def covered(number: int) -> bool:
        passed = set()
        while number in parents and number not in passed:
            if number in hidden:
                return True
            passed.add(number)
            number = parents[number]
        return False

    return {mount.mountpoint: mount for mount in table if not covered(mount.number)}


def _above(mount: Mount) -> Iterable[bytes]:
    path = mount.mountpoint.rstrip(b"/")
    while path:
        path = path.rpartition(b"/")[0]
        yield path or b"/"


def mount_table(procfs: Path, name: str) -> bytes:
    """Reads ``mountinfo`` or ``mountstats`` of the first process, else of this one.

    With the host's /proc below ``procfs`` the first process has the host's mounts. Where /proc hides other
    processes (``hidepid``), or a file is for its owner only, this process stands in for it.

    Raises:
        OSError: neither can be read; the error is that of the first.
    """
    try:
        return (procfs / "1" / name).read_bytes()
    except OSError as error:
        try:
            return (procfs / "self" / name).read_bytes()
        except OSError:
            raise error from None

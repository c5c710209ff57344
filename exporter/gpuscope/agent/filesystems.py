"""The sources of file systems, put together from the settings."""

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from gpuscope.agent.check import FILESYSTEM_PATTERNS
from gpuscope.agent.machine import Machine
from gpuscope.config import Settings
from gpuscope.filesystems.lustre.lctl import Lctl
from gpuscope.filesystems.lustre.source import LustreSource
from gpuscope.filesystems.mountinfo import Mount
from gpuscope.filesystems.selection import Selection
from gpuscope.filesystems.source import FilesystemSource
from gpuscope.filesystems.statfs import Capacity, Prober, Statfs
from gpuscope.simulate import SimulatedFilesystems

__all__ = ["filesystem_sources"]


def filesystem_sources(settings: Settings, machine: Machine) -> tuple[FilesystemSource, LustreSource]:
    """The sources of the collectors ``filesystem`` and ``lustre``."""
    types, scratch, exclude = (re.compile(settings[key]) for key in FILESYSTEM_PATTERNS)
    expected = frozenset(os.fsencode(_plain(path)) for path in settings["filesystem.expected"])
    selection = Selection(types, scratch, exclude, expected)
    interval_s = settings["interval.filesystem"]
    prober: Prober = Statfs(Path(settings["path.rootfs"]))
    if machine.filesystems is not None:
        prober = _Simulated(machine.filesystems)
    mounts = FilesystemSource(
        machine.procfs, selection, timeout_s=settings["filesystem.timeout"], interval_s=interval_s, prober=prober
    )
    wanted = settings["lustre.lctl"]
    lctl = None if wanted == "off" or machine.filesystems is not None else Lctl("lctl" if wanted == "auto" else wanted)
    client = LustreSource(
        machine.procfs,
        machine.sysfs,
        selection,
        lctl=lctl,
        targets=settings["lustre.targets"],
        interval_s=interval_s,
    )
    return mounts, client


def _plain(path: str) -> str:
    """The path as the kernel's table of mounts has it."""
    return os.path.normpath("/" + path.lstrip("/"))


class _Simulated:
    """A simulated machine's mounts, asked as real ones are."""

    def __init__(self, filesystems: SimulatedFilesystems) -> None:
        self._filesystems = filesystems

    def see(self, mounts: Iterable[Mount]) -> Mapping[bytes, bytes | None]:
        return self._filesystems.see(mount.mountpoint for mount in mounts)

    def ask(self, path: bytes) -> Capacity:
        return Capacity(*self._filesystems.ask(path))

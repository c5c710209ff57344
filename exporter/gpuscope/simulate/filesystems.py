"""File systems of a simulated machine: a Lustre and an NFS client whose counters move with the jobs' load."""

import logging
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gpuscope.simulate.lustre_files import Traffic, lnet_stats, target_files, write_llite
from gpuscope.simulate.mounts import FilesystemPlan
from gpuscope.simulate.node import Node

__all__ = ["SimulatedFilesystems"]

log = logging.getLogger(__name__)

_INTERVAL_S = 2.0
_POLL_S = 0.2
_SIZES = {"lustre": 1200 << 40, "nfs4": 80 << 40, "xfs": 14 << 40}
_FULL = {"lustre": 0.61, "nfs4": 0.43, "xfs": 0.18}
_ROOT = "21 1 259:1 / / rw,relatime shared:1 - ext4 /dev/nvme0n1p1 rw\n"
_READ_SHARE, _WRITE_SHARE, _STEADY_WRITE = 0.2, 0.3, 1.5e9


@dataclass(slots=True)
class _Mount:
    plan: FilesystemPlan
    number: int
    traffic: Traffic = field(default_factory=Traffic)

    @property
    def source(self) -> str:
        return f"10.0.0.11@tcp:10.0.0.12@tcp:/{self.plan.name}" if self.plan.type == "lustre" else self.plan.name

    def line(self) -> str:
        mode = "ro" if self.plan.read_only else "rw"
        more = {
            "lustre": "flock,user_xattr,lazystatfs",
            "nfs4": "vers=4.2,rsize=1048576,wsize=1048576,hard,proto=tcp,nconnect=8,timeo=600,retrans=2,sec=sys",
            "xfs": "attr2,inode64,noquota",
        }[self.plan.type]
        place = f"{40 + self.number} 21 0:{50 + self.number} / {self.plan.mountpoint} {mode},noatime"
        return f"{place} shared:{20 + self.number} - {self.plan.type} {self.source} {mode},{more}\n"


class SimulatedFilesystems:
    """Keeps a tree of proc and sysfs files up to date, in a thread of its own, and answers for the mounts in it.

    Training reads all the time, and writes a checkpoint now and then: both follow from the GPUs' PCIe traffic.

    Args:
        node: the machine whose load is followed.
        procfs: root of its proc file system.
        sysfs: root of its sysfs.

    Raises:
        OSError: the files cannot be written.
    """

    def __init__(self, node: Node, procfs: Path, sysfs: Path) -> None:
        self._node = node
        self._procfs = procfs
        self._sysfs = sysfs
        self._mounts = [_Mount(plan, number) for number, plan in enumerate(node.scenario.filesystems)]
        self._written: dict[Path, str] = {}
        self._seen: dict[int, tuple[float, float]] = {}
        self._at = node.clock.now()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="simulated filesystems", daemon=True)
        mounts = "".join(mount.line() for mount in self._mounts)
        self._write(procfs / "1/mountinfo", _ROOT + mounts)
        self.update()

    def start(self) -> None:
        """Starts the thread."""
        if self._mounts:
            self._thread.start()

    def close(self) -> None:
        """Ends the thread and lets every call that hangs go."""
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join(0.5)

    def see(self, mountpoints: Iterable[bytes]) -> Mapping[bytes, bytes | None]:
        """Where a process sees the mounts: each at its mount point."""
        return {mountpoint: mountpoint for mountpoint in mountpoints}

    def ask(self, path: bytes) -> tuple[int, int, int, int, int]:
        """Size, free and available bytes, inodes and free inodes; blocks while the mount hangs.

        Raises:
            FileNotFoundError: nothing is mounted there.
        """
        mount = next((one for one in self._mounts if one.plan.mountpoint.encode() == path), None)
        if mount is None:
            raise FileNotFoundError(2, "No such file or directory")
        while mount.plan.mountpoint in self._node.hanging_mounts and not self._stop.wait(_POLL_S):
            self._node.tick()
        size = _SIZES[mount.plan.type]
        free = max(0, int(size * (1 - _FULL[mount.plan.type])) - int(mount.traffic.written))
        files = size >> 16
        return size, free, free - size // 100 if free > size // 100 else 0, files, int(files * 0.7)

    def update(self) -> None:
        """Moves the counters on to now and writes the files."""
        self._node.tick()
        now = self._node.clock.now()
        seconds, self._at = max(0.0, now - self._at), now
        read, written = self._flow(now, seconds)
        lustre = [mount for mount in self._mounts if mount.plan.type == "lustre"]
        for mount in self._mounts:
            idle = mount.plan.mountpoint in self._node.hanging_mounts
            share = 1 / len(lustre) if mount in lustre else 0.002
            if not idle:
                mount.traffic.add(read * share, 0.0 if mount.plan.read_only else written * share, seconds)
        for mount in lustre:
            write_llite(self._sysfs, mount.plan.name, mount.number, mount.traffic, now)
            for path, content in target_files(mount.plan.name, mount.plan.targets, mount.number, mount.traffic, now):
                self._write(self._procfs / "fs/lustre" / path, content)
        if lustre:
            self._write(self._sysfs / "fs/lustre/version", "2.15.5\n")
            self._write(self._sysfs / "kernel/debug/lnet/stats", lnet_stats([mount.traffic for mount in lustre]))
        nfs = [mount for mount in self._mounts if mount.plan.type == "nfs4"]
        if nfs:
            self._write(self._procfs / "1/mountstats", "".join(_mountstats(mount) for mount in nfs))

    def _flow(self, now: float, seconds: float) -> tuple[float, float]:
        """Bytes that the jobs have read and written since the last look."""
        read = written = 0.0
        for gpu in self._node.gpus:
            with gpu.lock:
                gpu.advance(now)
                tx, rx = gpu.pcie["tx"], gpu.pcie["rx"]
            before = self._seen.get(gpu.index, (tx, rx))
            self._seen[gpu.index] = (tx, rx)
            read += max(0.0, rx - before[1]) * _READ_SHARE
            written += max(0.0, tx - before[0] - _STEADY_WRITE * seconds) * _WRITE_SHARE
        return read, written

    def _write(self, path: Path, content: str) -> None:
        """Writes a file that has changed as a whole, so that a reader never finds half of one."""
        before = self._written.get(path)
        if before == content:
            return
        if before is None:
            path.parent.mkdir(parents=True, exist_ok=True)
        self._written[path] = content
        fresh = path.with_name(f".{path.name}")
        fresh.write_text(content, encoding="utf-8")
        fresh.replace(path)

    def _run(self) -> None:
        while not self._stop.wait(_INTERVAL_S):
            try:
                self.update()
            except OSError as error:
                log.warning("simulated file systems: %s", error)


def _mountstats(mount: _Mount) -> str:
    traffic = mount.traffic
    read, written = int(traffic.read), int(traffic.written)
    reads, writes = int(traffic.reads), int(traffic.writes)
    return (
        f"device {mount.source} mounted on {mount.plan.mountpoint} with fstype nfs4 statvers=1.1\n"
        f"\tage:\t{int(traffic.seconds)}\n"
        f"\tbytes:\t{read} {written} 0 0 {read} {written} {read >> 12} {written >> 12}\n"
        "\tRPC iostats version: 1.1  p/v: 100003/4 (nfs)\n"
        "\tper-op statistics\n"
        f"\t        READ: {reads} {reads} 0 {reads * 160} {read} {reads} {reads * 2} {reads * 3} 0\n"
        f"\t       WRITE: {writes} {writes} 0 {written} {writes * 160} {writes} {writes * 4} {writes * 5} 0\n\n"
    )

"""The node source of mounts: finds them, watches each, and adds what the NFS client counts.

Output::

    gpuscope_filesystem_up{filesystem="lustre01",mountpoint="/lustre01"} 1
    gpuscope_filesystem_available_bytes{filesystem="lustre01",mountpoint="/lustre01"} 5.2e+14
"""

import logging
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path

from gpuscope.catalogue import filesystem as m
from gpuscope.catalogue.metric import Metric, Sample
from gpuscope.errors import SourceError
from gpuscope.filesystems.cycle import Cycle
from gpuscope.filesystems.identity import filesystem_name, telling_options
from gpuscope.filesystems.mountinfo import Mount, mount_table, parse_mountinfo, text
from gpuscope.filesystems.mountstats import NfsStats, parse_mountstats
from gpuscope.filesystems.selection import Selection
from gpuscope.filesystems.statfs import UNKNOWN, Prober, Statfs, failure_reason
from gpuscope.filesystems.troubles import Troubles
from gpuscope.filesystems.watch import MountState, MountWatch

__all__ = ["FilesystemSource"]

log = logging.getLogger(__name__)

_MAX_MOUNTS = 128
_MAX_HANGING = 64
_NFS = frozenset({"nfs", "nfs4"})

_Labels = tuple[str, str]


class FilesystemSource:
    """Watches the mounts of this machine.

    Args:
        procfs: root of the host's proc file system.
        selection: which mounts are watched.
        timeout_s: time within which a mount has to answer.
        interval_s: seconds between two looks at the table of mounts, and between two calls of a mount.
        prober: asks the mounts; statvfs(3) by default.

    Attributes:
        name: of the collector.
    """

    name = "filesystem"

    def __init__(
        self,
        procfs: Path = Path("/proc"),
        selection: Selection | None = None,
        *,
        timeout_s: float = 5.0,
        interval_s: float = 15.0,
        prober: Prober | None = None,
    ) -> None:
        self._procfs = procfs
        self._selection = selection or Selection()
        self._timeout_s = timeout_s
        self._interval_s = interval_s
        self._prober = prober or Statfs()
        self._troubles = Troubles("file systems")
        self._watched: tuple[tuple[Mount, _Labels, MountWatch | str], ...] = ()
        self._known: dict[bytes, str] = {}
        self._hanging: list[MountWatch] = []
        self._cycle = Cycle(self.name, self.scan, interval_s, stale_s=30.0)

    def start(self) -> None:
        """Starts the thread that looks at the table of mounts."""
        self._cycle.start()

    def stop(self) -> None:
        """Ends it; a call that hangs keeps its thread, which ends with the process."""
        self._cycle.stop()
        for _, _, watch in self._watched:
            if isinstance(watch, MountWatch):
                watch.ask_stop()

    def samples(self) -> tuple[Sample, ...]:
        """What is known now, from memory."""
        found: list[Sample] = []
        for mount, labels, watch in self._watched:
            state = watch.state() if isinstance(watch, MountWatch) else MountState(up=False, reason=watch)
            found += _mount_samples(mount, labels, state)
            failures = dict(watch.failures) if isinstance(watch, MountWatch) else {}
            found += (Sample(m.STATFS_FAILURES, (*labels, why), float(n)) for why, n in sorted(failures.items()))
        return (*found, *self._cycle.samples(), *self._troubles.samples(m.SOURCE_FAILURES))

    def scan(self) -> tuple[Sample, ...]:
        """Looks at the table of mounts once, watches what is new, and reads what the NFS client counts.

        Raises:
            SourceError: there is no table; nothing is known of any mount, nor of one that is expected.
        """
        try:
            table = parse_mountinfo(mount_table(self._procfs, "mountinfo"), partial(self._troubles.note, "mountinfo"))
        except OSError as error:
            self._unreadable("mountinfo", error)
            self._watch((), {})
            self._troubles.end_cycle()
            raise SourceError("mountinfo") from error
        mounts = self._selection.pick(table)
        if len(mounts) > _MAX_MOUNTS:
            self._troubles.note("mountinfo", "too_many")
            mounts = mounts[:_MAX_MOUNTS]
        try:
            seen: Mapping[bytes, bytes | None] = self._prober.see(mounts)
        except OSError as error:
            self._unreadable("own_mountinfo", error)
            seen = {}
        self._watch(mounts, seen)
        samples = (*self._missing(mounts), *self._nfs_samples(mounts))
        self._troubles.end_cycle()
        return samples

    def _unreadable(self, param: str, error: OSError) -> None:
        reason = failure_reason(error)
        self._troubles.note(param, reason if reason in {"permission", "missing"} else "io")

    def _watch(self, mounts: Iterable[Mount], seen: Mapping[bytes, bytes | None]) -> None:
        before = {
            (mount.device, mount.mountpoint, watch.path): watch
            for mount, _, watch in self._watched
            if isinstance(watch, MountWatch)
        }
        self._hanging = [watch for watch in self._hanging if watch.alive]
        watched: list[tuple[Mount, _Labels, MountWatch | str]] = []
        taken: set[_Labels] = set()
        for mount in mounts:
            labels = (filesystem_name(mount), text(mount.mountpoint))
            if labels in taken:  # two raw paths that read the same
                continue
            taken.add(labels)
            if mount.mountpoint in self._selection.expected:
                self._known[mount.mountpoint] = labels[0]
            path = seen.get(mount.mountpoint)
            watch: MountWatch | str = "not_visible"
            if mount.type == "autofs":
                watch = "automount"  # asking it would mount it
            elif path is not None:
                earlier = before.pop((mount.device, mount.mountpoint, path), None)
                watch = earlier or self._start(path)
            watched.append((mount, labels, watch))
        self._watched = tuple(watched)
        for gone in before.values():
            gone.ask_stop()
            self._hanging.append(gone)

    def _start(self, path: bytes) -> MountWatch | str:
        # A mount that hangs, goes and comes back leaves a thread behind each time: that has to have an end.
        if len(self._hanging) >= _MAX_HANGING:
            return "not_watched"
        watch = MountWatch(path, self._prober.ask, self._timeout_s, self._interval_s)
        try:
            watch.start()
        except RuntimeError as error:  # a limit of threads or of processes, as that of a pod
            log.warning("%s is not watched: %s", text(path), error)
            return "not_watched"
        return watch

    def _missing(self, mounts: Iterable[Mount]) -> list[Sample]:
        there = {mount.mountpoint for mount in mounts}
        found = []
        for mountpoint in sorted(self._selection.expected - there):
            labels = (self._known.get(mountpoint, ""), text(mountpoint))
            found += [Sample(m.UP, labels, 0.0), Sample(m.FAILURE_INFO, (*labels, "missing"), 1.0)]
        return found

    def _nfs_samples(self, mounts: Iterable[Mount]) -> list[Sample]:
        nfs = [mount for mount in mounts if mount.type in _NFS]
        if not nfs:
            return []
        try:
            content = mount_table(self._procfs, "mountstats")
        except OSError as error:
            self._unreadable("mountstats", error)
            return []
        stats = parse_mountstats(content, partial(self._troubles.note, "mountstats"))
        found: list[Sample] = []
        told: set[str] = set()
        for mount in nfs:
            # The kernel counts by superblock: mounts of one, even of two exports, have the same numbers.
            if mount.mountpoint in stats and mount.device not in told:
                told.add(mount.device)
                found += _nfs_mount((filesystem_name(mount), text(mount.mountpoint)), stats[mount.mountpoint])
        return found


def _mount_samples(mount: Mount, labels: _Labels, state: MountState) -> list[Sample]:
    facts = (*labels, mount.type, text(mount.source), telling_options(mount))
    found = [Sample(m.INFO, facts, 1.0), Sample(m.READ_ONLY, labels, float(mount.read_only))]
    if state.reason:
        found.append(Sample(m.FAILURE_INFO, (*labels, state.reason), 1.0))
    if state.up is not None and state.reason not in UNKNOWN:
        found.append(Sample(m.UP, labels, float(state.up)))
    if state.up and state.capacity is not None:
        capacity = state.capacity
        found.append(Sample(m.STATFS_DURATION, labels, state.seconds))
        found += _levels(labels, ((m.SIZE, capacity.size), (m.FREE, capacity.free), (m.AVAILABLE, capacity.available)))
        found += _levels(labels, ((m.FILES, capacity.files), (m.FILES_FREE, capacity.files_free)))
    return found


def _levels(labels: _Labels, values: tuple[tuple[Metric, int], ...]) -> list[Sample]:
    """A total and its parts. Without a total nothing is known; a part above it is no number but an underflow."""
    total = values[0][1]
    return [Sample(metric, labels, float(value)) for metric, value in values if total > 0 and 0 <= value <= total]


def _nfs_mount(labels: _Labels, stats: NfsStats) -> list[Sample]:
    found = [
        Sample(metric, labels, float(value))
        for metric, value in ((m.READ_BYTES, stats.read_bytes), (m.WRITE_BYTES, stats.write_bytes))
        if value is not None
    ]
    for name, operation in stats.operations.items():
        if operation.count:
            found.append(Sample(m.OPERATIONS, (*labels, name), float(operation.count)))
            found.append(Sample(m.OPERATION_SECONDS, (*labels, name), operation.seconds))
    if stats.operations:
        again = sum(max(0, one.transmissions - one.count) for one in stats.operations.values())
        found.append(Sample(m.RETRANSMISSIONS, labels, float(again)))
        found.append(Sample(m.TIMEOUTS, labels, float(sum(one.timeouts for one in stats.operations.values()))))
    return found

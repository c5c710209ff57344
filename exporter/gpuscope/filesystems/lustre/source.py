"""The node source of the Lustre client.

Output::

    gpuscope_filesystem_read_bytes_total{filesystem="lustre01",mountpoint="/lustre01"} 1496254921055
    gpuscope_lustre_source_available{param="llite_stats",source="debugfs"} 1
"""

import logging
from collections import defaultdict
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from gpuscope.catalogue import lustre as m
from gpuscope.catalogue.metric import Sample
from gpuscope.filesystems.cycle import Cycle
from gpuscope.filesystems.lustre.lctl import Lctl
from gpuscope.filesystems.lustre.llite import Llite, instance_labels
from gpuscope.filesystems.lustre.params import (
    IMPORT,
    LLITE_STATS,
    LNET_STATS,
    PARAMS,
    READ_AHEAD_STATS,
    RPC_STATS,
    STATE,
    Found,
    Param,
    Tree,
)
from gpuscope.filesystems.lustre.stats import parse_lnet
from gpuscope.filesystems.lustre.targets import Targets
from gpuscope.filesystems.mountinfo import Mount, mount_table, parse_mountinfo
from gpuscope.filesystems.selection import Selection
from gpuscope.filesystems.troubles import Troubles

__all__ = ["LustreSource"]

log = logging.getLogger(__name__)

_DIRECTIONS = ("send", "receive", "route", "drop")
_FIRST_COUNT, _FIRST_LENGTH, _ERRORS = 3, 7, 2


class LustreSource:
    """Reads what the Lustre client counts; publishes nothing on a machine without one.

    Args:
        procfs: root of the host's proc file system.
        sysfs: root of the host's sysfs.
        selection: which mounts are watched; it decides the mount points of instances.
        lctl: the command for what is in no file, or ``None``.
        targets: whether each target has series of its own, or the file system has their sums.
        interval_s: seconds between two readings.

    Attributes:
        name: of the collector.
    """

    name = "lustre"

    def __init__(
        self,
        procfs: Path = Path("/proc"),
        sysfs: Path = Path("/sys"),
        selection: Selection | None = None,
        *,
        lctl: Lctl | None = None,
        targets: bool = True,
        interval_s: float = 15.0,
    ) -> None:
        self._procfs = procfs
        self._selection = selection or Selection()
        self._lctl = lctl
        self._troubles = Troubles("Lustre")
        self._tree = Tree(procfs, sysfs, lctl, self._troubles.note)
        self._llite = Llite()
        self._targets = Targets(apart=targets)
        self._told: dict[str, str] = {}
        self._cycle = Cycle(self.name, self.read, interval_s, stale_s=15.0)

    def start(self) -> None:
        """Starts the thread that reads."""
        self._cycle.start()

    def stop(self) -> None:
        """Ends it, and a command that it waits for."""
        if self._lctl is not None:
            self._lctl.close()
        self._cycle.stop()

    def samples(self) -> tuple[Sample, ...]:
        """What was read last, from memory."""
        return self._cycle.samples()

    def read(self) -> tuple[Sample, ...]:
        """Reads everything once."""
        mounts = self._mounts()
        if not mounts and not self._tree.present():
            return ()
        found = {param: self._tree.find(param) for param in PARAMS}
        self._tell(found if mounts else {})
        version = self._tree.version()
        samples = [Sample(m.CLIENT_INFO, (version,), 1.0)] if version else []
        for param, answer in found.items():
            samples += _availability(param, answer)
        for param in (LLITE_STATS, READ_AHEAD_STATS):
            texts = found[param].texts
            labels = instance_labels(texts, mounts)
            turn = self._llite.stats if param is LLITE_STATS else self._llite.read_ahead
            samples += turn(texts, labels, partial(self._troubles.note, param.name))
        for param, read in (
            (RPC_STATS, self._targets.rpc_stats),
            (IMPORT, self._targets.imports),
            (STATE, self._targets.states),
        ):
            samples += read(found[param].texts, partial(self._troubles.note, param.name))
        samples += self._lnet(found[LNET_STATS])
        self._troubles.end_cycle()
        return (*samples, *self._troubles.samples(m.SOURCE_FAILURES))

    def _tell(self, found: Mapping[Param, Found]) -> None:
        """Logs what of a mounted file system can be read nowhere, and why, when that changes."""
        nowhere = {
            param.name: ", ".join(f"{source} {reason}" for source, reason in answer.refused.items())
            for param, answer in found.items()
            if not answer.source
        }
        news = defaultdict(list)
        for name, why in nowhere.items():
            if self._told.get(name) != why:
                news[why].append(name)
        for why, names in news.items():
            log.warning("Lustre: cannot be read: %s (%s)", ", ".join(names), why)
        readable = [param.name for param in found if param.name in self._told and param.name not in nowhere]
        if readable:
            log.info("Lustre: can be read again: %s", ", ".join(readable))
        self._told = nowhere

    def _mounts(self) -> list[Mount]:
        try:
            table = parse_mountinfo(mount_table(self._procfs, "mountinfo"), lambda _: None)
        except OSError:
            return []  # the collector of mounts says so
        return [mount for mount in self._selection.pick(table) if mount.type == "lustre"]

    def _lnet(self, found: Found) -> list[Sample]:
        samples = []
        for text in found.texts.values():
            numbers = parse_lnet(text, partial(self._troubles.note, LNET_STATS.name))
            if not numbers:
                continue
            samples.append(Sample(m.LNET_ERRORS, (), float(numbers[_ERRORS])))
            for place, direction in enumerate(_DIRECTIONS):
                samples.append(Sample(m.LNET_MESSAGES, (direction,), float(numbers[_FIRST_COUNT + place])))
                samples.append(Sample(m.LNET_BYTES, (direction,), float(numbers[_FIRST_LENGTH + place])))
        return samples


def _availability(param: Param, found: Found) -> list[Sample]:
    samples = [Sample(m.SOURCE_AVAILABLE, (param.name, source), 0.0) for source in found.refused]
    samples += (
        Sample(m.SOURCE_UNAVAILABLE_INFO, (param.name, source, reason), 1.0) for source, reason in found.refused.items()
    )
    if found.source:
        samples.append(Sample(m.SOURCE_AVAILABLE, (param.name, found.source), 1.0))
    return samples

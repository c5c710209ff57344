"""What programs do with mounted Lustre file systems, as samples."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping

from gpuscope.catalogue import filesystem, lustre
from gpuscope.catalogue.metric import Metric, Sample
from gpuscope.filesystems.identity import filesystem_name
from gpuscope.filesystems.lustre.stats import Counted, Stats, parse_stats
from gpuscope.filesystems.lustre.sums import Sums
from gpuscope.filesystems.mountinfo import Mount, text

__all__ = ["Labels", "Llite", "instance_labels"]

Labels = tuple[str, str]
"""File system and mount point."""

_NO_OPERATIONS = frozenset(
    {"opencount", "openclosetime", "getxattr_hits", "hybrid_noswitch", "hybrid_writesize_switch"}
)
_CALLS = frozenset({"regs", "reqs"})
_SECONDS = {"usec": 1e-6, "usecs": 1e-6}

_Series = tuple[Metric, tuple[str, ...]]


def instance_labels(instances: Iterable[str], mounts: Iterable[Mount]) -> dict[str, Labels]:
    """File system and mount point of each instance, such as ``lustre01-ffff8a2c4e5f1000``.

    The kernel does not tell which instance belongs to which mount. Where a file system has one of each they belong
    together; else the mount point stays empty.
    """
    points: dict[str, list[str]] = defaultdict(list)
    for mount in mounts:
        points[filesystem_name(mount)].append(text(mount.mountpoint))
    owners = {name: name.rpartition("-")[0] or name for name in instances}
    counts: dict[str, int] = defaultdict(int)
    for owner in owners.values():
        counts[owner] += 1
    return {
        name: (owner, points[owner][0] if counts[owner] == len(points[owner]) == 1 else "")
        for name, owner in owners.items()
    }


class Llite:
    """Turns ``stats`` and ``read_ahead_stats`` of all instances into samples."""

    def __init__(self) -> None:
        self._sums = Sums()
        self._ahead = Sums()

    def stats(self, texts: Mapping[str, str], labels: Mapping[str, Labels], bad: Callable[[str], None]) -> list[Sample]:
        """Bytes, operations and their time."""
        return _added(self._sums, texts, labels, lambda text, mount: _stats_series(parse_stats(text, bad), mount))

    def read_ahead(
        self, texts: Mapping[str, str], labels: Mapping[str, Labels], bad: Callable[[str], None]
    ) -> list[Sample]:
        """Read-ahead in pages."""
        return _added(self._ahead, texts, labels, lambda text, mount: _ahead_series(parse_stats(text, bad), mount))


def _added(
    sums: Sums,
    texts: Mapping[str, str],
    labels: Mapping[str, Labels],
    series: Callable[[str, Labels], Mapping[_Series, float]],
) -> list[Sample]:
    """Samples of all instances; those of instances with the same labels are added up."""
    alone: list[Sample] = []
    parts: dict[Hashable, dict[str, float]] = defaultdict(dict)
    for name, content in texts.items():
        for (metric, values), value in series(content, labels[name]).items():
            if labels[name][1]:
                alone.append(Sample(metric, values, value))
            else:
                parts[metric, values][name] = value
    found = alone
    for key, total in sums.update(parts).items():
        assert isinstance(key, tuple)
        found.append(Sample(key[0], key[1], total))
    return found


def _stats_series(stats: Stats, labels: Labels) -> dict[_Series, float]:
    found: dict[_Series, float] = {}
    counters = stats.counters
    nothing = Counted(0, "bytes", 0) if stats.complete else Counted(0, "", None)
    for name, metric in (("read_bytes", filesystem.READ_BYTES), ("write_bytes", filesystem.WRITE_BYTES)):
        counted = counters.get(name, nothing)
        if counted.unit != "bytes" or counted.sum is None:
            continue
        found[metric, labels] = float(counted.sum)
        operation = name.removesuffix("_bytes")
        if counted.samples:  # since 2.13 there is a line with the time, too
            found[filesystem.OPERATIONS, (*labels, operation)] = float(counted.samples)
    for name, counted in counters.items():
        if name in _NO_OPERATIONS or counted.unit not in _CALLS | _SECONDS.keys():
            continue
        found[filesystem.OPERATIONS, (*labels, name)] = float(counted.samples)
        if counted.unit in _SECONDS and counted.sum is not None:
            found[filesystem.OPERATION_SECONDS, (*labels, name)] = counted.sum * _SECONDS[counted.unit]
    return found


def _ahead_series(stats: Stats, labels: Labels) -> dict[_Series, float]:
    return {
        (lustre.READ_AHEAD, (*labels, name)): float(counted.samples)
        for name, counted in stats.counters.items()
        if counted.unit == "pages" and name != "readahead_pages"
    }

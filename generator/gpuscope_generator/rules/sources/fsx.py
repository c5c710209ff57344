"""FSx for Lustre by way of YACE: what Amazon's servers say of a file system, of its servers and its targets.

Every value is of one period of CloudWatch: a sum is divided by the period, and has no rate.
"""

from __future__ import annotations

from gpuscope_generator.external import yace
from gpuscope_generator.normalized import filesystem, storage_target
from gpuscope_generator.promql import (
    Gauge,
    Matcher,
    Vector,
    avg_by,
    clamp,
    first_of,
    group_by,
    join,
    label_replace,
    max_by,
    ratio,
    select,
)
from gpuscope_generator.rules.model import Group, Recording, RuleFile, recording
from gpuscope_generator.rules.sources.canonical import clustered, of_source
from gpuscope_generator.rules.sources.labels import first_label
from gpuscope_generator.settings import Settings

__all__ = ["SOURCE", "fsx_rules"]

SOURCE = "yace"
_ID = ("cluster", "id")
_PERCENT = 100
_NAMES = filesystem.FILESYSTEM


def fsx_rules(settings: Settings) -> RuleFile:
    """Rules of FSx."""
    fsx = _Fsx(settings)
    rules = (*_identity(fsx), *_whole(fsx), *_servers(fsx), *_targets(fsx))
    return RuleFile(
        path="recording/fsx.yaml",
        comment="From YACE, which reads CloudWatch, to normalized series of FSx for Lustre. What the clients of a file "
        "system tell of its traffic and its space comes first.",
        groups=(Group("gpuscope-normalize-fsx", settings.intervals.aggregate, rules),),
    )


class _Fsx:
    """How series of YACE are read.

    Attributes:
        settings: for the period and the label of the cluster.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def raw(self, series: Gauge, dimension: tuple[str, str] = ("", ""), label: str = "") -> Vector:
        """By cluster and id; of a metric with a second dimension also by that one, under ``label``.

        Metrics of the whole file system, and those of the same name by target, are kept apart.
        """
        if label:
            each = first_of(*(of_source(series, self.settings, SOURCE, Matcher(name, "!=", "")) for name in dimension))
        else:
            alone = (*yace.FILE_SERVER, *yace.STORAGE_TARGET, *yace.PUBLISHER)
            each = of_source(series, self.settings, SOURCE, *(Matcher(name, "=", "") for name in alone))
        named = first_label(clustered(each, self.settings), "id", *yace.FILE_SYSTEM)
        if label:
            return max_by(first_label(named, label, *dimension), *_ID, label)
        return max_by(named, *_ID)

    def named(self, of_ids: Vector, *labels: str) -> Vector:
        """By the name that clients know."""
        joined = join(of_ids, select(filesystem.FSX), on=_ID, take=("filesystem",))
        return max_by(joined, *_NAMES, *labels)

    def per_second(self, of_period: Vector) -> Vector:
        """A sum of CloudWatch as a rate."""
        return of_period / self.settings.intervals.cloudwatch

    def share(self, series: Gauge, dimension: tuple[str, str], label: str) -> Vector:
        """Percent as a ratio."""
        return self.named(self.raw(series, dimension, label) / _PERCENT, label)


def _identity(fsx: _Fsx) -> tuple[Recording, ...]:
    """File systems that no client names keep their id."""
    seen = first_of(fsx.raw(yace.FREE), fsx.raw(yace.TRAFFIC["read"]))
    mounted = group_by(select(filesystem.FSX, Matcher("filesystem", "!~", "fs-[0-9a-f]+")), *_ID)
    unnamed = label_replace(seen.unless(mounted, on=_ID), "filesystem", "$1", "id", "(.*)")
    return (recording(filesystem.FSX, group_by(unnamed, *_NAMES, "id")),)


def _whole(fsx: _Fsx) -> tuple[Recording, ...]:
    moved = {way: fsx.named(fsx.per_second(fsx.raw(series))) for way, series in yace.TRAFFIC.items()}
    done = {way: fsx.named(fsx.per_second(fsx.raw(series))) for way, series in yace.IO.items()}
    done["metadata"] = fsx.named(fsx.per_second(fsx.raw(yace.METADATA)))
    # Its servers say what is free, and how full its targets are, which are of one size: the size follows.
    full = avg_by(fsx.raw(yace.TARGET_USED, yace.STORAGE_TARGET, "target"), *_ID) / _PERCENT
    free = fsx.raw(yace.FREE)
    size = ratio(free, full * -1 + 1)
    logical, physical = fsx.raw(yace.LOGICAL), fsx.raw(yace.PHYSICAL)
    return (
        *(recording(filesystem.SERVED_BYTES, vector, direction=way) for way, vector in moved.items()),
        *(recording(filesystem.SERVED_IO, vector, kind=kind) for kind, vector in done.items()),
        recording(filesystem.SERVED_SIZE, fsx.named(size)),
        recording(filesystem.SERVED_AVAILABLE, fsx.named(free)),
        recording(filesystem.SAVED, fsx.named(clamp(ratio(physical, logical) * -1 + 1, low=0))),
        recording(filesystem.CONNECTIONS, fsx.named(fsx.raw(yace.CONNECTIONS))),
        recording(
            filesystem.BACKLOG,
            fsx.named(fsx.raw(yace.BACKLOG, yace.PUBLISHER, "publisher"), "publisher"),
        ),
    )


def _servers(fsx: _Fsx) -> tuple[Recording, ...]:
    server = (yace.FILE_SERVER, "server")
    return (
        *(
            recording(filesystem.SERVER_USE, fsx.share(series, *server), resource=resource)
            for resource, series in yace.SERVER_USE.items()
        ),
        *(
            recording(filesystem.SERVER_BALANCE, fsx.share(series, *server), resource=resource)
            for resource, series in yace.BALANCE.items()
        ),
        recording(filesystem.SERVER_CACHE_HITS, fsx.share(yace.CACHE_HITS, *server)),
        *(
            recording(
                filesystem.SERVER_BYTES, fsx.named(fsx.per_second(fsx.raw(series, *server)), "server"), direction=way
            )
            for way, series in yace.SERVER_BYTES.items()
        ),
    )


def _targets(fsx: _Fsx) -> tuple[Recording, ...]:
    target = (yace.STORAGE_TARGET, "target")

    def speed(series: Gauge) -> Vector:
        return fsx.named(fsx.per_second(fsx.raw(series, *target)), "target")

    return (
        recording(storage_target.USED, fsx.share(yace.TARGET_USED, *target)),
        recording(storage_target.AVAILABLE, fsx.named(fsx.raw(yace.FREE, *target), "target")),
        recording(storage_target.DISK_USE, fsx.share(yace.DISK_USE, *target)),
        *(recording(storage_target.BYTES, speed(series), direction=way) for way, series in yace.TARGET_BYTES.items()),
        *(recording(storage_target.IO, speed(series), kind=way) for way, series in yace.TARGET_IO.items()),
    )

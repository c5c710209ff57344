"""IBM Storage Scale (GPFS) by gpfs_exporter; capacity and mounts also come from our agent and from node-exporter."""

from __future__ import annotations

from gpuscope_generator.external import gpfs
from gpuscope_generator.normalized import filesystem, mount
from gpuscope_generator.promql import Gauge, Matcher, Vector, group_by, label_replace, max_by, rate, sum_by
from gpuscope_generator.rules.model import Group, RuleFile, recording
from gpuscope_generator.rules.sources.canonical import canonical, of_source
from gpuscope_generator.rules.sources.filesystem import elsewhere_known
from gpuscope_generator.rules.sources.labels import labelled
from gpuscope_generator.settings import Settings

__all__ = ["SOURCE", "gpfs_rules"]

SOURCE = "gpfs"
_DATA = Matcher("operation", "!~", "reads|writes")


def gpfs_rules(settings: Settings) -> RuleFile:
    """Rules of GPFS."""

    def speed(way: str) -> Vector:
        return _mounted(rate(of_source(gpfs.BYTES[way], settings, SOURCE), "5m"), settings)

    def operations(condition: Matcher) -> Vector:
        each = _mounted(rate(of_source(gpfs.OPERATIONS, settings, SOURCE, condition), "5m"), settings, "operation")
        return sum_by(each, *mount.MOUNT)

    def level(series: Gauge) -> Vector:
        return _mounted(of_source(series, settings, SOURCE), settings).unless(
            elsewhere_known(mount.SIZE), on=mount.ON_NODE
        )

    by_operation = _mounted(rate(of_source(gpfs.OPERATIONS, settings, SOURCE), "5m"), settings, "operation")
    for theirs, own in gpfs.KINDS.items():
        by_operation = label_replace(by_operation, "operation", own, "operation", theirs)
    mounted = group_by(_mounted(of_source(gpfs.BYTES["read"], settings, SOURCE), settings), *mount.MOUNT)
    rules = (
        recording(mount.INFO, labelled(mounted.unless(elsewhere_known(mount.INFO), on=mount.ON_NODE), fs_type="gpfs")),
        recording(mount.SIZE, level(gpfs.SIZE)),
        recording(mount.USED, level(gpfs.SIZE) - level(gpfs.FREE)),
        recording(mount.AVAILABLE, level(gpfs.FREE)),
        recording(mount.FILES, level(gpfs.FILES)),
        recording(mount.FILES_FREE, level(gpfs.FILES_FREE)),
        *(recording(mount.BYTES, speed(way), direction=way) for way in gpfs.BYTES),
        recording(mount.IO, operations(Matcher("operation", "=", "reads")), kind="read"),
        recording(mount.IO, operations(Matcher("operation", "=", "writes")), kind="write"),
        recording(mount.IO, operations(_DATA), kind="metadata"),
        recording(filesystem.OPERATIONS, sum_by(by_operation, *filesystem.FILESYSTEM, "operation")),
    )
    return RuleFile(
        path="recording/gpfs.yaml",
        comment="From gpfs_exporter to normalized series of IBM Storage Scale. What the gpuscope agent tells of the "
        "same mount comes first.",
        groups=(Group("gpuscope-normalize-gpfs", settings.intervals.normalize, rules),),
    )


def _mounted(inner: Vector, settings: Settings, *labels: str) -> Vector:
    named = label_replace(canonical(inner, settings), "filesystem", "$1", "fs", "(.*)")
    return max_by(labelled(named, mountpoint=""), *mount.MOUNT, *labels)

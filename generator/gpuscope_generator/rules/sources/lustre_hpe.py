"""HPE's lustre_exporter: clients, where our agent does not tell of them, and servers."""

from __future__ import annotations

from gpuscope.catalogue import filesystem as ours
from gpuscope.catalogue import lustre as our_lustre
from gpuscope_generator.external import lustre_hpe as hpe
from gpuscope_generator.normalized import filesystem, mount, storage_target
from gpuscope_generator.promql import (
    Counter,
    Gauge,
    Matcher,
    Vector,
    first_of,
    group_by,
    label_replace,
    max_by,
    on,
    rate,
    ratio,
    sum_by,
)
from gpuscope_generator.rules.model import Group, Recording, RuleFile, recording
from gpuscope_generator.rules.sources.canonical import canonical, of_source
from gpuscope_generator.rules.sources.filesystem import METADATA, elsewhere_known, told
from gpuscope_generator.rules.sources.labels import labelled
from gpuscope_generator.settings import Settings

__all__ = ["SOURCE", "lustre_hpe_rules"]

SOURCE = "lustre"
_CLIENT = Matcher("component", "=", "client")
_STORAGE = Matcher("component", "=", "ost")
_CONNECTION = Matcher("target", "=~", ".+-(OST|MDT)[0-9a-f]{4}.*")
_LNET = Matcher("component", "=", "lnet")
_BY_OPERATION = (*filesystem.FILESYSTEM, "operation")
_INSTANCE = "(.+?)(-[0-9a-f]{12,16})?"
_OF_TARGET = "(.+)-((OST|MDT)[0-9a-f]{4}).*"
_KIB = 1024


def lustre_hpe_rules(settings: Settings) -> RuleFile:
    """Rules of the Lustre exporter."""
    rules = (*_mounts(settings), *_work(settings), *_requests(settings), *_servers(settings))
    return RuleFile(
        path="recording/lustre.yaml",
        comment="From HPE's lustre_exporter, and those that took its names over, to normalized series of file systems. "
        "What the gpuscope agent tells of the same client comes first.",
        groups=(Group("gpuscope-normalize-lustre", settings.intervals.normalize, rules),),
    )


def _client(inner: Vector, settings: Settings, *labels: str) -> Vector:
    """Clients by node, file system and mount point, which nobody tells."""
    named = label_replace(canonical(inner, settings), "filesystem", "$1", "target", _INSTANCE)
    return max_by(labelled(named, mountpoint=""), *mount.MOUNT, *labels)


def _level(series: Gauge, settings: Settings) -> Vector:
    found = _client(of_source(series, settings, SOURCE, _CLIENT), settings)
    return found.unless(elsewhere_known(mount.SIZE), on=mount.ON_NODE)


def _mounts(settings: Settings) -> tuple[Recording, ...]:
    size = _client(of_source(hpe.CAPACITY, settings, SOURCE, _CLIENT), settings)
    mounted = labelled(size.unless(elsewhere_known(mount.INFO), on=mount.ON_NODE), fs_type="lustre")
    free = _level(hpe.FREE, settings)
    return (
        recording(mount.INFO, group_by(mounted, *mount.MOUNT, "fs_type")),
        recording(mount.SIZE, _level(hpe.CAPACITY, settings) * _KIB),
        recording(mount.USED, on(_level(hpe.CAPACITY, settings), "-", free, mount.MOUNT) * _KIB),
        recording(mount.AVAILABLE, _level(hpe.AVAILABLE, settings) * _KIB),
        recording(mount.FILES, _level(hpe.FILES, settings)),
        recording(mount.FILES_FREE, _level(hpe.FILES_FREE, settings)),
    )


def _speed(series: Counter, settings: Settings, *conditions: Matcher) -> Vector:
    return rate(of_source(series, settings, SOURCE, *conditions), "5m")


def _work(settings: Settings) -> tuple[Recording, ...]:
    yields = told(settings, ours.READ_BYTES, *mount.ON_NODE)

    def of_mounts(series: Counter) -> Vector:
        return _client(_speed(series, settings, _CLIENT), settings).unless(yields, on=mount.ON_NODE)

    # Of a client's statistics only the target without a connection is the file system itself.
    whole = Matcher("target", "!~", _CONNECTION.value)
    metadata = _client(_speed(hpe.STATS, settings, _CLIENT, whole, METADATA), settings, "operation")
    own = metadata.unless(yields, on=mount.ON_NODE)
    by_operation = sum_by(_client(_speed(hpe.STATS, settings, _CLIENT, whole), settings, "operation"), *_BY_OPERATION)
    moved = first_of(
        *(
            labelled(_client(_speed(series, settings, _CLIENT), settings), operation=direction)
            for direction, series in hpe.SAMPLES.items()
        )
    )
    operations = first_of(sum_by(moved, *_BY_OPERATION), by_operation)
    return (
        *(recording(mount.BYTES, of_mounts(series), direction=direction) for direction, series in hpe.BYTES.items()),
        *(recording(mount.IO, of_mounts(series), kind=direction) for direction, series in hpe.SAMPLES.items()),
        recording(mount.IO, sum_by(own, *mount.MOUNT), kind="metadata"),
        recording(
            filesystem.OPERATIONS,
            operations.unless(
                told(settings, ours.READ_BYTES, *filesystem.FILESYSTEM),
                on=filesystem.FILESYSTEM,
            ),
        ),
    )


def _requests(settings: Settings) -> tuple[Recording, ...]:
    named = label_replace(
        canonical(_speed(hpe.PAGES_PER_RPC, settings, _CLIENT, _CONNECTION), settings),
        "filesystem",
        "$1",
        "target",
        _OF_TARGET,
    )
    labels = ("operation", "size")
    each = max_by(named, *mount.ON_NODE, "target", *labels)
    ways = label_replace(label_replace(each, "direction", "$1", "operation", "(.*)"), "pages", "$1", "size", "(.*)")
    yields = told(settings, our_lustre.RPCS, *filesystem.FILESYSTEM)
    found = sum_by(ways, *filesystem.FILESYSTEM, "direction", "pages").unless(yields, on=filesystem.FILESYSTEM)
    lnet = told(settings, our_lustre.LNET_BYTES, "cluster", "node")

    def of_nodes(series: Counter) -> Vector:
        each = max_by(canonical(_speed(series, settings, _LNET), settings), "cluster", "node", "target")
        return sum_by(each, "cluster", "node").unless(lnet, on=("cluster", "node"))

    return (
        recording(filesystem.RPCS, found),
        *(
            recording(mount.LNET_BYTES, of_nodes(series), direction=direction)
            for direction, series in hpe.LNET_BYTES.items()
        ),
        recording(mount.LNET_PROBLEMS, of_nodes(hpe.LNET_DROPS), problem="drops"),
        recording(mount.LNET_PROBLEMS, of_nodes(hpe.LNET_ERRORS), problem="errors"),
    )


def _servers(settings: Settings) -> tuple[Recording, ...]:
    """Of servers that fail over two may tell of one target: the larger is the one that has it."""

    def of_targets(inner: Vector) -> Vector:
        split = label_replace(canonical(inner, settings), "filesystem", "$1", "target", _OF_TARGET)
        return max_by(label_replace(split, "target", "$2", "target", _OF_TARGET), *storage_target.TARGET)

    size = of_targets(of_source(hpe.CAPACITY, settings, SOURCE, _STORAGE))
    free = of_targets(of_source(hpe.FREE, settings, SOURCE, _STORAGE))
    available = of_targets(of_source(hpe.AVAILABLE, settings, SOURCE, _STORAGE))

    def of_jobs(series: Counter) -> Vector:
        split = label_replace(canonical(_speed(series, settings), settings), "filesystem", "$1", "target", _OF_TARGET)
        named = label_replace(split, "job_id", "$1", "jobid", "(.*)")
        return sum_by(max_by(named, *storage_target.TARGET, "job_id"), *filesystem.FILESYSTEM, "job_id")

    return (
        recording(storage_target.USED, ratio(size - free, size)),
        recording(storage_target.AVAILABLE, available * _KIB),
        *(
            recording(storage_target.BYTES, of_targets(_speed(series, settings, _STORAGE)), direction=direction)
            for direction, series in hpe.BYTES.items()
        ),
        *(
            recording(storage_target.IO, of_targets(_speed(series, settings, _STORAGE)), kind=direction)
            for direction, series in hpe.SAMPLES.items()
        ),
        *(
            recording(storage_target.JOB_BYTES, of_jobs(series), direction=direction)
            for direction, series in hpe.JOB_BYTES.items()
        ),
    )

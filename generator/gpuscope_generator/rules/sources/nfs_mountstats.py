"""NFS mounts by node-exporter's collector ``mountstats``, where our agent does not tell of them."""

from __future__ import annotations

from gpuscope.catalogue import filesystem as ours
from gpuscope_generator.external import nfs
from gpuscope_generator.normalized import filesystem, mount
from gpuscope_generator.promql import (
    Counter,
    Matcher,
    Vector,
    clamp,
    group_by,
    label_replace,
    max_by,
    rate,
    ratio,
    sum_by,
)
from gpuscope_generator.rules.model import Group, Recording, RuleFile, recording
from gpuscope_generator.rules.sources.canonical import of_source
from gpuscope_generator.rules.sources.filesystem import METADATA, elsewhere_known, told
from gpuscope_generator.rules.sources.hosts import TARGET, of_nodes, of_targets
from gpuscope_generator.rules.sources.labels import labelled
from gpuscope_generator.settings import Settings

__all__ = ["SOURCE", "nfs_mountstats_rules"]

SOURCE = "nfs"
_EXPORT = ("export", "protocol", "mountaddr")


def nfs_mountstats_rules(settings: Settings) -> RuleFile:
    """Rules of NFS mounts."""
    yields = told(settings, ours.READ_BYTES, *mount.ON_NODE)
    # Others know where an export is mounted.
    seen = _mounts(_rated(settings, nfs.BYTES["read"])).unless(elsewhere_known(mount.INFO), on=mount.ON_NODE)
    rules = (
        recording(mount.INFO, group_by(labelled(seen, fs_type="nfs"), *mount.MOUNT, "fs_type")),
        *(
            recording(mount.BYTES, _mounts(_bytes(settings, way)).unless(yields, on=mount.ON_NODE), direction=way)
            for way in ("read", "write")
        ),
        *(
            recording(
                mount.IO,
                _mounts(_rated(settings, nfs.REQUESTS, condition)).unless(yields, on=mount.ON_NODE),
                kind=kind,
            )
            for kind, condition in (
                ("read", Matcher("operation", "=", "READ")),
                ("write", Matcher("operation", "=", "WRITE")),
                ("metadata", METADATA),
            )
        ),
        *_by_operation(settings),
        recording(
            mount.EVENTS,
            clamp(_hosted(_rated(settings, nfs.TRANSMISSIONS)) - _hosted(_rated(settings, nfs.REQUESTS)), low=0).unless(
                yields, on=mount.ON_NODE
            ),
            event="retransmissions",
        ),
        recording(
            mount.EVENTS,
            _hosted(_rated(settings, nfs.MAJOR_TIMEOUTS)).unless(yields, on=mount.ON_NODE),
            event="timeouts",
        ),
    )
    return RuleFile(
        path="recording/nfs.yaml",
        comment="From node-exporter's collector mountstats to normalized series of NFS mounts. What the gpuscope agent "
        "tells of the same mount comes first.",
        groups=(Group("gpuscope-normalize-nfs", settings.intervals.normalize, rules),),
    )


def _rated(settings: Settings, series: Counter, *conditions: Matcher, by: tuple[str, ...] = ()) -> Vector:
    """Rates by target and export: an export that is mounted over several addresses counts once for each."""
    labels = (*_EXPORT, "operation") if "operation" in series.labels else _EXPORT
    each = of_targets(rate(of_source(series, settings, SOURCE, *conditions), "5m"), settings, *labels)
    return sum_by(each, *TARGET, "export", *by)


def _bytes(settings: Settings, way: str) -> Vector:
    return _rated(settings, nfs.BYTES[way]) + _rated(settings, nfs.BYTES[f"direct_{way}"])


def _hosted(of_exports: Vector, *labels: str) -> Vector:
    named = label_replace(of_exports, "filesystem", "$1", "export", "(.*)")
    return of_nodes(named, "filesystem", *labels)


def _mounts(of_exports: Vector) -> Vector:
    """The mount point is left empty: one export may be mounted at several, and its counters are of all."""
    return labelled(_hosted(of_exports), mountpoint="")


def _by_operation(settings: Settings) -> tuple[Recording, ...]:
    keys = filesystem.FILESYSTEM
    yields = told(settings, ours.READ_BYTES, *keys)

    def small(series: Counter) -> Vector:
        each = _hosted(_rated(settings, series, by=("operation",)), "operation")
        summed = sum_by(each, *keys, "operation").unless(yields, on=keys)
        # PromQL cannot write small letters: one step for each name that NFS has.
        for name in nfs.OPERATIONS:
            summed = label_replace(summed, "operation", name.lower(), "operation", name)
        return max_by(summed, *keys, "operation")

    def waited(phase: str) -> Vector:
        # Our agent does not tell it: here it is no matter which of them counts the requests.
        seconds, requests = (_hosted(_rated(settings, series)) for series in (nfs.SECONDS[phase], nfs.REQUESTS))
        return ratio(sum_by(seconds, *keys), sum_by(requests, *keys))

    return (
        recording(filesystem.OPERATIONS, small(nfs.REQUESTS)),
        recording(filesystem.OPERATION_SECONDS, small(nfs.SECONDS["total"])),
        *(recording(filesystem.NFS_WAIT, waited(phase), phase=phase) for phase in ("queue", "server")),
    )

"""From mounts of nodes to the file systems that they share, and to clusters."""

from __future__ import annotations

from gpuscope_generator.normalized import filesystem, mount, storage_target
from gpuscope_generator.promql import (
    Gauge,
    Matcher,
    Vector,
    count_by,
    first_of,
    group_by,
    max_by,
    min_by,
    on,
    ratio,
    select,
    sum_by,
)
from gpuscope_generator.rules.model import Group, Recording, RuleFile, recording
from gpuscope_generator.rules.sources.labels import labelled
from gpuscope_generator.settings import Settings

__all__ = ["LOCAL_TYPES", "filesystem_level_rules"]

LOCAL_TYPES = "ext[234]|xfs|btrfs|zfs|f2fs|bcachefs"
"""Types of file systems that one node has for itself: equal names on two nodes are two of them."""
_NAMES = filesystem.FILESYSTEM


def filesystem_level_rules(settings: Settings) -> RuleFile:
    """Rules that sum mounts."""
    rules = (*_identity(), *_space(), *_work(), *_of_clusters())
    return RuleFile(
        path="recording/level-filesystem.yaml",
        comment="From mounts of nodes to the file systems that they share, and to clusters. Where clients do not tell, "
        "the servers of the file system do.",
        groups=(Group("gpuscope-level-filesystem", settings.intervals.aggregate, rules),),
    )


def _identity() -> tuple[Recording, ...]:
    served = group_by(select(filesystem.FSX), *_NAMES).unless(select(mount.INFO), on=_NAMES)
    up = max_by(select(mount.UP), *mount.ON_NODE)
    unknown = group_by(select(mount.FAILURE), *mount.ON_NODE).unless(up, on=mount.ON_NODE)
    blocked = max_by(select(mount.READ_ONLY), *mount.ON_NODE)
    return (
        recording(
            filesystem.INFO,
            group_by(select(mount.INFO), *_NAMES, "fs_type", "mountpoint").or_(
                labelled(served, fs_type="lustre", mountpoint="")
            ),
        ),
        recording(filesystem.MOUNTS, sum_by(up, *_NAMES), state="up"),
        recording(filesystem.MOUNTS, sum_by(up.compare("==", 0, as_bool=True), *_NAMES), state="down"),
        recording(filesystem.MOUNTS, sum_by(blocked, *_NAMES), state="read_only"),
        recording(filesystem.MOUNTS, count_by(unknown, *_NAMES), state="unknown"),
    )


def _shared(of_mounts: Vector) -> Vector:
    """Without local file systems."""
    types = select(mount.INFO, Matcher("fs_type", "!~", LOCAL_TYPES))
    return of_mounts.and_(group_by(types, *_NAMES), on=_NAMES)


def _space() -> tuple[Recording, ...]:
    def largest(series: Gauge) -> Vector:
        return max_by(_shared(max_by(select(series), *_NAMES)), *_NAMES)

    def smallest(series: Gauge) -> Vector:
        return min_by(_shared(min_by(select(series), *_NAMES)), *_NAMES)

    served = on(select(filesystem.SERVED_SIZE), "-", select(filesystem.SERVED_AVAILABLE), _NAMES)
    return (
        recording(filesystem.SIZE, first_of(largest(mount.SIZE), select(filesystem.SERVED_SIZE), on=_NAMES)),
        recording(filesystem.USED, first_of(largest(mount.USED), served, on=_NAMES)),
        recording(
            filesystem.AVAILABLE, first_of(smallest(mount.AVAILABLE), select(filesystem.SERVED_AVAILABLE), on=_NAMES)
        ),
        recording(filesystem.FILES, largest(mount.FILES)),
        recording(filesystem.FILES_FREE, smallest(mount.FILES_FREE)),
    )


def _work() -> tuple[Recording, ...]:
    """What clients tell of a file system comes before what its servers tell: it is newer, and known by node."""

    def of_clients(series: Gauge, served: Gauge, label: str) -> Vector:
        clients = sum_by(select(series), *_NAMES, label)
        return first_of(clients, sum_by(select(served), *_NAMES, label), on=_NAMES)

    return (
        recording(filesystem.BYTES, of_clients(mount.BYTES, filesystem.SERVED_BYTES, "direction")),
        recording(filesystem.IO, of_clients(mount.IO, filesystem.SERVED_IO, "kind")),
        recording(filesystem.EVENTS, sum_by(select(mount.EVENTS), *_NAMES, "event")),
        recording(
            storage_target.INFO,
            group_by(
                first_of(
                    select(storage_target.USED), select(storage_target.CLIENTS_DOWN), select(storage_target.BYTES)
                ),
                *storage_target.TARGET,
            ),
        ),
    )


def _of_clusters() -> tuple[Recording, ...]:
    used, size = select(filesystem.USED), select(filesystem.SIZE)
    return (
        recording(filesystem.CLUSTER_SIZE, sum_by(size, "cluster")),
        recording(filesystem.CLUSTER_USED, sum_by(used, "cluster")),
        recording(filesystem.CLUSTER_FULLEST, max_by(ratio(used, size), "cluster")),
        recording(filesystem.CLUSTER_BYTES, sum_by(select(filesystem.BYTES), "cluster", "direction")),
        recording(filesystem.CLUSTER_MOUNTS, sum_by(select(filesystem.MOUNTS), "cluster", "state")),
    )

"""Alerts about shared file systems: mounts that are down or slow, and targets that clients have lost."""

from __future__ import annotations

from gpuscope_generator.normalized import filesystem, mount, storage_target
from gpuscope_generator.promql import (
    Matcher,
    Vector,
    count_by,
    first_of,
    group_by,
    max_by,
    ratio,
    select,
    sum_by,
)
from gpuscope_generator.rules.alert import Alert, Component, Scope, Severity, alert
from gpuscope_generator.rules.alerts.guards import after_boot, outside_maintenance
from gpuscope_generator.rules.alerts.storage_space import space_alerts
from gpuscope_generator.rules.levels.filesystem import LOCAL_TYPES
from gpuscope_generator.rules.model import Group, RuleFile
from gpuscope_generator.rules.spoken import HELD
from gpuscope_generator.settings import Settings
from gpuscope_generator.view.link import Noun

__all__ = ["storage_alerts"]

_NAMES = filesystem.FILESYSTEM
_FEWEST = 2
"""One node with a broken mount is a broken node."""
_DATA = "(?i)(read|write|commit|fsync|mmap|page_fault|page_mkwrite|l?seek|fallocate|(brw|osc)_(read|write))"
"""Operations on data, which take as long as their data is large."""
_CARRIED = {"filesystem": "filesystem"}


def storage_alerts(settings: Settings) -> RuleFile:
    """Alerts about file systems that several nodes share."""
    working = (_mount_down(), _unhealthy(settings), _target_down(settings), _slow(settings))
    return RuleFile(
        path="alerts/storage.yaml",
        comment="Alerts about shared file systems: mounts that are down, targets that are lost, slow metadata, and "
        "space "
        "and inodes that run out.",
        groups=(
            Group("gpuscope-alerts-storage", settings.intervals.aggregate, working),
            Group("gpuscope-alerts-storage-space", settings.intervals.slow, space_alerts(settings)),
        ),
    )


def _shared(of_mounts: Vector) -> Vector:
    """What is not about file systems that a node has for itself."""
    local = group_by(select(mount.INFO, Matcher("fs_type", "=~", LOCAL_TYPES)), *mount.ON_NODE)
    return of_mounts.unless(local, on=mount.ON_NODE)


def _down() -> Vector:
    """Mounts that hang, fail or are missing; of what nobody can tell there is none."""
    down = max_by(select(mount.UP), *mount.ON_NODE).compare("==", 0)
    return after_boot(outside_maintenance(_shared(down)))


def _mount_down() -> Alert:
    return alert(
        name="StorageMountDown",
        expression=_down(),
        for_s=600,
        severity=Severity.WARNING,
        scope=Scope.NODE,
        component=Component.STORAGE,
        summary="A shared file system hangs or is missing on a node.",
        description="File system {{ $labels.filesystem }} has not answered on node {{ $labels.node }} for "
        f"{HELD}: it "
        "hangs, fails, or is not mounted. Jobs on the node wait for it, and processes that touch it cannot be ended.",
        action="Keep new work off the node, look at its kernel log, and mount again; reboot if processes hang in it.",
        board=Noun.FILESYSTEM,
        carry={**_CARRIED, "node": "node"},
    )


def _unhealthy(settings: Settings) -> Alert:
    most = settings.thresholds.mounts_down_ratio
    down = count_by(_down(), *_NAMES)
    known = count_by(outside_maintenance(_shared(max_by(select(mount.UP), *mount.ON_NODE))), *_NAMES)
    share = ratio(down, known).compare(">", most)
    return alert(
        name="StorageUnhealthy",
        expression=share.and_(down.compare(">=", _FEWEST), on=_NAMES),
        for_s=300,
        severity=Severity.CRITICAL,
        scope=Scope.CLUSTER,
        component=Component.STORAGE,
        fault_class="storage_stall",
        summary="A shared file system hangs or is missing on many nodes.",
        description="{{ $value | humanizePercentage }} of the nodes that should have file system "
        "{{ $labels.filesystem }} get no answer from it; more than "
        f"{most * 100:.0f} % is no matter of single nodes. Jobs that stand still now are not to be restarted for it.",
        measured="{{ $value | humanizePercentage }} of the mounts",
        action="Call the storage team; look at servers, network and the metadata service, not at nodes.",
        board=Noun.FILESYSTEM,
        carry=_CARRIED,
    )


def _target_down(settings: Settings) -> Alert:
    most = settings.thresholds.mounts_down_ratio
    keys = storage_target.TARGET
    lost = max_by(select(storage_target.CLIENTS_DOWN), *keys)
    clients = max_by(select(filesystem.MOUNTS, state="up"), *_NAMES)
    share = ratio(lost, clients, on=_NAMES, many="left").compare(">", most)
    return alert(
        name="StorageTargetDown",
        expression=share.and_(lost.compare(">=", _FEWEST), on=keys),
        for_s=300,
        severity=Severity.CRITICAL,
        scope=Scope.CLUSTER,
        component=Component.STORAGE,
        tier=2,
        fault_class="storage_stall",
        summary="Many clients have lost a storage target of Lustre.",
        description="{{ $value | humanizePercentage }} of the clients of {{ $labels.filesystem }} are not connected to "
        f"its target {{{{ $labels.target }}}}; more than {most * 100:.0f} % is no matter of single nodes. Whatever has "
        "files there waits.",
        measured="{{ $value | humanizePercentage }} of the clients",
        action="Look at the server of that target: failover, disks, network. Do not restart jobs for it.",
        board=Noun.FILESYSTEM,
        carry={**_CARRIED, "target": "target"},
    )


def _slow(settings: Settings) -> Alert:
    limits = settings.thresholds
    metadata = Matcher("operation", "!~", _DATA)
    seconds = sum_by(select(filesystem.OPERATION_SECONDS, metadata), *_NAMES)
    # Only of operations whose time is told; and one an hour is no measure.
    timed = select(filesystem.OPERATIONS, metadata).and_(select(filesystem.OPERATION_SECONDS))
    count = sum_by(timed, *_NAMES).compare(">=", 1)
    mean = ratio(seconds, count).compare(">", limits.metadata_slo_seconds)
    asked = _shared(max_by(select(mount.STATFS), *mount.ON_NODE))
    late = count_by(asked.compare(">", limits.statfs_slo_seconds), *_NAMES)
    many = ratio(late, count_by(asked, *_NAMES)).compare(">", limits.mounts_down_ratio)
    slowest = max_by(asked, *_NAMES).and_(many, on=_NAMES).and_(late.compare(">=", _FEWEST), on=_NAMES)
    return alert(
        name="StorageMetadataSlow",
        expression=first_of(mean, slowest, on=_NAMES),
        for_s=900,
        severity=Severity.WARNING,
        scope=Scope.CLUSTER,
        component=Component.STORAGE,
        tier=2,
        summary="A shared file system is slow to open, list and look up files.",
        description="On {{ $labels.filesystem }} an operation on metadata takes {{ $value | humanizeDuration }}: on "
        f"average more than {limits.metadata_slo_seconds:g} seconds, or asking for free space more than "
        f"{limits.statfs_slo_seconds:g} seconds on many nodes. Starts of jobs and data loaders of small files slow "
        "down.",
        measured="{{ $value | humanizeDuration }} an operation",
        action="Find the job with the most operations on the board; then look at the load of the metadata server.",
        board=Noun.FILESYSTEM,
        carry=_CARRIED,
    )

"""Alerts about space and inodes of shared file systems that run out."""

from __future__ import annotations

from itertools import pairwise

from gpuscope_generator.normalized import filesystem, storage_target
from gpuscope_generator.promql import (
    Vector,
    first_of,
    max_by,
    on,
    predict_linear,
    ratio,
    select,
)
from gpuscope_generator.rules.alert import Alert, Component, Scope, Severity, alert
from gpuscope_generator.settings import Settings
from gpuscope_generator.view.link import Noun

__all__ = ["space_alerts"]

_NAMES = filesystem.FILESYSTEM
_PAST = ("6h", "4h", "2h", "")
"""Between these times the space must have shrunk each time, before anything is foreseen from it."""
_PART = 0.1
"""Each of them has a tenth or more of the loss of all: one checkpoint that is written is no trend."""
_NEARLY_NONE = 0.2
"""A critical lack of inodes, as a share of the one that is a warning."""
_CARRIED = {"filesystem": "filesystem"}


def space_alerts(settings: Settings) -> tuple[Alert, ...]:
    """Alerts about room, the one that is nearly out before the one that will be."""
    return (
        _filling(settings, Severity.CRITICAL),
        _filling(settings, Severity.WARNING),
        _inodes(settings, Severity.CRITICAL),
        _inodes(settings, Severity.WARNING),
        _target_full(settings),
    )


def _used() -> Vector:
    """Share that users cannot fill any more."""
    available = max_by(select(filesystem.AVAILABLE), *_NAMES)
    return ratio(available, max_by(select(filesystem.SIZE), *_NAMES)) * -1 + 1


def _foreseen(settings: Settings) -> Vector:
    """The used share of what will be full soon, if the last six hours go on, and if they were all alike."""
    room = select(filesystem.AVAILABLE)
    hours = settings.thresholds.storage_fill_hours
    left = [max_by(room.offset(past) if past else room, *_NAMES) for past in _PAST]
    found = _used().and_(predict_linear(room, "6h", hours * 3600).compare("<", 0), on=_NAMES)
    all_of_it = (left[0] - left[-1]) * _PART
    for earlier, later in pairwise(left):
        shrunk = on(earlier - later, "-", all_of_it, _NAMES).compare(">=", 0)
        found = found.and_(shrunk.and_(all_of_it.compare(">", 0), on=_NAMES), on=_NAMES)
    return found


def _filling(settings: Settings, severity: Severity) -> Alert:
    limits = settings.thresholds
    if severity is Severity.CRITICAL:
        found = _used().compare(">", limits.storage_critical_ratio)
        summary = "A shared file system is full but for a little: writes are about to fail."
        rest = f"above {limits.storage_critical_ratio * 100:.0f} % checkpoints fail and jobs with them."
    else:
        full = _used().compare(">", limits.storage_full_ratio)
        found = first_of(full, _foreseen(settings), on=_NAMES)
        summary = "A shared file system is nearly full, or will be soon."
        rest = (
            f"that is more than {limits.storage_full_ratio * 100:.0f} %, or at the pace of the last six hours it is "
            "full "
            f"within {limits.storage_fill_hours:.0f} hours."
        )
    return alert(
        name="StorageFilling",
        expression=found,
        for_s=600 if severity is Severity.CRITICAL else 1800,
        severity=severity,
        scope=Scope.CLUSTER,
        component=Component.STORAGE,
        tier=2,
        fault_class="storage_full",
        summary=summary,
        description="{{ $value | humanizePercentage }} of {{ $labels.filesystem }} is in use: " + rest,
        measured="{{ $value | humanizePercentage }} used",
        action="Find the largest folders, and ask their owners to remove what they can: old checkpoints first.",
        board=Noun.FILESYSTEM,
        carry=_CARRIED,
    )


def _inodes(settings: Settings, severity: Severity) -> Alert:
    low = settings.thresholds.inodes_low_ratio
    free = ratio(max_by(select(filesystem.FILES_FREE), *_NAMES), max_by(select(filesystem.FILES), *_NAMES))
    critical = severity is Severity.CRITICAL
    # The same number in both, so that a setting moves both: free / 0.2 is compared with it.
    found = (free / _NEARLY_NONE).compare("<", low) * _NEARLY_NONE if critical else free.compare("<", low)
    return alert(
        name="StorageInodesLow",
        expression=found,
        for_s=600 if critical else 1800,
        severity=severity,
        scope=Scope.CLUSTER,
        component=Component.STORAGE,
        tier=2,
        fault_class="storage_full",
        summary="A shared file system has hardly any inodes left: no file can be made, however much space is free.",
        description="{{ $value | humanizePercentage }} of the inodes of {{ $labels.filesystem }} are left; "
        + ("less than a fifth of what is low" if critical else f"below {low * 100:.0f} % is low")
        + ". Data sets of many small files and caches of packages use them up.",
        measured="{{ $value | humanizePercentage }} left",
        action="Find the folders with most files; pack small files into archives, and remove caches.",
        board=Noun.FILESYSTEM,
        carry=_CARRIED,
    )


def _target_full(settings: Settings) -> Alert:
    most = settings.thresholds.storage_critical_ratio
    return alert(
        name="StorageTargetFull",
        expression=max_by(select(storage_target.USED), *storage_target.TARGET).compare(">", most),
        for_s=900,
        severity=Severity.WARNING,
        scope=Scope.CLUSTER,
        component=Component.STORAGE,
        tier=2,
        fault_class="storage_full",
        summary="A storage target is full: files that lie on it cannot grow, although the file system has room.",
        description="{{ $value | humanizePercentage }} of target {{ $labels.target }} of {{ $labels.filesystem }} is "
        "in "
        f"use; above {most * 100:.0f} % writes to it fail.",
        measured="{{ $value | humanizePercentage }} used",
        action="Stop new files on it, and move large files to other targets; give large files more stripes.",
        board=Noun.FILESYSTEM,
        carry={**_CARRIED, "target": "target"},
    )

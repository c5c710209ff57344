"""Every alert, by subject; what a user changed of them is applied here."""

from __future__ import annotations

import dataclasses

from gpuscope_generator.rules.alert import Alert, Severity
from gpuscope_generator.rules.alerts.faults import fault_alerts
from gpuscope_generator.rules.alerts.goodput import goodput_alerts
from gpuscope_generator.rules.alerts.hardware import hardware_alerts
from gpuscope_generator.rules.alerts.interconnect import interconnect_alerts
from gpuscope_generator.rules.alerts.jobs import job_alerts
from gpuscope_generator.rules.alerts.memory import memory_alerts
from gpuscope_generator.rules.alerts.monitoring import monitoring_alerts
from gpuscope_generator.rules.alerts.network import network_alerts
from gpuscope_generator.rules.alerts.queues import queue_alerts
from gpuscope_generator.rules.alerts.recovery_action import recovery_action_alerts
from gpuscope_generator.rules.alerts.scheduler import scheduler_alerts
from gpuscope_generator.rules.alerts.serving import serving_alerts
from gpuscope_generator.rules.alerts.storage import storage_alerts
from gpuscope_generator.rules.alerts.thermal import thermal_alerts
from gpuscope_generator.rules.alerts.usage import usage_alerts
from gpuscope_generator.rules.model import Group, RuleFile
from gpuscope_generator.settings import Settings

__all__ = ["ALERT_FILES", "alert_files", "all_alerts"]

ALERT_FILES = (
    monitoring_alerts,
    hardware_alerts,
    recovery_action_alerts,
    memory_alerts,
    fault_alerts,
    interconnect_alerts,
    usage_alerts,
    queue_alerts,
    network_alerts,
    storage_alerts,
    job_alerts,
    goodput_alerts,
    serving_alerts,
    thermal_alerts,
    scheduler_alerts,
)
"""One function a file: settings in, rules out."""


def alert_files(settings: Settings) -> tuple[RuleFile, ...]:
    """The files under ``alert_rules/alerts/``; one whose alerts are all off is not there."""
    files = (_changed_file(make(settings), settings) for make in ALERT_FILES)
    return tuple(file for file in files if file.groups)


def all_alerts(settings: Settings) -> tuple[Alert, ...]:
    """Every alert, in the order of the files."""
    return tuple(one for file in alert_files(settings) for group in file.groups for one in group.alerts)


def _changed_file(file: RuleFile, settings: Settings) -> RuleFile:
    groups = (dataclasses.replace(group, rules=_changed(group, settings)) for group in file.groups)
    return dataclasses.replace(file, groups=tuple(group for group in groups if group.rules))


def _changed(group: Group, settings: Settings) -> tuple[Alert, ...]:
    found = []
    for one in group.alerts:
        # What is said of one severity holds before what is said of the name.
        change = settings.alerts.get(one.key) or settings.alerts.get(one.name)
        if change is None:
            found.append(one)
        elif change.enabled:
            found.append(
                dataclasses.replace(
                    one,
                    severity=one.severity if change.severity is None else Severity(change.severity),
                    for_s=one.for_s if change.for_s is None else change.for_s,
                    keep_s=one.keep_s if change.keep_firing_for_s is None else change.keep_firing_for_s,
                )
            )
    return tuple(found)

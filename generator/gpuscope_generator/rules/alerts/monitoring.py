"""Alerts about the watchers themselves: a broken one must never look like a healthy cluster."""

from __future__ import annotations

from gpuscope_generator.promql import vector
from gpuscope_generator.rules.alert import Alert, Component, Scope, Severity, alert
from gpuscope_generator.rules.alerts.checks import check_alerts
from gpuscope_generator.rules.alerts.exporters import exporter_alerts
from gpuscope_generator.rules.alerts.sources import source_alerts
from gpuscope_generator.rules.model import Group, RuleFile
from gpuscope_generator.settings import Settings

__all__ = ["monitoring_alerts"]


def monitoring_alerts(settings: Settings) -> RuleFile:
    """Alerts about exporters, rules, and the way that alerts take."""
    return RuleFile(
        path="alerts/monitoring.yaml",
        comment="Alerts about the watchers themselves: the dead-man's switch, exporters that are down or hang, "
        "sources that are gone, checks that cannot tell, rules that fail, and too many alerts.",
        groups=(
            Group(
                "gpuscope-alerts-monitoring",
                settings.intervals.normalize,
                (_watchdog(), *exporter_alerts(settings), *check_alerts(settings), *source_alerts()),
            ),
        ),
    )


def _watchdog() -> Alert:
    return alert(
        name="Watchdog",
        expression=vector(1),
        severity=Severity.NONE,
        scope=Scope.MONITORING,
        component=Component.MONITORING,
        summary="The way from Prometheus through Alertmanager works.",
        description="This alert always fires. Something outside the cluster expects it, and tells when it stays away.",
        action="Nothing while it fires. When it stays away, look at Prometheus and at Alertmanager.",
    )

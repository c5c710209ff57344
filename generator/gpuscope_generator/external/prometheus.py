"""Prometheus about itself, and what evaluates rules in its place: Prometheus 2.42 to 3.5, Mimir 2, vmalert 1.1."""

from __future__ import annotations

from gpuscope_generator.promql import Gauge, Origin, counter

__all__ = [
    "ALERTS",
    "MIMIR_FAILURES",
    "MIMIR_MISSES",
    "RULE_FAILURES",
    "RULE_MISSES",
    "VMALERT_ERRORS",
    "VMALERT_MISSES",
]

_SOURCE = "prometheus"

ALERTS = Gauge(
    "ALERTS",
    ("alertname", "alertstate", "severity", "scope", "audience", "team"),
    meaning="1 while an alert is pending or fires. Prometheus makes it.",
    origin=Origin.PROMETHEUS,
)
RULE_FAILURES = counter("prometheus_rule_evaluation_failures_total", "rule_group", source=_SOURCE)
RULE_MISSES = counter("prometheus_rule_group_iterations_missed_total", "rule_group", source=_SOURCE)
MIMIR_FAILURES = counter("cortex_prometheus_rule_evaluation_failures_total", "rule_group", source=_SOURCE)
MIMIR_MISSES = counter("cortex_prometheus_rule_group_iterations_missed_total", "rule_group", source=_SOURCE)
VMALERT_ERRORS = (
    counter("vmalert_recording_rules_errors_total", "group", source=_SOURCE),
    counter("vmalert_alerting_rules_errors_total", "group", source=_SOURCE),
)
VMALERT_MISSES = counter("vmalert_iteration_missed_total", "group", source=_SOURCE)

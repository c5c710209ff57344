"""Alerts about what can tell nothing: checks that are late or fail, rules that fail, and too many alerts."""

from __future__ import annotations

from gpuscope_generator.normalized import cluster, node, source, watch
from gpuscope_generator.promql import Gauge, Matcher, Vector, group_by, max_by, select, sum_by, sum_over_time
from gpuscope_generator.rules.alert import Alert, Component, Scope, Severity, alert
from gpuscope_generator.rules.alerts.guards import outside_maintenance
from gpuscope_generator.rules.alerts.wording import counted
from gpuscope_generator.rules.annotations import asked
from gpuscope_generator.rules.sources.labels import labelled
from gpuscope_generator.settings import Settings

__all__ = ["check_alerts"]

_NODE_REASONS = asked(select(source.PROBLEM, cluster="%q", node="%q").text, "cluster", "node")


def _named(found: str, after: str = "") -> str:
    """A template that names the checks of the alert's node for which a query has a result."""
    query = asked(found, "cluster", "node")
    one = f"{{{{ if $index }}}}, {{{{ end }}}}{{{{ $one.Labels.check }}}}{after}"
    return f'{{{{ range $index, $one := {query} | sortByLabel "check" }}}}{one}{{{{ end }}}}'


def check_alerts(settings: Settings) -> tuple[Alert, ...]:
    """Alerts that fire when green means nothing, and when red means nothing."""
    return (
        _stale(settings),
        _unknown(),
        _rules_failing(settings),
        _source_missing(),
        _noise(settings),
    )


def _stale(settings: Settings) -> Alert:
    limit = settings.thresholds.check_stale_seconds
    age = select(watch.CHECK_AGE, cluster="%q", node="%q").text
    late = _named(f"{age} > {limit:.0f}", " ({{ $one.Value | humanizeDuration }} ago)")
    return alert(
        name="GpuCheckStale",
        # One alert a node: an agent that hangs makes all of its checks late.
        expression=outside_maintenance(max_by(select(watch.CHECK_AGE), *node.NODE).compare(">", limit)),
        for_s=300,
        severity=Severity.WARNING,
        scope=Scope.MONITORING,
        component=Component.MONITORING,
        summary="Checks have not succeeded for a long time.",
        description="{{ with $labels.node }}On node {{ . }}{{ else }}In the collector{{ end }} these checks last "
        f"succeeded: {late}; right would be less than {limit:.0f} s ago. What they found last is old: their green "
        "means "
        "nothing.",
        measured="{{ $value | humanizeDuration }} since the last success of the oldest",
        action="Read the log of the agent, or of the collector, and restart it. Do not trust what it showed last.",
        carry={"node": "node"},
    )


def _unknown() -> Alert:
    return alert(
        name="GpuCheckUnknown",
        expression=outside_maintenance(max_by(select(watch.CHECK_UNKNOWN), *node.NODE).compare(">", 0)),
        for_s=900,
        severity=Severity.WARNING,
        scope=Scope.MONITORING,
        component=Component.MONITORING,
        summary="Checks cannot tell whether all is well.",
        description="On node {{ $labels.node }} these checks have no result: "
        f"{_named(select(watch.CHECK_UNKNOWN, cluster='%q', node='%q').text)}. Nobody knows whether all is well there, "
        f"and nothing acts on it.{{{{ range {_NODE_REASONS} }}}} {{{{ .Labels.part }}}}: "
        "{{ .Labels.reason }}.{{ end }}",
        action="Open the row Data health of the cluster board and read the reason: mostly a missing permission, a tool "
        "that is not there, or a code that this release does not know.",
        carry={"node": "node"},
    )


def _rules_failing(settings: Settings) -> Alert:
    by = ("cluster", "group")
    failed = sum_by(select(watch.RULE_FAILURES), *by).compare(">", 0)
    missed = sum_by(select(watch.RULE_MISSES), *by).compare(">", settings.thresholds.rule_misses)
    # GPUs are told of, and what sums them up is older than five minutes.
    told = group_by(select(node.GPU_FACTS), "cluster").unless(select(cluster.INFO), on=("cluster",))
    gone = labelled(told, group="gpuscope-level-cluster")
    return alert(
        name="GpuRulesFailing",
        expression=failed.or_(missed).or_(gone),
        for_s=300,
        severity=Severity.WARNING,
        scope=Scope.MONITORING,
        component=Component.MONITORING,
        summary="Rules are not evaluated: boards and alerts are blind in part.",
        description=f"Rules of the group {{{{ $labels.group }}}} failed or were left out {counted('time')} "
        "within ten minutes, or what they record is older than five minutes; right would be 0. What builds on them "
        "shows nothing, and its alerts cannot fire.",
        measured=f"{counted('evaluation')} in ten minutes",
        action="Open the page Rules of Prometheus and read the error of the group. Left out evaluations mean that "
        "Prometheus is too slow: look at its CPU and memory.",
    )


def _source_missing() -> Alert:
    vendors = ("cluster", "vendor")
    readings: tuple[tuple[str, Gauge, tuple[Matcher, ...]], ...] = (
        ("activity", node.COMPUTE_COUNT, ()),
        ("memory", node.MEMORY_TOTAL, ()),
        ("health", node.GPUS, (Matcher("state", "=", "healthy"),)),
    )
    facts = select(node.GPU_FACTS)

    def without(series: Gauge, conditions: tuple[Matcher, ...]) -> Vector:
        having = group_by(facts.and_(select(series, *conditions), on=node.NODE), *vendors)
        return group_by(facts, *vendors).unless(having, on=vendors)

    found = [labelled(without(series, conditions), reading=name) for name, series, conditions in readings]
    promised = group_by(select(node.GPUS, state="expected").compare(">", 0), "cluster")
    unwatched = promised.unless(facts, on=("cluster",)).unless(select(watch.EXPORTERS), on=("cluster",))
    nothing = labelled(unwatched, vendor="", reading="everything")
    expression = nothing
    for each in found:
        expression = expression.or_(each)
    return alert(
        name="GpuMetricSourceMissing",
        expression=expression,
        for_s=1800,
        severity=Severity.INFO,
        scope=Scope.CLUSTER,
        component=Component.MONITORING,
        tier=2,
        summary="A whole kind of reading is missing for all GPUs of a maker.",
        description="Of {{ $labels.reading }} no source tells anything for the GPUs{{ with $labels.vendor }} of {{ . }}"
        "{{ end }} in this cluster, though there are such GPUs. Boards are empty there, and alerts about it are "
        "silent.",
        action="Deploy an exporter for these GPUs, or add the missing fields to dcgm-exporter's list of counters.",
    )


def _noise(settings: Settings) -> Alert:
    limits = settings.thresholds
    by = ("cluster", "what", "team")

    def a_day(what: str) -> Vector:
        return sum_by(sum_over_time(select(watch.ALERTS_BEGUN, what=what), "7d"), *by) / 7

    pages, warnings = a_day("pages"), a_day("warnings")
    return alert(
        name="AlertNoiseBudget",
        expression=pages.compare(">", limits.pages_per_day).or_(warnings.compare(">", limits.warnings_per_day)),
        severity=Severity.INFO,
        scope=Scope.MONITORING,
        component=Component.MONITORING,
        summary="There are more alerts than people can take seriously.",
        description='{{ $value | printf "%.1f" }} {{ $labels.what }} a day over the last seven days'
        "{{ with $labels.team }} for team {{ . }}{{ end }}; right would be at most "
        f"{limits.pages_per_day:g} pages a day for a team, and {limits.warnings_per_day:g} warnings in all. Beyond "
        "that alerts are not read any more.",
        measured='{{ $value | printf "%.1f" }} {{ $labels.what }} a day',
        action="Find the alerts that fire most with the query of the runbook. Repair their causes, or raise their "
        "thresholds and durations in the settings.",
    )

"""Alerts about a cluster that is full, or has room in the wrong places, while work waits."""

from __future__ import annotations

from gpuscope_generator.normalized import cluster, demand, objective
from gpuscope_generator.promql import (
    Matcher,
    Vector,
    label_replace,
    max_by,
    on,
    ratio,
    select,
    sum_by,
)
from gpuscope_generator.rules.alert import WORKLOAD, Alert, Audience, Component, Scope, Severity, alert
from gpuscope_generator.rules.alerts.burn_rate import LOSSY, burning
from gpuscope_generator.rules.alerts.wording import counted, one_or_many
from gpuscope_generator.rules.levels.demand import SIZES
from gpuscope_generator.rules.model import Group, RuleFile
from gpuscope_generator.rules.spoken import HELD
from gpuscope_generator.settings import Settings
from gpuscope_generator.view.link import Noun

__all__ = ["queue_alerts"]

_HERE = ("cluster",)
_WORK = ("cluster", "namespace", "workload_kind", "workload", "team")


def queue_alerts(settings: Settings) -> RuleFile:
    """Alerts about waiting work: for the platform, and for those whose work it is."""
    alerts = (
        _saturated(settings),
        _saturated_for_owner(settings),
        _fragmented(),
        _fragmented_for_owner(),
        _slow_waits(settings),
    )
    return RuleFile(
        path="alerts/queues.yaml",
        comment="Alerts about work that waits: GPUs that are all in use, free GPUs on the wrong nodes, and queues in "
        "which work waits too long.",
        groups=(Group("gpuscope-alerts-queues", settings.intervals.aggregate, alerts),),
    )


def _full(settings: Settings) -> Vector:
    """The share of GPUs in use, where hardly any is free."""
    usable = sum_by(select(cluster.GPUS, state="allocatable"), *_HERE)
    free = ratio(max_by(select(demand.FREE), *_HERE), usable)
    return free.compare("<", settings.thresholds.free_gpus_low_ratio)


def _waited_for() -> Vector:
    """GPUs that waiting work asks for; pods, jobs and queues may tell of the same work."""
    return max_by(select(demand.CLUSTER_WAITED_FOR), *_HERE).compare(">", 0)


def _saturated(settings: Settings) -> Alert:
    low = settings.thresholds.free_gpus_low_ratio
    return alert(
        name="GpuClusterSaturated",
        expression=_waited_for().and_(_full(settings), on=_HERE),
        for_s=1800,
        severity=Severity.WARNING,
        scope=Scope.CLUSTER,
        component=Component.USAGE,
        summary="Work waits and the cluster has hardly any free GPU.",
        description=f"Less than {low * 100:.0f} % of the GPUs that can be used in cluster {{{{ $labels.cluster }}}} "
        f"are free, and waiting work has asked for {counted('GPU')} for {HELD}.",
        measured=f"{counted('GPU')} waited for",
        action="Look at who holds GPUs and how many of them are idle; then at quotas, or add nodes.",
    )


def _saturated_for_owner(settings: Settings) -> Alert:
    owner = ("cluster", "namespace", "team")
    mine = max_by(select(demand.TEAM_WAITED_FOR), *owner).compare(">", 0)
    return alert(
        name="GpuClusterSaturated",
        expression=mine.and_(_full(settings), on=_HERE),
        for_s=1800,
        severity=Severity.INFO,
        scope=Scope.CLUSTER,
        component=Component.USAGE,
        audience=Audience.OWNER,
        summary="Your work waits, as the cluster has hardly any free GPU.",
        description="Work of {{ with $labels.team }}team {{ . }}{{ else }}an unknown team{{ end }}{{ with "
        "$labels.namespace }} in {{ . }}{{ end }} has waited for "
        f"{counted('GPU')} for {HELD} while nearly all GPUs of the cluster are in use.",
        measured=f"{counted('GPU')} waited for",
        action="Give back GPUs that you hold and do not use, or wait; ask the platform team for the order of the "
        "queue.",
    )


def _stuck() -> Vector:
    """Pods that do not fit on any node although as many GPUs are free as all pods of the workload want together."""
    found = []
    for size in SIZES:
        pods = sum_by(select(demand.WAITING_PODS, Matcher("size", "=", str(size))), *_WORK)
        slots = max_by(select(demand.SLOTS, size=str(size)), *_HERE)
        free = max_by(select(demand.FREE), *_HERE)
        missing = on(pods, "-", slots, _HERE, many="left").compare(">", 0)
        enough = on(pods * size, "-", free, _HERE, many="left").compare("<=", 0)
        found.append(label_replace(missing.and_(enough, on=_WORK), "size", str(size), "", ""))
    result = found[0]
    for one in found[1:]:
        result = result.or_(one)
    return result


def _fragmented() -> Alert:
    return alert(
        name="GpuClusterFragmented",
        expression=sum_by(_stuck(), *_HERE),
        for_s=1800,
        severity=Severity.WARNING,
        scope=Scope.CLUSTER,
        component=Component.USAGE,
        tier=2,
        summary="Enough GPUs are free, and yet on no node enough of them for the work that waits.",
        description=f"{counted('pod')} in cluster {{{{ $labels.cluster }}}} {one_or_many('has', 'have')} waited for "
        f"{HELD}: "
        f"as many GPUs are free as {one_or_many('it asks', 'they ask')} for, but not on one node each.",
        measured=counted("pod"),
        action="Move or end small work that is spread over nodes; then pack new work tightly (bin packing).",
    )


def _fragmented_for_owner() -> Alert:
    return alert(
        name="GpuClusterFragmented",
        expression=sum_by(_stuck(), *_WORK),
        for_s=1800,
        severity=Severity.INFO,
        scope=Scope.JOB,
        component=Component.USAGE,
        audience=Audience.OWNER,
        tier=2,
        summary="Your work waits although enough GPUs are free: no node has enough of them.",
        description=f"{counted('pod')} of {WORKLOAD} {one_or_many('has', 'have')} waited for {HELD}. The cluster has "
        f"as many free GPUs as {one_or_many('it asks', 'they ask')} for, but not as many on one node as one pod "
        "wants.",
        measured=counted("pod"),
        action="Ask for fewer GPUs per pod and more pods if your program can do so; else ask the platform team to make "
        "room.",
        board=Noun.TASK,
        carry={"namespace": "namespace", "workload": "workload"},
    )


def _slow_waits(settings: Settings) -> Alert:
    limits = settings.thresholds
    # Two pairs of windows for one severity: queues are too slow for a window of minutes.
    slow = burning(objective.SLOW_WAITS, limits.queue_wait_objective, LOSSY[Severity.WARNING])
    return alert(
        name="QueueWaitBudgetBurn",
        expression=slow,
        for_s=900,
        severity=Severity.WARNING,
        scope=Scope.CLUSTER,
        component=Component.SCHEDULER,
        tier=2,
        summary="Work waits in a queue for longer than it should.",
        description="Of the workloads that queue {{ $labels.queue }} admitted, {{ $value | humanizePercentage }} had "
        f"waited for more than {limits.queue_wait_slo_seconds:.0f} seconds; at most "
        f"{100 - limits.queue_wait_objective * 100:.0f} % should. Measured over six hours or three days, and still so.",
        measured="{{ $value | humanizePercentage }} waited too long",
        action="Compare what the queue holds with its quota, and look for work that holds GPUs without using them.",
        board=Noun.TRAINING,
        carry={"queue": "queue"},
    )

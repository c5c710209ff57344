"""Alerts about schedulers, and about nodes that take no work."""

from __future__ import annotations

from gpuscope_generator.normalized import node, training, watch
from gpuscope_generator.promql import Matcher, Vector, count_by, group_by, max_by, ratio, select, sum_by
from gpuscope_generator.rules.alert import Alert, Component, Scope, Severity, alert
from gpuscope_generator.rules.alerts.guards import outside_maintenance, with_gpus, worked_on
from gpuscope_generator.rules.annotations import asked
from gpuscope_generator.rules.model import Group, RuleFile
from gpuscope_generator.settings import Settings

__all__ = ["scheduler_alerts"]

_REASON = (
    f"{{{{ range {asked(select(node.REASON, cluster='%q', node='%q').text, 'cluster', 'node')} }}}}"
    " Its scheduler says: {{ .Labels.reason }}.{{ end }}"
)
_BY_MACHINES = Matcher(
    "reason",
    "!~",
    "(?i)taint .*|.*pressure|networkunavailable|(.*(gpuscope|nvsentinel|gpud|health.?check|not responding|"
    "kill task failed|prolog|epilog|low (realmemory|cpus|sockets|cores|threads)|gres/gpu count).*)",
)
"""Reasons that software writes are left out: what remains was written by somebody who knows about the node."""


def scheduler_alerts(settings: Settings) -> RuleFile:
    """Alerts about who gives work to GPUs, and about nodes that get none."""
    return RuleFile(
        path="alerts/scheduler.yaml",
        comment="Alerts about schedulers that do not answer, nodes with GPUs that are not ready, and GPUs that wait "
        "for a repair.",
        groups=(
            Group(
                "gpuscope-alerts-scheduler",
                settings.intervals.normalize,
                (
                    _not_ready_under_work(),
                    _not_ready(),
                    _unavailable(),
                    _out_of_service(settings),
                    _far_out_of_service(settings),
                    _drained_too_long(),
                ),
            ),
        ),
    )


def _nodes_not_ready() -> Vector:
    return outside_maintenance(with_gpus(max_by(select(node.READY), *node.NODE).compare("==", 0)))


def _not_ready_under_work() -> Alert:
    return alert(
        name="GpuNodeNotReady",
        # Whoever took the node out of service knows; what still runs there is theirs to look after.
        expression=worked_on(_nodes_not_ready()).unless(select(node.CORDONED).compare("==", 1), on=node.NODE),
        for_s=180,
        keep_s=120,
        severity=Severity.CRITICAL,
        scope=Scope.NODE,
        component=Component.SCHEDULER,
        fault_class="node_down",
        summary="A node with GPUs went down under work.",
        description="Node {{ $labels.node }} is not ready, or does not answer its scheduler, and somebody's work held "
        "its GPUs within the last hour. That work stands still or is lost." + _REASON,
        action="Look at the host: console, power, kernel log, kubelet or slurmd. See that the work was started again "
        "elsewhere.",
        carry={"node": "node"},
    )


def _not_ready() -> Alert:
    return alert(
        name="GpuNodeNotReady",
        expression=_nodes_not_ready(),
        for_s=900,
        keep_s=120,
        severity=Severity.WARNING,
        scope=Scope.NODE,
        component=Component.SCHEDULER,
        fault_class="node_down",
        summary="A node with GPUs is not ready.",
        description="Node {{ $labels.node }} is not ready, or does not answer its scheduler. Its GPUs are paid for and "
        "get no work." + _REASON,
        action="Look at the host: console, power, kernel log, kubelet or slurmd. Reboot it, or mark it as under "
        "maintenance while it is repaired.",
        carry={"node": "node"},
    )


def _unavailable() -> Alert:
    each = ("cluster", "scheduler")
    return alert(
        name="SchedulerUnavailable",
        expression=max_by(select(watch.SCHEDULER_UP), *each).compare("==", 0),
        for_s=300,
        keep_s=120,
        severity=Severity.CRITICAL,
        scope=Scope.CLUSTER,
        component=Component.SCHEDULER,
        summary="A scheduler does not answer: no new work starts.",
        description="{{ $labels.scheduler }} answers neither the gpuscope collector nor its scrape, or not completely. "
        "What runs goes on; nothing new starts, and nothing that fails is started again.",
        action="Look at the controller: slurmctld and its standby, the API server, or the controller's pod. See first "
        "that it is not merely the collector that may not ask any more.",
    )


def _gpus_out() -> tuple[Vector, Vector]:
    """GPUs of nodes that take no work, outside of planned maintenance, by node; and all GPUs by node."""
    counted = max_by(select(node.GPUS, Matcher("state", "=~", "expected|installed")), *node.NODE)
    away = group_by(select(node.STATE, Matcher("state", "!=", "ready")).compare("==", 1), *node.NODE)
    kept_out = group_by(select(training.QUARANTINED).compare("==", 1), *node.NODE)
    return outside_maintenance(counted.and_(away.or_(kept_out), on=node.NODE)), counted


def _out_of_service(settings: Settings) -> Alert:
    share = settings.thresholds.out_of_service_ratio
    out, counted = _gpus_out()
    return alert(
        name="GpuCapacityOutOfService",
        expression=ratio(sum_by(out, "cluster"), sum_by(counted, "cluster")).compare(">", share),
        for_s=1800,
        severity=Severity.WARNING,
        scope=Scope.CLUSTER,
        component=Component.SCHEDULER,
        summary="Too many GPUs are on nodes that take no work.",
        description="{{ $value | humanizePercentage }} of the GPUs are on nodes that are cordoned, drained, "
        f"quarantined or not ready, planned maintenance set aside; right would be at most {share * 100:.0f} %.",
        measured="{{ $value | humanizePercentage }} of GPUs",
        action="Open the list of nodes, sort by state, and work off the oldest reason first: repair, reboot or return "
        "to service.",
    )


def _far_out_of_service(settings: Settings) -> Alert:
    share = settings.thresholds.out_of_service_critical_ratio
    out, counted = _gpus_out()
    several = count_by(out, "cluster").compare(">=", 2)
    lost = ratio(sum_by(out, "cluster"), sum_by(counted, "cluster")).compare(">", share)
    return alert(
        name="GpuCapacityOutOfService",
        expression=lost.and_(several, on=("cluster",)),
        for_s=1800,
        severity=Severity.CRITICAL,
        scope=Scope.CLUSTER,
        component=Component.SCHEDULER,
        summary="A large part of the GPUs is on nodes that take no work.",
        description="{{ $value | humanizePercentage }} of the GPUs are on nodes that are cordoned, drained, "
        "quarantined or not ready, planned maintenance set aside; somebody is woken above "
        f"{share * 100:.0f} % on two nodes or more.",
        measured="{{ $value | humanizePercentage }} of GPUs",
        action="Look for what the nodes have in common: a rollout, a rack, a switch. Stop whatever still takes nodes "
        "out by itself.",
    )


def _drained_too_long() -> Alert:
    cordoned = max_by(select(node.CORDONED), *node.NODE).compare("==", 1)
    explained = select(node.REASON, _BY_MACHINES)
    return alert(
        name="NodeDrainedTooLong",
        expression=outside_maintenance(with_gpus(cordoned)).unless(explained, on=node.NODE),
        for_s=86_400,
        severity=Severity.INFO,
        scope=Scope.NODE,
        component=Component.SCHEDULER,
        tier=2,
        summary="A node with GPUs is kept out of work, and nobody wrote down why.",
        description="Node {{ $labels.node }} has been cordoned or drained without a break, with no reason or one that "
        "software wrote." + _REASON,
        action="Find out whether the node is well. Return it to service, or write down why it is not.",
        carry={"node": "node"},
    )

"""Alerts about ports of the network between GPUs: down, unsteady, or slower than they were."""

from __future__ import annotations

from gpuscope_generator.normalized import node, port
from gpuscope_generator.promql import Vector, count_by, group_by, increase, max_by, on, ratio, select
from gpuscope_generator.rules.alert import Alert, Component, Scope, Severity, alert
from gpuscope_generator.rules.alerts.guards import after_boot, outside_maintenance
from gpuscope_generator.rules.alerts.wording import counted, one_or_many
from gpuscope_generator.rules.model import Group, RuleFile
from gpuscope_generator.settings import Settings

__all__ = ["network_alerts"]

_PORT = port.PORT
_COUNTING_S = 4500
"""Links come up within a quarter of an hour of a boot; an hour later no count of an hour reaches back to that."""
_SLOWER = 0.9
"""Share of the speed that a port had before, below which its link came up with fewer lanes or at a lower rate."""
_MANY = 0.1
"""Share of the nodes with ports from which on many links that are down have one cause."""
_FEWEST = 3
_CARRIED = {"node": "node"}


def network_alerts(settings: Settings) -> RuleFile:
    """Alerts about ports of InfiniBand and RoCE adapters."""
    alerts = (_down(), _many_down(), _flapping(settings), _degraded(settings))
    return RuleFile(
        path="alerts/network.yaml",
        comment="Alerts about ports of InfiniBand and RoCE adapters. A port that was not active within a week is one "
        "that "
        "nobody uses.",
        groups=(Group("gpuscope-alerts-network", settings.intervals.normalize, alerts),),
    )


def _without_link() -> Vector:
    """Ports that were active within a week and are not; an adapter that went away has no port at all."""
    expected = max_by(select(port.EXPECTED), *_PORT)
    watched = group_by(select(port.UP), *node.NODE).or_(group_by(select(node.UPTIME), *node.NODE))
    found = expected.unless(select(port.UP).compare("==", 1), on=_PORT)
    return after_boot(outside_maintenance(found.and_(watched, on=node.NODE)))


def _down() -> Alert:
    return alert(
        name="FabricLinkDown",
        expression=_without_link(),
        for_s=180,
        keep_s=600,
        severity=Severity.CRITICAL,
        scope=Scope.NODE,
        component=Component.NETWORK,
        tier=2,
        fault_class="net_link",
        summary="A port of the network between GPUs has lost its link.",
        description="Port {{ $labels.port }} of {{ $labels.device }} on node {{ $labels.node }} was active within "
        "the last "
        "seven days, and is down or gone now. Jobs over several nodes are slow there, or hang.",
        action="Keep new work off the node; then look at cable, transceiver and the port of the switch.",
        carry=_CARRIED,
    )


def _many_down() -> Alert:
    here = ("cluster",)
    down = count_by(group_by(_without_link(), *node.NODE), *here)
    all_nodes = count_by(group_by(select(port.EXPECTED), *node.NODE), *here)
    share = ratio(down, all_nodes).compare(">=", _MANY)
    return alert(
        name="FabricLinksDownMany",
        expression=down.compare(">=", _FEWEST).and_(share, on=here),
        for_s=120,
        severity=Severity.CRITICAL,
        scope=Scope.FABRIC,
        component=Component.NETWORK,
        tier=2,
        fault_class="switch",
        summary="Ports of many nodes have lost their links at once: a switch, a subnet manager or a rollout is to "
        "blame.",
        description=f"{counted('node')} of cluster {{{{ $labels.cluster }}}} {one_or_many('has', 'have')} a port "
        "without a link "
        f"that was active before: {_MANY * 100:.0f} % of the nodes or more.",
        measured=counted("node"),
        action="Look at the leaf switches and the subnet manager first; take no action on single nodes.",
    )


def _flapping(settings: Settings) -> Alert:
    times = settings.thresholds.link_flaps_per_hour
    lost = max_by(increase(select(port.LINK_DOWNS), "1h"), *_PORT).compare(">=", times)
    return alert(
        name="FabricLinkFlapping",
        expression=_settled(lost).and_(select(port.EXPECTED), on=_PORT),
        keep_s=3600,
        severity=Severity.WARNING,
        scope=Scope.NODE,
        component=Component.NETWORK,
        tier=2,
        fault_class="net_link",
        summary="A port of the network between GPUs loses its link again and again.",
        description="Port {{ $labels.port }} of {{ $labels.device }} on node {{ $labels.node }} lost its link "
        f"{counted('time')} within an hour; fewer than {times:.0f} times is accepted.",
        measured=f"{counted('time')} in an hour",
        action="Keep new work off the node. Once nothing runs there reseat cable and transceiver on both ends; replace "
        "them if it goes on.",
        carry=_CARRIED,
    )


def _degraded(settings: Settings) -> Alert:
    most = settings.thresholds.port_errors_per_hour
    best = max_by(select(port.BEST_RATE), *_PORT)
    slower = on(max_by(select(port.RATE), *_PORT), "-", best * _SLOWER, _PORT).compare("<", 0)
    slow = group_by(slower.and_(select(port.UP).compare("==", 1), on=_PORT), *_PORT)
    errors = group_by(max_by(increase(select(port.ERRORS), "1h"), *_PORT).compare(">", most), *_PORT)
    return alert(
        name="FabricLinkDegraded",
        expression=outside_maintenance(after_boot(slow)).or_(_settled(errors), on=_PORT),
        for_s=900,
        severity=Severity.WARNING,
        scope=Scope.NODE,
        component=Component.NETWORK,
        tier=2,
        fault_class="net_link",
        summary="A port of the network between GPUs is slower than it was, or makes many errors.",
        description="Port {{ $labels.port }} of {{ $labels.device }} on node {{ $labels.node }} runs below "
        f"{_SLOWER * 100:.0f} % of the speed that it had within seven days, or counted more than {most:.0f} symbol "
        "errors within an hour. The slowest port of a job slows all of it down.",
        action="Compare speed and errors of both ends, and firmware versions. When the node is next drained clean or "
        "replace optics.",
        carry=_CARRIED,
    )


def _settled(found: Vector) -> Vector:
    """What is not on a node that booted so lately that links coming up are in the count, or under maintenance."""
    booted = select(node.UPTIME).compare("<", _COUNTING_S)
    return outside_maintenance(found.unless(booted, on=node.NODE))

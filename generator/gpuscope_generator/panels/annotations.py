"""Events over the graphs, the same on every board: alerts, XID errors, restarts, changes of MIG instances."""

from __future__ import annotations

from gpuscope_generator.normalized import mig, node, workload
from gpuscope_generator.panels.variables import IN_CLUSTER
from gpuscope_generator.promql import Info, Matcher, Origin, Vector, changes, count_by, group_by, select
from gpuscope_generator.view import Annotation, palette

__all__ = ["ALERTS", "firing_alerts", "mig_changes", "restarts", "xid_errors"]

ALERTS = Info(
    "ALERTS",
    ("alertname", "alertstate", "severity", "component"),
    meaning="1 while an alert is pending or firing. Prometheus makes it.",
    origin=Origin.PROMETHEUS,
)
_STEP = "1m"


def firing_alerts() -> Annotation:
    """Alerts of ours that fire: each says which component it is about, other rules' alerts do not."""
    found = select(ALERTS, IN_CLUSTER, Matcher("component", "!=", ""), alertstate="firing")
    return Annotation(
        name="Alerts",
        expression=found,
        title="{{alertname}}",
        text="{{severity}} {{node}}",
        color=palette.WARN,
    )


def xid_errors(*conditions: Matcher) -> Annotation:
    """The moment in which a node had an XID error; the count of an hour rises then.

    Args:
        conditions: on the node, where the board has one chosen.
    """
    hourly = select(node.XID_ERRORS_HOURLY, IN_CLUSTER, *conditions)
    return Annotation(
        name="XID errors",
        expression=_risen(hourly, hourly.offset(_STEP)),
        title="XID {{xid}} on {{node}}",
        color=palette.BAD,
    )


def restarts(*conditions: Matcher) -> Annotation:
    """Containers that began anew.

    Args:
        conditions: on namespace, workload and pod.
    """
    return Annotation(
        name="Restarts",
        expression=changes(select(workload.POD_RESTARTS, IN_CLUSTER, *conditions), "2m").compare(">", 0),
        title="{{pod}} restarted",
        text="{{workload}} container {{container}} on {{node}}",
        color=palette.INFO,
    )


def mig_changes(*conditions: Matcher) -> Annotation:
    """Nodes on which MIG instances were made or removed.

    Args:
        conditions: on the node, where the board has one chosen.
    """
    instances = select(mig.INFO, IN_CLUSTER, *conditions)
    keys = ("cluster", "node", "profile")
    present = count_by(instances, *keys)
    before = count_by(instances.offset("2m"), *keys)
    changed = present.compare("!=", before)
    made = group_by(present, *keys).unless(before)
    removed = group_by(before, *keys).unless(present)
    return Annotation(
        name="MIG changes",
        expression=changed.or_(made).or_(removed),
        title="MIG instances {{profile}} on {{node}} changed",
        color=palette.NEUTRAL,
        enabled=False,
    )


def _risen(count: Vector, before: Vector) -> Vector:
    """Where a count is larger than before, or was not there."""
    return count.compare(">", 0).unless(before).or_(count.compare(">", before))

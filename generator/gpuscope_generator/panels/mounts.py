"""Mounts of nodes: do they answer, how fast, and why not?"""

from __future__ import annotations

from gpuscope_generator.normalized import mount
from gpuscope_generator.panels.filesystem_choice import NODE_LINE, filesystem_links, node_links, of_mounts
from gpuscope_generator.promql import bottomk, max_by, min_by, topk
from gpuscope_generator.view import (
    AlertList,
    Explanation,
    LabelColumn,
    Query,
    StatusHistory,
    Table,
    Thresholds,
    TimeSeries,
    Unit,
    ValueColumn,
    ValueText,
    palette,
)

__all__ = ["alerts", "answer_time", "failures", "mount_states"]

_WATCHED = "the gpuscope agent, which asks each mount with a time-out; else node-exporter."
_STATES = {
    "0": ValueText("does not answer", palette.BAD),
    "1": ValueText("read-only", palette.WARN),
    "2": ValueText("up", palette.OK),
}


def mount_states() -> StatusHistory:
    """The state of each mount over time, the worst first."""
    keys = mount.ON_NODE
    up = min_by(of_mounts(mount.UP), *keys)
    read_only = max_by(of_mounts(mount.READ_ONLY), *keys)
    state = up * 2 - up.and_(read_only.compare("==", 1), on=keys)
    return StatusHistory(
        key="mount_states",
        title="State of mounts",
        explanation=Explanation(
            shows="Whether each mount answers, of the forty worst by node and file system. A gap: nobody can tell.",
            source=_WATCHED,
            good="Up throughout. Data sets that are mounted read-only on purpose show as read-only.",
            do="Does not answer: the table beside has the reason. Read-only that was not meant so: the file system had "
            "an error; look at the kernel log.",
        ),
        queries=(Query(expression=bottomk(40, state.or_(up * 2)), legend="{{node}} {{filesystem}}"),),
        width=14,
        height=10,
        texts=_STATES,
        thresholds=Thresholds(base=palette.BAD, steps=((1, palette.WARN), (2, palette.OK))),
        no_value="Unknown: neither the gpuscope agent nor node-exporter watches mounts",
    )


def failures() -> Table:
    """Mounts that are not up, with the reason."""
    keys = (*mount.MOUNT, "reason")
    return Table(
        key="mount_failures",
        title="Mounts that are not up",
        explanation=Explanation(
            shows="Mounts that hang, fail or are missing, and those of which nobody can tell, with the reason that the "
            "agent gives.",
            source="the gpuscope agent.",
            good="The table is empty.",
            do="timeout: is the server gone? stale or disconnected: unmount and mount again. missing: mount it. "
            "not_visible: the agent's container does not see it.",
        ),
        columns=(
            LabelColumn(label="cluster", title="Cluster", hidden=True),
            LabelColumn(label="node", title="Node", links=node_links()),
            LabelColumn(label="filesystem", title="File system", links=filesystem_links()),
            LabelColumn(label="mountpoint", title="Mount point"),
            LabelColumn(label="reason", title="Reason"),
            ValueColumn(title="Known", expression=max_by(of_mounts(mount.FAILURE), *keys), hidden=True),
        ),
        width=10,
        height=10,
        paginate=True,
        no_value="None, or no gpuscope agent",
    )


def answer_time() -> TimeSeries:
    """How long statfs takes."""
    return TimeSeries(
        key="answer_time",
        title="Time that mounts take to answer",
        explanation=Explanation(
            shows="How long the mount took to tell its free space (statfs), of the twenty slowest: it needs the "
            "metadata server, and moves no data.",
            source="the gpuscope agent.",
            good="Some milliseconds.",
            do="Slow on all nodes: the metadata server is overloaded, see metadata operations. Slow on one: its "
            "network.",
        ),
        queries=(
            Query(
                expression=topk(20, max_by(of_mounts(mount.STATFS), *mount.ON_NODE)),
                legend="{{node}} {{filesystem}}",
            ),
        ),
        unit=Unit.SECONDS,
        width=24,
        low=0,
        links=(NODE_LINE,),
        no_value="No gpuscope agent: node-exporter does not tell it",
    )


def alerts() -> AlertList:
    """Alerts about file systems."""
    return AlertList(
        key="filesystem_alerts",
        title="Alerts about file systems",
        explanation=Explanation(
            shows="Alerts that fire, or are about to, on file systems and mounts of the chosen cluster.",
            source="Grafana's list of alerts of this data source; rules in alert_rules/.",
            good="Empty.",
            do="Open the alert, and follow its runbook.",
        ),
        width=24,
        height=8,
        label_filter='{component=~"storage|filesystem", cluster=~"$cluster"}',
    )

"""The nodes on which the chosen jobs run."""

from __future__ import annotations

from gpuscope_generator.normalized import node, training, workload
from gpuscope_generator.panels.chosen import CHOSEN
from gpuscope_generator.panels.faults import NODE_LINKS
from gpuscope_generator.panels.variables import IN_CLUSTER
from gpuscope_generator.promql import Gauge, Matcher, Vector, group_by, max_by, ratio, select, sum_by
from gpuscope_generator.view import (
    Cell,
    Explanation,
    LabelColumn,
    Table,
    Thresholds,
    Unit,
    ValueColumn,
    ValueText,
    palette,
)

__all__ = ["related_nodes"]

_STATES = {
    "ready": ValueText("ready", palette.OK),
    "cordoned": ValueText("cordoned", palette.WARN),
    "not_ready": ValueText("not ready", palette.BAD),
    "unknown": ValueText("unknown", palette.IDLE),
}


def related_nodes() -> Table:
    """One row a node."""
    held = select(workload.POD_GPU_SHARE, *CHOSEN)
    parts = select(workload.POD_MIG_SHARE, *CHOSEN)
    nodes = group_by(held, *node.NODE).or_(group_by(parts, *node.NODE))

    def of_node(series: Gauge, *more: Matcher) -> Vector:
        return sum_by(select(series, IN_CLUSTER, *more), *node.NODE).and_(nodes, on=node.NODE)

    state = max_by(select(node.STATE, IN_CLUSTER).compare("==", 1), *node.NODE, "state").and_(nodes, on=node.NODE)
    busy = ratio(of_node(node.COMPUTE_ACTIVE), of_node(node.COMPUTE_COUNT))
    out = max_by(select(training.QUARANTINED, IN_CLUSTER), *node.NODE).and_(nodes, on=node.NODE)
    return Table(
        key="related_nodes",
        title="Nodes of the chosen workloads",
        explanation=Explanation(
            shows="Nodes on which the chosen workloads hold GPUs: state, mean compute activity, GPUs whose clocks are "
            "held down, and XID errors within the last hour.",
            source="the scheduler or kube-state-metrics; the gpuscope agent or dcgm-exporter; NVSentinel.",
            good="All are ready, equally busy, and without errors.",
            do="One that differs is the first suspect: open it on the cluster board.",
        ),
        columns=(
            LabelColumn(label="cluster", title="Cluster", hidden=True),
            LabelColumn(label="node", title="Node", links=NODE_LINKS),
            LabelColumn(label="state", title="State", texts=_STATES),
            ValueColumn(title="Known", expression=state, hidden=True),
            ValueColumn(
                title="GPU activity",
                expression=busy,
                unit=Unit.RATIO,
                cell=Cell.BAR,
                low=0,
                high=1,
                decimals=0,
            ),
            ValueColumn(title="Throttled GPUs", expression=of_node(node.THROTTLED), unit=Unit.COUNT),
            ValueColumn(
                title="XID errors (1 h)",
                expression=of_node(node.XID_ERRORS_HOURLY),
                unit=Unit.COUNT,
                cell=Cell.COLORED_TEXT,
                thresholds=Thresholds(base=palette.OK, steps=((0.5, palette.BAD),)),
                decimals=0,
            ),
            ValueColumn(title="Kept out", expression=out, unit=Unit.BOOLEAN),
        ),
        sort_by="GPU activity",
        descending=False,
        paginate=True,
        no_value="No chosen workload holds a GPU",
    )

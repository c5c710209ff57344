"""The nodes, one row each: which one is to blame."""

from __future__ import annotations

from gpuscope_generator.normalized import fleet, node
from gpuscope_generator.panels.fleet_choice import node_cell_links, of_nodes
from gpuscope_generator.promql import Gauge, Vector, max_by, min_by, ratio
from gpuscope_generator.settings import Settings
from gpuscope_generator.view import (
    Cell,
    Explanation,
    LabelColumn,
    Link,
    Noun,
    Table,
    Thresholds,
    Unit,
    ValueColumn,
    ValueText,
    cell,
    palette,
)

__all__ = ["STATES", "instance_status"]

STATES = {
    "ready": ValueText("ready", palette.OK),
    "cordoned": ValueText("cordoned", palette.WARN),
    "not_ready": ValueText("not ready", palette.BAD),
    "unknown": ValueText("unknown", palette.IDLE),
}
_DARK_S = 86_400


def _of(series: Gauge, **equal: str) -> Vector:
    return max_by(of_nodes(series, **equal), *node.NODE)


def instance_status(settings: Settings) -> Table:
    """One row a node."""
    facts = max_by(of_nodes(fleet.STATUS), *node.NODE, "pool", "instance_type", "state", "reason", "driver")
    margin = settings.thresholds.temperature_margin_celsius
    low = settings.thresholds.low_utilization_ratio
    bad_from_one = Thresholds(base=palette.OK, steps=((1, palette.BAD),))
    return Table(
        key="instance_status",
        title="Nodes",
        explanation=Explanation(
            shows="One row for each node that anybody tells of, the dead ones too. Broken are GPUs that are "
            "missing or not healthy; XID are errors that the driver reported. Headroom is how far the hottest GPU is "
            "below the temperature at which it slows down. An empty cell means that nobody tells, not that it is 0.",
            source="schedulers for state and reason; the gpuscope agent or dcgm-exporter for GPUs; node-exporter for "
            "uptime.",
            good="Ready, nothing broken, no XID errors, headroom of more than ten degrees.",
            do="Click a node to see it alone: the rows below then tell of it. Broken GPUs: open Faults. Cordoned "
            "without a reason: ask who did it. Short uptime: it rebooted, look why.",
        ),
        height=11,
        columns=(
            LabelColumn(label="cluster", title="Cluster"),
            LabelColumn(label="node", title="Node", links=node_cell_links()),
            LabelColumn(label="pool", title="Pool"),
            LabelColumn(label="instance_type", title="Type"),
            LabelColumn(label="state", title="State", texts=STATES),
            LabelColumn(label="reason", title="Reason"),
            LabelColumn(label="driver", title="Driver"),
            ValueColumn(title="Known", expression=facts, hidden=True),
            ValueColumn(
                title="Broken",
                expression=_of(node.GPUS, state="broken"),
                unit=Unit.COUNT,
                decimals=0,
                cell=Cell.COLORED_TEXT,
                thresholds=bad_from_one,
            ),
            ValueColumn(
                title="XID (24 h)",
                expression=_of(fleet.XID_ERRORS_DAILY),
                unit=Unit.COUNT,
                decimals=0,
                cell=Cell.COLORED_TEXT,
                thresholds=Thresholds(base=palette.OK, steps=((1, palette.WARN),)),
            ),
            ValueColumn(
                title="Headroom",
                expression=min_by(of_nodes(node.HEADROOM), *node.NODE),
                unit=Unit.CELSIUS,
                decimals=0,
                cell=Cell.COLORED_TEXT,
                thresholds=Thresholds(base=palette.BAD, steps=((margin, palette.WARN), (2 * margin, palette.OK))),
            ),
            ValueColumn(
                title="Activity",
                expression=ratio(_of(node.COMPUTE_ACTIVE), _of(node.COMPUTE_COUNT)),
                unit=Unit.RATIO,
                decimals=0,
                cell=Cell.COLORED_TEXT,
                thresholds=Thresholds(base=palette.WARN, steps=((low, palette.OK),)),
            ),
            ValueColumn(title="Power", expression=_of(node.POWER), unit=Unit.WATTS, decimals=1),
            ValueColumn(
                title="Uptime",
                expression=_of(node.UPTIME),
                unit=Unit.SECONDS,
                decimals=0,
                cell=Cell.COLORED_TEXT,
                thresholds=Thresholds(base=palette.WARN, steps=((_DARK_S, palette.TEXT),)),
            ),
            ValueColumn(
                title="Workloads",
                expression=_of(fleet.HOLDERS),
                unit=Unit.COUNT,
                links=(Link("Workloads of this cluster", Noun.TASK, {"cluster": cell("cluster")}),),
            ),
        ),
        sort_by="Broken",
        paginate=True,
        no_value="No node is known: neither a scheduler nor an exporter tells of one",
    )

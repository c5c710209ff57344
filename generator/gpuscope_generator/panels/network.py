"""The network between nodes: traffic against what the ports could carry, and errors."""

from __future__ import annotations

from gpuscope_generator.normalized import cluster, fleet, node
from gpuscope_generator.panels.fleet_choice import node_line_links, of_nodes, only_node_links
from gpuscope_generator.panels.variables import IN_CLUSTER
from gpuscope_generator.promql import Vector, max_by, ratio, select, sum_by, topk
from gpuscope_generator.view import (
    Cell,
    Explanation,
    LabelColumn,
    LineStyle,
    Query,
    Table,
    Thresholds,
    TimeSeries,
    Unit,
    ValueColumn,
    palette,
)

__all__ = ["network_by_node", "network_errors", "network_traffic"]

_SOURCE = "node-exporter for Ethernet, InfiniBand and RoCE; the EFA exporter for EFA."
_KEYS = (*node.NODE, "fabric")
_FULL = 0.9


def network_traffic() -> TimeSeries:
    """Traffic of the fleet by fabric."""

    def flow(direction: str, legend: str) -> Query:
        found = sum_by(select(cluster.NETWORK, IN_CLUSTER, direction=direction), "cluster", "fabric")
        return Query(expression=found, legend=f"{{{{fabric}}}} {legend}")

    return TimeSeries(
        key="network_traffic",
        title="Network traffic of all nodes",
        explanation=Explanation(
            shows="Bytes a second that all nodes together sent and received, by fabric; received is drawn downwards. "
            "RoCE adapters count as InfiniBand and, with the same bytes, may count as Ethernet too.",
            source=_SOURCE,
            good="It follows the training jobs.",
            do="A fall to 0 while GPUs are busy: jobs wait for one another, see errors beside.",
        ),
        queries=(flow("tx", "sent"), flow("rx", "received")),
        unit=Unit.BYTES_PER_SECOND,
        width=12,
        height=9,
        styles={"/ received$/": LineStyle(below_zero=True)},
        no_value="node-exporter is absent",
    )


def network_by_node() -> Table:
    """One row a node and fabric."""

    def flow(direction: str) -> Vector:
        return max_by(of_nodes(node.NETWORK_BYTES, direction=direction), *_KEYS)

    line_rate = max_by(of_nodes(fleet.LINE_RATE), *_KEYS)
    full = Thresholds(base=palette.NEUTRAL, steps=((_FULL, palette.WARN),))

    def share(title: str, direction: str) -> ValueColumn:
        return ValueColumn(
            title=title,
            expression=ratio(flow(direction), line_rate),
            unit=Unit.RATIO,
            decimals=0,
            cell=Cell.BAR,
            thresholds=full,
            low=0,
            high=1,
        )

    return Table(
        key="network_by_node",
        title="Network by node",
        explanation=Explanation(
            shows="Bytes a second by node and fabric, sent plus received, and what that is of the line rate: the sum "
            "of the speeds of all ports that are up, in one direction.",
            source=_SOURCE + " The EFA exporter tells no line rate: its cells stay empty.",
            good="Below 90 %. The line rate is the same on all nodes of one type.",
            do="A lower line rate than its neighbors: a port is down, or came up slower. Near 100 %: the job is bound "
            "by the network.",
        ),
        columns=(
            LabelColumn(label="cluster", title="Cluster"),
            LabelColumn(label="node", title="Node", links=only_node_links()),
            LabelColumn(label="fabric", title="Fabric"),
            ValueColumn(
                title="Sent and received",
                expression=sum_by(of_nodes(node.NETWORK_BYTES), *_KEYS),
                unit=Unit.BYTES_PER_SECOND,
            ),
            ValueColumn(title="Line rate", expression=line_rate, unit=Unit.BYTES_PER_SECOND),
            share("Sent, of line rate", "tx"),
            share("Received, of line rate", "rx"),
        ),
        sort_by="Sent and received",
        paginate=True,
        no_value="node-exporter is absent",
    )


def network_errors() -> TimeSeries:
    """Errors by node, fabric and type."""
    found = max_by(of_nodes(node.NETWORK_ERRORS).compare(">", 0), *_KEYS, "type")
    return TimeSeries(
        key="network_errors",
        title="Network errors by node (top 20)",
        explanation=Explanation(
            shows="Errors, drops, retransmissions and lost links a second, by node and fabric; nodes without any are "
            "not shown.",
            source=_SOURCE,
            good="Nothing to see. A few drops on Ethernet are normal.",
            do="Lost links or symbol errors: check cable and transceiver. Retransmissions on many nodes: congestion, "
            "look at the switches.",
        ),
        queries=(Query(expression=topk(20, found), legend="{{node}} {{fabric}} {{type}}"),),
        unit=Unit.COUNT_PER_SECOND,
        width=12,
        height=9,
        low=0,
        links=node_line_links(),
        no_value="No errors, or node-exporter is absent",
    )

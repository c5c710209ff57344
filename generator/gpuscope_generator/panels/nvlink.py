"""NVLink: traffic between GPUs, and errors."""

from __future__ import annotations

from gpuscope_generator.normalized import fleet, node
from gpuscope_generator.panels.fleet_choice import node_line_links, of_nodes
from gpuscope_generator.promql import max_by, topk
from gpuscope_generator.view import Explanation, LineStyle, Query, TimeSeries, Unit

__all__ = ["nvlink_errors", "nvlink_traffic"]


def nvlink_traffic() -> TimeSeries:
    """Traffic by node, both directions."""

    def flow(direction: str, legend: str) -> Query:
        found = max_by(of_nodes(fleet.NVLINK_BYTES, direction=direction), *node.NODE)
        return Query(expression=topk(10, found), legend=f"{{{{node}}}} {legend}")

    return TimeSeries(
        key="nvlink_traffic",
        title="NVLink traffic by node (top 10)",
        explanation=Explanation(
            shows="Bytes a second that all GPUs of a node sent and received over NVLink; received is drawn downwards.",
            source="the gpuscope agent, or profiling metrics of dcgm-exporter.",
            good="Nodes of one job look alike.",
            do="One node far below the others of its job: compare its errors beside, then its links in GPUs to repair.",
        ),
        queries=(flow("tx", "sent"), flow("rx", "received")),
        unit=Unit.BYTES_PER_SECOND,
        width=12,
        height=9,
        styles={"/ received$/": LineStyle(below_zero=True)},
        links=node_line_links(),
        no_value="No NVLink, or no source tells its traffic",
    )


def nvlink_errors() -> TimeSeries:
    """Errors of the last hour by node and type."""
    found = max_by(of_nodes(fleet.NVLINK_ERRORS_HOURLY), *node.NODE, "type")
    return TimeSeries(
        key="nvlink_errors",
        title="NVLink errors within an hour, by node (top 20)",
        explanation=Explanation(
            shows="At each moment the NVLink errors of the hour before it: checksum errors and replays (data sent "
            "again) cost time, recoveries mean that a link went down and came back.",
            source="the gpuscope agent or dcgm-exporter. Counts since boot are of no use and are not shown.",
            good="0. A replay now and then is harmless.",
            do="Recoveries, or replays that do not end: look for XID 74 on the node, check both ends of the link, "
            "drain the node.",
        ),
        queries=(Query(expression=topk(20, found), legend="{{node}} {{type}}"),),
        unit=Unit.COUNT,
        width=12,
        height=9,
        low=0,
        spaced_names=True,
        links=node_line_links(),
        no_value="No NVLink, or no source counts its errors",
    )

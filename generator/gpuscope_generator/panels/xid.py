"""XID errors: what the driver reported, what it means, and what to do."""

from __future__ import annotations

from gpuscope.catalogue.xid_table import xid_rows
from gpuscope_generator.normalized import cluster, node
from gpuscope_generator.panels.variables import IN_CLUSTER
from gpuscope_generator.promql import Vector, count_by, label_replace, max_by, select, sum_by
from gpuscope_generator.view import (
    Cell,
    Explanation,
    LabelColumn,
    Query,
    Table,
    Thresholds,
    TimeSeries,
    Unit,
    ValueColumn,
    ValueText,
    palette,
)

__all__ = ["ACTIONS", "xid_codes", "xid_over_time", "xid_texts"]

_SOURCE = "the gpuscope agent, which counts driver events and kernel log lines; from dcgm-exporter it is a lower bound."
ACTIONS = {
    "ignore": ValueText("nothing", palette.IDLE),
    "restart_app": ValueText("restart the work", palette.WARN),
    "restart_vm": ValueText("restart the virtual machine", palette.WARN),
    "update_software": ValueText("update driver or firmware", palette.WARN),
    "follow_154": ValueText("do what XID 154 asks for", palette.WARN),
    "contact_support": ValueText("ask the vendor", palette.WARN),
    "reset_gpu": ValueText("reset the GPU", palette.BAD),
    "drain": ValueText("drain the node", palette.BAD),
    "drain_and_reset": ValueText("drain the node, reset the GPU", palette.BAD),
    "reboot_node": ValueText("reboot the node", palette.BAD),
    "check_mechanicals": ValueText("check seating, cables and power", palette.BAD),
}
"""What the catalogue advises, in words; the color says how bad it is."""
_SEVERITIES = {
    palette.IDLE: ValueText("harmless", palette.IDLE),
    palette.WARN: ValueText("work is lost", palette.WARN),
    palette.BAD: ValueText("GPU or node is in trouble", palette.BAD),
}


def xid_texts() -> tuple[dict[str, ValueText], dict[str, ValueText], dict[str, ValueText]]:
    """Meaning by code, and severity and advice by patterns of codes, from the table that the agent acts on."""
    by_action: dict[str, list[str]] = {}
    by_color: dict[str, list[str]] = {}
    for row in xid_rows():
        by_action.setdefault(row["action"], []).append(row["code"])
        by_color.setdefault(ACTIONS[row["action"]].color, []).append(row["code"])
    return (
        {row["code"]: ValueText(row["meaning"]) for row in xid_rows()},
        {_any(codes): _SEVERITIES[color] for color, codes in by_color.items()},
        {_any(codes): ACTIONS[action] for action, codes in by_action.items()},
    )


def _any(codes: list[str]) -> str:
    return f"/^({'|'.join(codes)})$/"


def _explained(of_codes: Vector) -> Vector:
    """The code three times more, for the columns that show words in its place."""
    for label in ("meaning", "severity", "action"):
        of_codes = label_replace(of_codes, label, "$1", "xid", "(.*)")
    return of_codes


def xid_codes() -> Table:
    """One row a code."""
    meanings, severities, advice = xid_texts()
    hourly = select(cluster.XID_ERRORS_HOURLY, IN_CLUSTER)
    day = sum_by(select(cluster.XID_ERRORS_DAILY, IN_CLUSTER), "cluster", "xid").compare(">", 0)
    hit = select(node.XID_ERRORS_HOURLY, IN_CLUSTER).compare(">", 0)
    recent = sum_by(hourly, "cluster", "xid").compare(">", 0)
    colored = Thresholds(base=palette.TEXT)
    return Table(
        key="xid_codes",
        title="XID errors by code",
        explanation=Explanation(
            shows="Errors that the NVIDIA driver reported, by code, with what the code means and what is usually done "
            "about it. The count of 24 hours is rounded up. A code "
            "that the table does not know shows as its number.",
            source=_SOURCE,
            good="The table is empty, or has only harmless codes and codes of applications.",
            do="Follow the advice for red codes first; GPUs to repair, below, names the devices. A code of "
            "applications on the same GPU in different jobs points to hardware as well.",
        ),
        columns=(
            LabelColumn(label="cluster", title="Cluster"),
            LabelColumn(label="xid", title="XID"),
            LabelColumn(label="meaning", title="Meaning", texts=meanings),
            LabelColumn(label="severity", title="Severity", texts=severities),
            LabelColumn(label="action", title="Usual action", texts=advice),
            ValueColumn(title="24 h", expression=_explained(day), unit=Unit.COUNT, decimals=0),
            ValueColumn(
                title="Last hour",
                expression=_explained(recent),
                unit=Unit.COUNT,
                decimals=0,
                cell=Cell.COLORED_TEXT,
                thresholds=colored,
            ),
            ValueColumn(
                title="Nodes (last hour)", expression=_explained(count_by(hit, "cluster", "xid")), unit=Unit.COUNT
            ),
        ),
        sort_by="24 h",
        paginate=True,
        no_value="No XID error in 24 hours, or no source tells of them",
    )


def xid_over_time() -> TimeSeries:
    """XID errors of the last hour over time."""
    shown = max_by(select(cluster.XID_ERRORS_HOURLY, IN_CLUSTER).compare(">", 0), "cluster", "xid")
    return TimeSeries(
        key="xid_over_time",
        title="XID errors within an hour, by code",
        explanation=Explanation(
            shows="At each moment the errors of the hour before it, by code: an error stays visible for an hour, and "
            "then goes away by itself.",
            source=_SOURCE,
            good="Nothing to see.",
            do="A step up is the moment of the error: the marks on all graphs name the node. Many nodes at once point "
            "at power, cooling or the fabric and not at a GPU.",
        ),
        queries=(Query(expression=shown, legend="XID {{xid}}"),),
        unit=Unit.COUNT,
        width=12,
        height=10,
        low=0,
        bars=True,
        stacked=True,
        no_value="No XID error, or no source tells of them",
    )

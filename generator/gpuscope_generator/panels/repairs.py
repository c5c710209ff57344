"""GPUs that ask for a repair, and the ECC errors that come before."""

from __future__ import annotations

from gpuscope_generator.normalized import cluster, gpu
from gpuscope_generator.panels.fleet_choice import CHOSEN_GPUS, gpu_cell_links, only_node_links
from gpuscope_generator.panels.variables import IN_CLUSTER
from gpuscope_generator.promql import RANGE, Gauge, Matcher, Vector, increase, max_by, select, sum_by, topk
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
    ValueText,
    palette,
)

__all__ = ["ecc_errors", "gpus_to_repair"]

_MOST = 100
_ACTIONS = {
    "gpu_reset": ValueText("reset the GPU", palette.BAD),
    "node_reboot": ValueText("reboot the node", palette.BAD),
    "drain_p2p": ValueText("drain, and end peer access", palette.BAD),
    "drain_and_reset": ValueText("drain, then reset", palette.BAD),
    "recover_imex": ValueText("recover the IMEX domain", palette.BAD),
    "bus_reset": ValueText("reset the bus of the GPU", palette.BAD),
    "system_reboot": ValueText("reboot the system", palette.BAD),
}
_FAULTS = {
    "memory_unrepairable": ValueText("memory cannot be repaired", palette.BAD),
    "health_check": ValueText("fails its health check", palette.BAD),
}
_YES = {"1": ValueText("yes", palette.BAD)}


def _flag(title: str, vector: Vector, *labels: str, hidden: bool = False) -> ValueColumn:
    return ValueColumn(
        title=title,
        expression=max_by(topk(_MOST, vector), *gpu.GPU, *labels),
        cell=Cell.COLORED_TEXT,
        texts=_YES,
        hidden=hidden,
    )


def _set(series: Gauge, *conditions: Matcher) -> Vector:
    return select(series, *CHOSEN_GPUS, *conditions).compare("==", 1)


def _number(title: str, vector: Vector, color: str) -> ValueColumn:
    return ValueColumn(
        title=title,
        expression=max_by(topk(_MOST, vector.compare(">", 0)), *gpu.GPU),
        unit=Unit.COUNT,
        decimals=0,
        cell=Cell.COLORED_TEXT,
        thresholds=Thresholds(base=palette.TEXT, steps=((1, color),)),
    )


def gpus_to_repair() -> Table:
    """One row a GPU that has any trouble."""
    lost = select(gpu.UP, *CHOSEN_GPUS).compare("==", 0) + 1
    uncorrected = sum_by(increase(select(gpu.ECC_ERRORS, *CHOSEN_GPUS, severity="uncorrected"), RANGE), *gpu.GPU)
    remapped = sum_by(select(gpu.REMAPPED_ROWS, *CHOSEN_GPUS, cause="uncorrectable"), *gpu.GPU)
    down = max_by(select(gpu.NVLINK_LINKS, *CHOSEN_GPUS, state="down"), *gpu.GPU)
    return Table(
        key="gpus_to_repair",
        title="GPUs to repair",
        explanation=Explanation(
            shows="GPUs with any of these signs: the GPU does not answer; the driver asks for an action; a memory row "
            "waits for a reset to be remapped, or cannot be remapped; uncorrected ECC errors in the time range; rows "
            "that were remapped for uncorrectable errors; NVLink links that are down. At most "
            f"{_MOST} GPUs a sign.",
            source="the gpuscope agent, dcgm-exporter or AMD's exporter; what the driver asks for needs a driver of "
            "2024 or newer.",
            good="The table is empty. Remapped rows alone are history: the GPU repaired itself.",
            do="Row remapping failed, or memory that cannot be repaired: replace the GPU. Waits for a reset: drain the "
            "node and reset. Lost: look for XID 79, then power-cycle. Links down: reseat, or a GPU of the fabric is "
            "lost.",
        ),
        columns=(
            LabelColumn(label="cluster", title="Cluster"),
            LabelColumn(label="node", title="Node", links=only_node_links()),
            LabelColumn(label="gpu", title="GPU", links=gpu_cell_links()),
            LabelColumn(label="uuid", title="UUID"),
            _flag("Lost", lost),
            _flag(
                "Asks for anything", _set(gpu.RECOVERY_ACTION, Matcher("action", "!=", "none")), "action", hidden=True
            ),
            LabelColumn(label="action", title="Driver asks to", texts=_ACTIONS),
            _flag("Waits for a reset", _set(gpu.REMAPPING_PENDING)),
            _flag("Remapping failed", _set(gpu.REMAPPING_FAILED)),
            _flag("Has a fault", _set(gpu.FAULT), "fault", hidden=True),
            LabelColumn(label="fault", title="Fault", texts=_FAULTS),
            _number("Uncorrected ECC", uncorrected, palette.BAD),
            _number("Rows remapped", remapped, palette.WARN),
            _number("Links down", down, palette.BAD),
        ),
        sort_by="Remapping failed",
        paginate=True,
        no_value="None: no GPU shows any of these signs, or no source tells of them",
    )


def ecc_errors() -> TimeSeries:
    """ECC errors of the last hour over time."""
    return TimeSeries(
        key="ecc_errors",
        title="ECC errors within an hour",
        explanation=Explanation(
            shows="At each moment the ECC errors of the hour before it, over all GPUs. Corrected ones cost nothing; an "
            "uncorrected one ends the work on its GPU.",
            source="the gpuscope agent, dcgm-exporter or AMD's exporter.",
            good="Uncorrected: 0. Corrected: a few, spread over the fleet.",
            do="Uncorrected: the table above names the GPU. Many corrected ones that stay: look for one GPU that has "
            "them all, and watch its remapped rows.",
        ),
        queries=(
            Query(
                expression=sum_by(select(cluster.ECC_ERRORS_HOURLY, IN_CLUSTER), "cluster", "severity"),
                legend="{{severity}}",
            ),
        ),
        unit=Unit.COUNT,
        width=12,
        height=10,
        low=0,
        styles={
            "uncorrected": LineStyle(color=palette.BAD),
            "corrected": LineStyle(color=palette.NEUTRAL),
        },
        no_value="No source tells of ECC errors, or these GPUs have no ECC",
    )

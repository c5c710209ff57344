"""What there is in total, and how the use of GPUs changed."""

from __future__ import annotations

from gpuscope_generator.normalized import cluster
from gpuscope_generator.panels.fleet import gpus
from gpuscope_generator.panels.fleet_choice import IN_MODEL
from gpuscope_generator.panels.variables import IN_CLUSTER
from gpuscope_generator.promql import Gauge as Level
from gpuscope_generator.promql import Vector, select, sum_by
from gpuscope_generator.view import (
    Cell,
    Explanation,
    LabelColumn,
    LineStyle,
    Query,
    Stat,
    Table,
    Thresholds,
    TimeSeries,
    Unit,
    ValueColumn,
    palette,
)

__all__ = ["cpus", "gpus_by_model", "gpus_over_time", "memory_and_disks"]

_DEVICES = "the gpuscope agent, dcgm-exporter or AMD's exporter, and the scheduler; summed by recording rules."


def gpus_over_time() -> TimeSeries:
    """The funnel over time."""
    work = sum_by(select(cluster.WORK, IN_CLUSTER, what="compute"), "cluster")
    return TimeSeries(
        key="gpus_over_time",
        title="GPUs: expected, healthy, held and busy",
        explanation=Explanation(
            shows="GPUs of the chosen models by what they are good for and whether somebody holds them; busy is "
            "activity added up, of all models.",
            source=_DEVICES,
            good="The lines lie close together.",
            do="A gap between healthy and held that lasts: see Scheduling. A gap between held and busy: see the "
            "GPU-hours of teams.",
        ),
        queries=(
            Query(expression=gpus("expected"), legend="expected"),
            Query(expression=gpus("healthy"), legend="healthy"),
            Query(expression=gpus("allocated"), legend="held"),
            Query(expression=gpus("idle"), legend="held and idle"),
            Query(expression=work, legend="busy"),
        ),
        unit=Unit.COUNT,
        width=14,
        low=0,
        styles={
            "expected": LineStyle(color=palette.IDLE, dashed=True),
            "healthy": LineStyle(color=palette.NEUTRAL),
            "held": LineStyle(color=palette.INFO),
            "held and idle": LineStyle(color=palette.WARN),
            "busy": LineStyle(color=palette.OK),
        },
        no_value="No GPU is known: see Data health",
    )


def gpus_by_model() -> Table:
    """One row a GPU model."""
    keys = ("cluster", "model")

    def counted(title: str, state: str, color: str = "") -> ValueColumn:
        return ValueColumn(
            title=title,
            expression=sum_by(select(cluster.GPUS, IN_CLUSTER, IN_MODEL, state=state), *keys),
            unit=Unit.COUNT,
            decimals=0,
            cell=Cell.COLORED_TEXT if color else Cell.PLAIN,
            thresholds=Thresholds(base=palette.OK, steps=((1, color),)) if color else None,
        )

    return Table(
        key="gpus_by_model",
        title="GPUs by model",
        explanation=Explanation(
            shows="GPUs by model. A node with several models counts under mixed; one that never told its model, as it "
            "was dead from the start, under unknown.",
            source=_DEVICES,
            good="Nothing is missing, and idle is small.",
            do="Choose a model at the top of the board to see its nodes alone.",
        ),
        columns=(
            LabelColumn(label="cluster", title="Cluster"),
            LabelColumn(label="model", title="GPU model"),
            counted("Expected", "expected"),
            counted("Missing", "missing", palette.BAD),
            counted("Healthy", "healthy"),
            counted("Held", "allocated"),
            counted("Held and idle", "idle", palette.WARN),
        ),
        sort_by="Expected",
        width=10,
        height=8,
        no_value="No GPU is known: see Data health",
    )


def _of(series: Level, state: str) -> Vector:
    return sum_by(select(series, IN_CLUSTER, state=state), "cluster")


def cpus() -> Stat:
    """CPUs of all nodes."""
    return Stat(
        key="cpus",
        title="CPUs of all nodes",
        explanation=Explanation(
            shows="Logical CPUs of all nodes, and how many are at work.",
            source="node-exporter.",
            good="Some are free: GPUs starve when their CPUs are full.",
            do="The row Hosts shows which nodes are full.",
        ),
        queries=(
            Query(expression=_of(cluster.CPUS, "total"), legend="all"),
            Query(expression=_of(cluster.CPUS, "used"), legend="at work"),
        ),
        unit=Unit.COUNT,
        text_mode="value_and_name",
        width=8,
        no_value="node-exporter is absent",
    )


def memory_and_disks() -> Stat:
    """Memory of GPUs and hosts, and local disks."""
    parts = (
        (cluster.GPU_MEMORY, "GPU memory"),
        (cluster.MEMORY, "host memory"),
        (cluster.DISK, "local disks"),
    )
    return Stat(
        key="memory_and_disks",
        title="Memory and local disks",
        explanation=Explanation(
            shows="Memory of all GPUs, memory of all nodes, and their local disks: in total and in use. Shared file "
            "systems have a board of their own.",
            source="the gpuscope agent or dcgm-exporter for GPUs; node-exporter for hosts.",
            good="GPU memory is well used, the others have room.",
            do="The rows GPU activity and Hosts show where it is full.",
        ),
        queries=tuple(
            Query(expression=_of(series, state), legend=f"{name} {word}".strip())
            for series, name in parts
            for state, word in (("total", ""), ("used", "in use"))
        ),
        unit=Unit.BYTES,
        text_mode="value_and_name",
        width=16,
        no_value="Neither GPUs nor node-exporter tell of memory",
    )

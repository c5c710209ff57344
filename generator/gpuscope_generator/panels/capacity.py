"""What there is in total, and how the use of GPUs changed."""

from __future__ import annotations

from gpuscope_generator.normalized import cluster, filesystem
from gpuscope_generator.panels.fleet import gpus
from gpuscope_generator.panels.fleet_choice import IN_MODEL
from gpuscope_generator.panels.variables import IN_CLUSTER
from gpuscope_generator.promql import Gauge as Level
from gpuscope_generator.promql import Vector, ratio, select, sum_by
from gpuscope_generator.settings import Settings
from gpuscope_generator.view import (
    Cell,
    Explanation,
    LabelColumn,
    LineStyle,
    Link,
    Noun,
    Query,
    Table,
    Thresholds,
    TimeSeries,
    Unit,
    ValueColumn,
    cell,
    palette,
)

__all__ = ["gpus_by_model", "gpus_over_time", "totals"]

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
        width=12,
        height=9,
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
            shows="GPUs by model; idle are those that somebody holds and that do nothing. A node with several models "
            "counts under mixed; one that never told its model, as it was dead from the start, under unknown.",
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
            counted("Idle", "idle", palette.WARN),
        ),
        sort_by="Expected",
        width=12,
        height=9,
        no_value="No GPU is known: see Data health",
    )


def totals(settings: Settings) -> Table:
    """One row a cluster: what there is, and how full it is."""
    high = settings.thresholds.storage_high_ratio

    def total(series: Level) -> Vector:
        return sum_by(select(series, IN_CLUSTER, state="total"), "cluster")

    def share(title: str, used: Vector, whole: Vector, full: str = palette.NEUTRAL) -> ValueColumn:
        return ValueColumn(
            title=title,
            expression=ratio(used, whole),
            unit=Unit.RATIO,
            decimals=0,
            cell=Cell.COLORED_TEXT,
            thresholds=Thresholds(base=palette.TEXT, steps=((high, full),)),
        )

    def pair(title: str, series: Level, unit: Unit, full: str = palette.NEUTRAL) -> tuple[ValueColumn, ValueColumn]:
        used = sum_by(select(series, IN_CLUSTER, state="used"), "cluster")
        return (
            ValueColumn(title=title, expression=total(series), unit=unit),
            share(f"{title} used", used, total(series), full),
        )

    size = sum_by(select(filesystem.CLUSTER_SIZE, IN_CLUSTER), "cluster")
    return Table(
        key="totals",
        title="Totals",
        explanation=Explanation(
            shows="Memory of all GPUs, logical CPUs, memory and local disks of all nodes, and the shared file systems: "
            "how much there is, and the share in use.",
            source="the gpuscope agent or dcgm-exporter for GPUs; node-exporter for hosts; the agent, Lustre exporters "
            "or CloudWatch for file systems.",
            good="GPU memory is well used, the others have room.",
            do="The rows GPU activity and Hosts show where it is full. File systems have a board of their own.",
        ),
        height=5,
        columns=(
            LabelColumn(
                label="cluster",
                title="Cluster",
                links=(Link("File systems of this cluster", Noun.FILESYSTEM, {"cluster": cell("cluster")}),),
            ),
            *pair("GPU memory", cluster.GPU_MEMORY, Unit.BYTES),
            *pair("CPUs", cluster.CPUS, Unit.COUNT),
            *pair("Memory", cluster.MEMORY, Unit.BYTES, palette.WARN),
            *pair("Local disks", cluster.DISK, Unit.BYTES, palette.WARN),
            ValueColumn(title="File systems", expression=size, unit=Unit.BYTES),
            share(
                "File systems used",
                sum_by(select(filesystem.CLUSTER_USED, IN_CLUSTER), "cluster"),
                size,
                palette.WARN,
            ),
        ),
        no_value="Neither GPUs nor node-exporter tell of memory",
    )

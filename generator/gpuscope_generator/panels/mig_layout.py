"""Which instance is whose: now, and over time."""

from __future__ import annotations

from gpuscope_generator.normalized import mig
from gpuscope_generator.panels.mig_instances import PLACE, holders, memory_share
from gpuscope_generator.promql import Vector, join, max_by, on, select, sum_by
from gpuscope_generator.settings import Settings
from gpuscope_generator.view import (
    Cell,
    Explanation,
    LabelColumn,
    Link,
    Noun,
    Query,
    StatusHistory,
    Table,
    Thresholds,
    Unit,
    ValueColumn,
    ValueText,
    cell,
    palette,
)

__all__ = ["holders_over_time", "layout"]


def layout(settings: Settings) -> Table:
    """Every instance of the chosen node, with its owner."""
    keys = (*mig.MIG, "namespace", "pod", "workload_kind", "workload")

    def joined(value: Vector) -> Vector:
        held = join(value, holders(), on=mig.MIG, take=("namespace", "pod", "workload_kind", "workload"))
        return max_by(held, *keys)

    def row(title: str, value: Vector, unit: Unit, bar: bool = False) -> ValueColumn:
        if not bar:
            return ValueColumn(title=title, expression=joined(value), unit=unit)
        return ValueColumn(title=title, expression=joined(value), unit=unit, cell=Cell.BAR, low=0, high=1)

    low = settings.thresholds.idle_ratio
    return Table(
        key="layout",
        title="Instances and their owners",
        explanation=Explanation(
            shows="Every MIG instance of the chosen node and GPU: its profile, its slices of the GPU's seven, the "
            "pod or job that holds it, and what it does. Rows of one GPU stand together.",
            source="the gpuscope agent, or dcgm-exporter; owners from kubelet, from the exporter, or from Slurm.",
            good=f"Instances that are held work: activity above {low:.0%}.",
            do="Open the owner of an idle instance on the task board, and the GPU on the cluster board.",
        ),
        columns=(
            LabelColumn(label="cluster", title="Cluster", hidden=True),
            LabelColumn(
                label="node",
                title="Node",
                links=(
                    Link("Node on the cluster board", Noun.CLUSTER, {"cluster": cell("cluster"), "node": cell("node")}),
                ),
            ),
            LabelColumn(
                label="gpu",
                title="GPU",
                links=(
                    Link(
                        "GPU on the cluster board",
                        Noun.CLUSTER,
                        {"cluster": cell("cluster"), "node": cell("node"), "gpu": cell("gpu")},
                    ),
                ),
            ),
            LabelColumn(label="gi", title="Instance"),
            LabelColumn(label="profile", title="Profile"),
            LabelColumn(label="namespace", title="Namespace"),
            LabelColumn(
                label="pod",
                title="Pod",
                links=(
                    Link(
                        "Pod on the task board",
                        Noun.TASK,
                        {
                            "cluster": cell("cluster"),
                            "namespace": cell("namespace"),
                            "workload": cell("workload"),
                            "pod": cell("pod"),
                        },
                    ),
                ),
            ),
            LabelColumn(label="workload", title="Workload or job"),
            row("Slices", max_by(select(mig.SLICES, *PLACE), *mig.MIG), Unit.COUNT),
            row("Compute", max_by(select(mig.COMPUTE_ACTIVE, *PLACE), *mig.MIG), Unit.RATIO, bar=True),
            row("Memory", memory_share(), Unit.RATIO, bar=True),
            row("Memory size", max_by(select(mig.MEMORY_TOTAL, *PLACE), *mig.MIG), Unit.BYTES),
        ),
        sort_by="GPU",
        descending=False,
        paginate=True,
        no_value="The chosen node has no MIG instances",
    )


def holders_over_time() -> StatusHistory:
    """Held or free, over time."""
    held = on(select(mig.ALLOCATED, *PLACE), "*", holders(), mig.MIG)
    return StatusHistory(
        key="holders_over_time",
        title="Held and free instances of the GPU",
        explanation=Explanation(
            shows="Each instance of the chosen node and GPU over time: held by a pod or job, or free.",
            source="the gpuscope agent, or dcgm-exporter; owners from kubelet, from the exporter, or from Slurm.",
            good="Instances that are held, and gaps that are short.",
            do="Free for days: the layout does not fit what people ask for.",
        ),
        queries=(
            Query(expression=sum_by(held, *mig.MIG), legend="{{node}} GPU {{gpu}} {{profile}} #{{gi}}", min_step="1m"),
        ),
        width=12,
        texts={"0": ValueText("free", palette.IDLE), "1": ValueText("held", palette.INFO)},
        thresholds=Thresholds(palette.IDLE, ((1, palette.INFO),)),
        no_value="Owners of instances are not known here: see Data health",
    )

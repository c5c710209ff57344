"""How workloads use their GPUs, in words: classes over an hour, and what each of them wastes."""

from __future__ import annotations

from gpuscope_generator.normalized import workload
from gpuscope_generator.panels.chosen import CHOSEN
from gpuscope_generator.promql import max_by, select, sum_by, sum_over_time
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

__all__ = ["CLASS_TEXTS", "use_of_gpus"]

CLASS_TEXTS = {
    "saturated": ValueText("saturated", palette.OK),
    "resident_idle": ValueText("large and rarely asked", palette.WARN),
    "memory_bound": ValueText("full memory, little work", palette.WARN),
    "compute_bound_small": ValueText("busy and small", palette.OK),
    "underused": ValueText("underused", palette.WARN),
    "allocated_idle": ValueText("held, idle", palette.BAD),
    "allocated_unused": ValueText("held, never used", palette.BAD),
}
_ADVICE = {
    "saturated": "well used: tensor activity shows whether more is possible",
    "resident_idle": "fewer replicas, scale to zero, or share a GPU",
    "memory_bound": "larger batches, or share the GPU",
    "compute_bound_small": "larger batches, a smaller GPU, or a MIG profile",
    "underused": "pack several on one GPU, or use MIG",
    "allocated_idle": "stop it, or look whether it hangs",
    "allocated_unused": "remove the request for GPUs",
}


def use_of_gpus(settings: Settings) -> Table:
    """One row a workload: both axes of the quadrant, the class, and the GPU-hours that were idle."""
    limits = settings.thresholds
    hours = settings.intervals.aggregate / 3600
    idle = sum_by(sum_over_time(select(workload.WORKLOAD_GPUS, *CHOSEN, state="idle")), *workload.WORKLOAD) * hours
    words = "; ".join(f"{CLASS_TEXTS[name].text}: {advice}" for name, advice in _ADVICE.items())
    return Table(
        key="use_of_gpus",
        title="How workloads use their GPUs",
        explanation=Explanation(
            shows="Each workload by two means over the last hour, activity and share of GPU memory in use, and the "
            f"class that follows. From {limits.high_memory_ratio:.0%} of memory on a workload counts as large, from "
            f"{limits.high_busy_ratio:.0%} of activity on as busy. Idle GPU-hours are those of the time range.",
            source="recording rules over the activity and memory of the GPUs that each workload holds.",
            good="Saturated, or busy and small.",
            do=f"What to do by class: {words}.",
        ),
        columns=(
            LabelColumn(label="cluster", title="Cluster"),
            LabelColumn(label="namespace", title="Namespace"),
            LabelColumn(
                label="workload",
                title="Workload",
                links=(
                    Link(
                        "Only this workload",
                        Noun.TASK,
                        {
                            "cluster": cell("cluster"),
                            "namespace": cell("namespace"),
                            "workload": cell("workload"),
                        },
                    ),
                ),
            ),
            LabelColumn(label="class", title="Class", texts=CLASS_TEXTS),
            ValueColumn(
                title="Has a class",
                expression=max_by(select(workload.WORKLOAD_CLASS, *CHOSEN), *workload.WORKLOAD, "class"),
                hidden=True,
            ),
            ValueColumn(
                title="Activity (1 h)",
                expression=max_by(select(workload.WORKLOAD_BUSY, *CHOSEN), *workload.WORKLOAD),
                unit=Unit.RATIO,
                cell=Cell.BAR,
                low=0,
                high=1,
                thresholds=Thresholds(
                    base=palette.WARN,
                    steps=((limits.rare_busy_ratio, palette.NEUTRAL), (limits.high_busy_ratio, palette.OK)),
                ),
            ),
            ValueColumn(
                title="GPU memory (1 h)",
                expression=max_by(select(workload.WORKLOAD_MEMORY_HELD, *CHOSEN), *workload.WORKLOAD),
                unit=Unit.RATIO,
                cell=Cell.BAR,
                low=0,
                high=1,
                thresholds=Thresholds(base=palette.NEUTRAL, steps=((limits.high_memory_ratio, palette.OK),)),
            ),
            ValueColumn(title="Idle GPU-hours", expression=idle, unit=Unit.COUNT, decimals=1),
        ),
        sort_by="Idle GPU-hours",
        paginate=True,
        no_value="No workload holds GPUs, or their activity is not known",
    )

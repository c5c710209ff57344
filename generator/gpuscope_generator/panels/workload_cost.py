"""GPU-hours of the time range, and what they cost where prices are set."""

from __future__ import annotations

from functools import reduce

from gpuscope_generator.normalized import workload
from gpuscope_generator.panels.chosen import of_workloads
from gpuscope_generator.promql import Vector, sum_by, sum_over_time
from gpuscope_generator.settings import Settings
from gpuscope_generator.view import (
    BarGauge,
    Explanation,
    LabelColumn,
    Panel,
    Prose,
    Query,
    Stat,
    Table,
    Thresholds,
    Unit,
    ValueColumn,
    palette,
)

__all__ = ["cost_panels", "gpu_hours", "gpu_hours_by_model", "idle_gpu_hours", "idle_share_by_workload"]

_SOURCE = (
    "recording rules that count GPUs held every minute, by model. Time in which the rules did not run, or the agents "
    "were gone, is not counted."
)


def _hours(settings: Settings, state: str, *by: str, model: str = "") -> Vector:
    equal = {"state": state} | ({"model": model} if model else {})
    held = of_workloads(workload.WORKLOAD_GPUS_BY_MODEL, **equal)
    return sum_by(sum_over_time(held), *by) * (settings.intervals.aggregate / 3600)


def gpu_hours(settings: Settings) -> Stat:
    """GPU-hours held in the time range."""
    return Stat(
        key="gpu_hours",
        title="GPU-hours in this range",
        explanation=Explanation(
            shows="GPUs that the chosen workloads held, times how long, within the time range. MIG instances and "
            "shared GPUs count in part.",
            source=_SOURCE,
            good="It is what you meant to spend.",
            do="Change the time range to see a day or a week; group by team in the graphs above.",
        ),
        queries=(Query(expression=_hours(settings, "allocated", "cluster"), instant=True),),
        unit=Unit.COUNT,
        decimals=1,
        width=6,
        no_value="No GPU was held in this range",
    )


def idle_gpu_hours(settings: Settings) -> Stat:
    """Of these the idle ones."""
    return Stat(
        key="idle_gpu_hours",
        title="Of these idle",
        explanation=Explanation(
            shows="GPU-hours within the time range in which the GPU was held and did nothing.",
            source=_SOURCE,
            good="A few percent of all.",
            do="The bars beside say which workload it was. Stop it, or let it share a GPU.",
        ),
        queries=(Query(expression=_hours(settings, "idle", "cluster"), instant=True),),
        unit=Unit.COUNT,
        decimals=1,
        width=6,
        no_value="No GPU was held, or no activity is known",
    )


def idle_share_by_workload(settings: Settings) -> BarGauge:
    """Idle GPU-hours by workload."""
    idle = _hours(settings, "idle", "cluster", "namespace", "workload")
    return BarGauge(
        key="idle_by_workload",
        title="Idle GPU-hours by workload",
        explanation=Explanation(
            shows="GPU-hours within the time range in which a workload held GPUs that did nothing; those above none.",
            source=_SOURCE,
            good="Short bars, or none.",
            do="Ask the owner of the longest bar. An interactive session wants a time limit, a hung job wants a "
            "restart.",
        ),
        queries=(Query(expression=idle.compare(">", 0), legend="{{namespace}} {{workload}}", instant=True),),
        unit=Unit.COUNT,
        decimals=2,
        width=12,
        no_value="No idle GPU-hours, or no activity is known",
    )


def _priced(settings: Settings, state: str, *by: str) -> Vector:
    """Cost of GPUs whose model has a price; others are left out, and not taken for free."""
    parts = [
        _hours(settings, state, *by, "model", model=model) * price for model, price in sorted(settings.prices.items())
    ]
    return reduce(Vector.or_, parts)


def gpu_hours_by_model(settings: Settings) -> Table:
    """GPU-hours by team and model, and their cost."""
    keys = ("cluster", "team", "namespace", "model")
    columns: list[LabelColumn | ValueColumn] = [
        LabelColumn(label="cluster", title="Cluster"),
        LabelColumn(label="team", title="Team"),
        LabelColumn(label="namespace", title="Namespace"),
        LabelColumn(label="model", title="GPU model"),
        ValueColumn(title="GPU-hours", expression=_hours(settings, "allocated", *keys), unit=Unit.COUNT, decimals=1),
        ValueColumn(title="Idle GPU-hours", expression=_hours(settings, "idle", *keys), unit=Unit.COUNT, decimals=1),
    ]
    if settings.prices:
        columns += [
            ValueColumn(title="Cost", expression=_priced(settings, "allocated", *keys[:-1]), unit=Unit.CURRENCY),
            ValueColumn(title="Idle cost", expression=_priced(settings, "idle", *keys[:-1]), unit=Unit.CURRENCY),
        ]
    return Table(
        key="gpu_hours_by_model",
        title="GPU-hours by team and GPU model",
        explanation=Explanation(
            shows="GPU-hours of the time range by team, namespace and model of the GPU, and their cost where the "
            "settings have a price for the model. Without a price the cells of cost stay empty: they are not 0.",
            source=_SOURCE,
            good="Idle is a small part.",
            do="Export it with Inspect, Data, Download CSV for a report of costs.",
        ),
        columns=tuple(columns),
        sort_by="GPU-hours",
        paginate=True,
        no_value="No GPU was held in this range",
    )


def cost_panels(settings: Settings) -> tuple[Panel, ...]:
    """What the range cost; without prices a text that says how to set them."""
    if not settings.prices:
        return (
            Prose(
                key="cost",
                title="Cost is not shown",
                explanation=Explanation(
                    shows="Why there is no cost here.",
                    source="the settings of the generator.",
                    good="Prices are set for every GPU model that you run.",
                    do="Set `prices` in the settings and generate the boards anew.",
                ),
                width=12,
                height=4,
                content="No price of a GPU-hour is set. Set `prices` by GPU model in the settings, for example "
                "`NVIDIA H100 80GB HBM3: 3.0`, and generate the boards anew.",
            ),
        )
    models = ", ".join(sorted(settings.prices))

    def cost(key: str, title: str, state: str) -> Stat:
        return Stat(
            key=key,
            title=title,
            explanation=Explanation(
                shows=f"GPU-hours of the time range, times the price of each model. Prices are set for {models}; GPUs "
                "of other models are not in it.",
                source=_SOURCE,
                good="It is what you meant to spend.",
                do="If models are missing, add their price to `prices` in the settings.",
            ),
            queries=(Query(expression=sum_by(_priced(settings, state, "cluster"), "cluster"), instant=True),),
            unit=Unit.CURRENCY,
            width=6,
            thresholds=Thresholds(base=palette.NEUTRAL),
            no_value="No GPU of a model with a price was held in this range",
        )

    return (cost("cost", "Cost in this range", "allocated"), cost("idle_cost", "Of it for idle GPUs", "idle"))

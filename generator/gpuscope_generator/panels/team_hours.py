"""GPU-hours of the time range by team, the idle part of them, and what they cost."""

from __future__ import annotations

from functools import reduce

from gpuscope_generator.normalized import workload
from gpuscope_generator.panels.fleet_choice import IN_MODEL
from gpuscope_generator.panels.variables import IN_CLUSTER, IN_TEAM
from gpuscope_generator.promql import Vector, ratio, select, sum_by, sum_over_time
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
    cell,
    palette,
)

__all__ = ["hours_by_team"]

_KEYS = ("cluster", "team", "namespace")
_WASTED = 0.3


def _hours(settings: Settings, state: str, *by: str, model: str = "") -> Vector:
    equal = {"state": state} | ({"model": model} if model else {})
    held = select(workload.TEAM_GPUS, IN_CLUSTER, IN_TEAM, IN_MODEL, **equal)
    return sum_by(sum_over_time(held), *by) * (settings.intervals.aggregate / 3600)


def _cost(settings: Settings, state: str) -> Vector:
    """Of models that have a price; others are left out, and not taken for free."""
    parts = [
        _hours(settings, state, *_KEYS, "model", model=model) * price
        for model, price in sorted(settings.prices.items())
    ]
    return sum_by(reduce(Vector.or_, parts), *_KEYS)


def hours_by_team(settings: Settings) -> Table:
    """One row a team and namespace."""
    priced = (
        f"Cost is that of models with a price: {', '.join(sorted(settings.prices))}."
        if settings.prices
        else "Cost is not shown: set `prices` in the settings and generate the boards anew."
    )
    costs = (
        (
            ValueColumn(title="Cost", expression=_cost(settings, "allocated"), unit=Unit.CURRENCY),
            ValueColumn(title="Idle cost", expression=_cost(settings, "idle"), unit=Unit.CURRENCY),
        )
        if settings.prices
        else ()
    )
    idle = _hours(settings, "idle", *_KEYS)
    return Table(
        key="hours_by_team",
        title="GPU-hours by team",
        explanation=Explanation(
            shows="GPUs that a team held, times how long, within the time range; MIG instances and shared GPUs count "
            f"in part. Idle are the hours in which a held GPU did nothing. {priced}",
            source="recording rules that count held GPUs every minute. Time in which the rules did not run, or the "
            "agents were gone, is not counted.",
            good="The idle share is a few percent.",
            do="Open the team with the largest idle share on the Task board and look which workload it is. Export the "
            "table with Inspect, Data, Download CSV.",
        ),
        columns=(
            LabelColumn(label="cluster", title="Cluster"),
            LabelColumn(
                label="team",
                title="Team",
                links=(Link("This team's workloads", Noun.TASK, {"cluster": cell("cluster"), "team": cell("team")}),),
            ),
            LabelColumn(
                label="namespace",
                title="Namespace",
                links=(
                    Link(
                        "Workloads of this namespace",
                        Noun.TASK,
                        {"cluster": cell("cluster"), "namespace": cell("namespace")},
                    ),
                ),
            ),
            ValueColumn(
                title="GPU-hours", expression=_hours(settings, "allocated", *_KEYS), unit=Unit.COUNT, decimals=1
            ),
            ValueColumn(title="Idle GPU-hours", expression=idle, unit=Unit.COUNT, decimals=1),
            ValueColumn(
                title="Idle share",
                expression=ratio(idle, _hours(settings, "allocated", *_KEYS)),
                unit=Unit.RATIO,
                decimals=0,
                cell=Cell.BAR,
                low=0,
                high=1,
                thresholds=Thresholds(base=palette.NEUTRAL, steps=((_WASTED, palette.WARN),)),
            ),
            *costs,
        ),
        sort_by="GPU-hours",
        paginate=True,
        no_value="No GPU was held in this range, or nobody tells who holds them",
    )

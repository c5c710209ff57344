"""Do the answers come as fast as promised: the share that does, and how fast the rest uses up what may be missed."""

from __future__ import annotations

from gpuscope_generator.normalized import inference
from gpuscope_generator.panels.serving_choice import LEGEND, model_links, of_models
from gpuscope_generator.promql import Vector, ratio, sum_by, sum_over_time, topk
from gpuscope_generator.settings import Settings
from gpuscope_generator.view import Explanation, Gauge, LineStyle, Query, Thresholds, TimeSeries, Unit, palette

__all__ = ["burn_rate", "within_objective"]

_OBJECTIVES = (("time_to_first_token", "first tokens"), ("inter_token", "later tokens"))
_HOW = (
    "An observation is within the objective as far as the buckets of the engine can tell: those between the objective "
    "and the next smaller bound count as too slow. Set `ttft_slo_seconds` and `inter_token_slo_seconds` to bounds of "
    "your engine."
)
_NONE = "No request in this range, or the engine does not measure it (TGI)"
_PAGE, _TICKET = 14.4, 6.0
"""Of a budget for 30 days, one hour at the first uses 2 %, six hours at the second 5 %."""


def within_objective(settings: Settings) -> Gauge:
    """Share of first and later tokens within the objectives."""
    limits = settings.thresholds

    def share(objective: str) -> Vector:
        good, total = (
            sum_by(of_models(inference.SLO, objective=objective, result=result), "cluster")
            for result in ("good", "total")
        )
        return ratio(good, total)

    return Gauge(
        key="within_objective",
        title="Within the objective now",
        explanation=Explanation(
            shows=f"Share of requests whose first token came within {limits.ttft_slo_seconds:g} s, and share of tokens "
            f"that came within {limits.inter_token_slo_seconds:g} s of the one before, over five minutes. A request "
            "that meets both cannot be counted: engines measure the two apart.",
            source=f"histograms of the engines, by recording rules. {_HOW}",
            good=f"At or above {limits.slo_objective:.1%}.",
            do="The burn rate beside it says which model. Then see Time to first token, or Time between tokens.",
        ),
        queries=tuple(Query(expression=share(objective), legend=name, instant=True) for objective, name in _OBJECTIVES),
        unit=Unit.RATIO,
        decimals=1,
        low=0,
        high=1,
        width=8,
        height=8,
        marked=False,
        thresholds=Thresholds(
            base=palette.BAD,
            steps=((2 * limits.slo_objective - 1, palette.WARN), (limits.slo_objective, palette.OK)),
        ),
        no_value=_NONE,
    )


def burn_rate(settings: Settings) -> TimeSeries:
    """How many times faster than allowed requests miss the objective, over an hour and over six."""
    limits = settings.thresholds
    allowed = max(1 - limits.slo_objective, 0.0001)

    def burnt(window: str) -> Vector:
        good, total = (
            sum_by(
                sum_over_time(of_models(inference.SLO, objective="time_to_first_token", result=result), window),
                *inference.MODEL,
            )
            for result in ("good", "total")
        )
        return topk(20, (ratio(good, total) * -1 + 1) / allowed)

    return TimeSeries(
        key="burn_rate",
        title="How fast the error budget is used up",
        explanation=Explanation(
            shows=f"Share of requests whose first token came too late, over the share that may ({allowed:.2%}), in the "
            "last hour and the last six, by model. At 1 a budget for 30 days lasts 30 days; at 14.4 it lasts two.",
            source=f"histograms of the engines, by recording rules. {_HOW}",
            good="Below 1 over six hours.",
            do="Above 14.4 in one hour, and above 6 in six: act now, add replicas or turn traffic away. Above 1 for "
            "days: plan for more capacity, or promise less.",
        ),
        queries=(
            Query(expression=burnt("1h"), legend=f"1 h {LEGEND}"),
            Query(expression=burnt("6h"), legend=f"6 h {LEGEND}"),
        ),
        unit=Unit.COUNT,
        low=0,
        width=16,
        decimals=1,
        styles={"/^6 h /": LineStyle(dashed=True)},
        thresholds=Thresholds(
            base=palette.OK, steps=((1, palette.NEUTRAL), (_TICKET, palette.WARN), (_PAGE, palette.BAD))
        ),
        limits_as_lines=True,
        no_value=_NONE,
        links=model_links(),
    )

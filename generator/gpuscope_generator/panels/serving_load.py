"""Requests over time: how many, how many succeed, how many are in progress, and why some fail."""

from __future__ import annotations

from gpuscope_generator.normalized import inference
from gpuscope_generator.panels.serving_choice import LEGEND, model_links, of_models, summed
from gpuscope_generator.panels.serving_overview import ENGINES
from gpuscope_generator.promql import avg_by, max_by, sum_by, sum_over_time, topk
from gpuscope_generator.settings import Settings
from gpuscope_generator.view import (
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

__all__ = ["concurrent_requests", "errors_by_reason", "errors_in_range", "request_rate", "success_rate"]

_MOST = 20
_LAYERS = (
    "Where a failure was seen: engine (the request ended so; abort and cancelled mean that the client left), admission "
    "(it was not taken in), http (the web server answered so). One request may be seen at two of them."
)


def request_rate() -> TimeSeries:
    """Requests a second by model."""
    return TimeSeries(
        key="request_rate",
        title="Requests a second",
        explanation=Explanation(
            shows="Requests that ended a second, by model and deployment, over five minutes.",
            source=ENGINES,
            good="The daily wave of your users.",
            do="A sudden drop with rising latency: servers are saturated. A drop alone: look upstream.",
        ),
        queries=(Query(expression=topk(_MOST, summed(inference.REQUESTS)), legend=LEGEND),),
        unit=Unit.REQUESTS_PER_SECOND,
        low=0,
        links=model_links(),
    )


def success_rate(settings: Settings) -> TimeSeries:
    """Share of requests that succeed, by model."""
    objective = settings.thresholds.slo_objective
    return TimeSeries(
        key="success_rate",
        title="Requests that succeed",
        explanation=Explanation(
            shows="Share of requests without an error, by model and deployment, over five minutes; 100 % while nothing "
            "fails. The dashed line is the objective.",
            source=ENGINES,
            good=f"At or above the line of {objective:.1%}.",
            do="Below it: the row Errors names the reason.",
        ),
        queries=(Query(expression=max_by(of_models(inference.SUCCESS), *inference.MODEL), legend=LEGEND),),
        unit=Unit.RATIO,
        high=1,
        thresholds=Thresholds(base=palette.BAD, steps=((objective, palette.OK),)),
        limits_as_lines=True,
        no_value="No request in this range, or no model server is scraped",
        links=model_links(),
    )


def concurrent_requests() -> TimeSeries:
    """Requests that run and wait."""
    return TimeSeries(
        key="concurrent_requests",
        title="Requests that run and wait",
        explanation=Explanation(
            shows="Requests that are computed now, and below zero those that wait for room, by model and deployment. "
            "In one batch: how many are computed together on average, where the engine tells it.",
            source=ENGINES + " Triton does not tell how many run; batches are those of TGI and Triton.",
            good="Few wait, and not for long.",
            do="Many wait: see KV cache and the autoscaler; more replicas or shorter prompts help. Batches of 1 in "
            "Triton under load: switch dynamic batching on.",
        ),
        queries=(
            Query(expression=topk(_MOST, summed(inference.RUNNING)), legend=f"running {LEGEND}"),
            Query(expression=topk(_MOST, summed(inference.WAITING)), legend=f"waiting {LEGEND}"),
            Query(
                expression=avg_by(of_models(inference.BATCH_SIZE), *inference.MODEL), legend=f"in one batch {LEGEND}"
            ),
        ),
        unit=Unit.COUNT,
        styles={"/^waiting /": LineStyle(below_zero=True), "/^in one batch /": LineStyle(dashed=True)},
        links=model_links(),
    )


def errors_by_reason() -> TimeSeries:
    """Failures a second, by layer and reason."""
    found = sum_by(of_models(inference.ERRORS), "cluster", "layer", "reason")
    return TimeSeries(
        key="errors_by_reason",
        title="Failed requests by reason",
        explanation=Explanation(
            shows=f"Requests that failed a second, over five minutes. {_LAYERS}",
            source=ENGINES,
            good="None, apart from clients that leave.",
            do="Queue full or overloaded: scale out. error and 5xx: read the server's log. 4xx: the clients send what "
            "the server refuses. Many aborts: clients give up waiting, look at the latency.",
        ),
        queries=(Query(expression=topk(_MOST, found), legend="{{layer}}: {{reason}}"),),
        unit=Unit.REQUESTS_PER_SECOND,
        low=0,
        bars=True,
        stacked=True,
        width=10,
        spaced_names=True,
        no_value="No engine here tells of failures",
    )


def errors_in_range(settings: Settings) -> Table:
    """Failures of the time range, by model and reason."""
    keys = (*inference.MODEL, "layer", "reason")
    found = sum_by(sum_over_time(of_models(inference.ERRORS)), *keys) * settings.intervals.normalize
    where = {"cluster": cell("cluster"), "namespace": cell("namespace"), "workload": cell("workload")}
    return Table(
        key="errors_in_range",
        title="Failed requests in this range",
        explanation=Explanation(
            shows=f"How many requests failed in the time range, by deployment and reason, about. {_LAYERS}",
            source=ENGINES,
            good="The table is empty.",
            do="Click the deployment to see its pods and restarts; then read the log of a pod.",
        ),
        width=14,
        height=8,
        columns=(
            LabelColumn(label="cluster", title="Cluster"),
            LabelColumn(label="namespace", title="Namespace"),
            LabelColumn(label="model", title="Model"),
            LabelColumn(label="workload", title="Deployment", links=(Link("Its pods and restarts", Noun.TASK, where),)),
            LabelColumn(label="engine", title="Engine", hidden=True),
            LabelColumn(label="layer", title="Seen by"),
            LabelColumn(label="reason", title="Reason"),
            ValueColumn(title="Requests", expression=found.compare(">", 0), unit=Unit.COUNT, decimals=0),
        ),
        sort_by="Requests",
        paginate=True,
        no_value="No request failed in this range",
    )

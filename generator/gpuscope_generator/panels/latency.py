"""How long requests take: to the first token, from token to token, as a whole, and in which stage."""

from __future__ import annotations

from gpuscope_generator.normalized import inference, latency
from gpuscope_generator.panels.serving_choice import LEGEND, model_links, observed, of_models, quantile
from gpuscope_generator.promql import Gauge, ratio, sum_by, topk
from gpuscope_generator.settings import Settings
from gpuscope_generator.view import (
    Explanation,
    Heatmap,
    LineStyle,
    Query,
    Thresholds,
    TimeSeries,
    Unit,
    palette,
)

__all__ = [
    "first_byte",
    "inter_token_latency",
    "request_latency",
    "stages",
    "time_to_first_token",
    "time_to_first_token_spread",
]

_ENGINES = "histograms of the engines, as rates over five minutes, by recording rules."
_BUCKETS = "A percentile lies between two bounds of a histogram, and is an estimate between them."
_LEVELS = ((0.5, "p50"), (0.9, "p90"), (0.99, "p99"))


def _percentiles(buckets: Gauge) -> tuple[Query, ...]:
    return tuple(Query(expression=quantile(buckets, level), legend=f"{name} {LEGEND}") for level, name in _LEVELS)


def time_to_first_token(settings: Settings) -> TimeSeries:
    """Percentiles of the time to the first token."""
    limit = settings.thresholds.ttft_slo_seconds
    return TimeSeries(
        key="ttft",
        title="Time to first token",
        explanation=Explanation(
            shows="Time from a request's arrival at the server to its first token (TTFT): what half, 90 % and 99 % of "
            f"the requests stay below, by model. The dashed line is the objective. {_BUCKETS}",
            source=_ENGINES + " The engine's own TTFT only: vLLM, SGLang, TensorRT-LLM, Dynamo, and Triton with "
            "histograms switched on. TGI measures none, and percentiles of queue and prefill do not add up to one.",
            good=f"p90 below {limit:g} s.",
            do="High with waiting requests: add replicas. High without: prompts are long, or the prefix cache misses; "
            "see Stages of a request. p99 alone: a few long prompts; chunked prefill helps.",
        ),
        queries=_percentiles(latency.TIME_TO_FIRST_TOKEN),
        unit=Unit.SECONDS,
        low=0,
        width=12,
        thresholds=Thresholds(base=palette.OK, steps=((limit, palette.WARN),)),
        limits_as_lines=True,
        no_value="No request in this range, or the engine does not measure it (TGI)",
        links=model_links(),
    )


def time_to_first_token_spread() -> Heatmap:
    """All times to the first token of the busiest model."""
    return Heatmap(
        key="ttft_spread",
        title="Time to first token of the busiest chosen model",
        explanation=Explanation(
            shows="How many requests a second had which time to the first token, of the chosen model with the most "
            "requests: two models of different engines have other bounds and cannot be drawn together.",
            source=_ENGINES,
            good="One band, low and narrow.",
            do="Two bands: two kinds of requests, such as short chats and long documents; route them to different "
            "deployments. A cloud that rises: the servers are saturated.",
        ),
        queries=(Query(expression=observed(latency.TIME_TO_FIRST_TOKEN), legend="{{le}}"),),
        unit=Unit.REQUESTS_PER_SECOND,
        width=12,
        no_value="No request in this range, or the engine does not measure it (TGI)",
    )


def inter_token_latency(settings: Settings) -> TimeSeries:
    """Percentiles of the time between two tokens."""
    limit = settings.thresholds.inter_token_slo_seconds
    return TimeSeries(
        key="inter_token",
        title="Time between tokens",
        explanation=Explanation(
            shows="Time from one token of an answer to the next (inter-token latency, ITL), by model: what readers of "
            f"a stream see. Older vLLM and TensorRT-LLM give the mean of each answer (TPOT). {_BUCKETS}",
            source=_ENGINES + " Of TGI it is the time of a decoding step.",
            good=f"p90 below {limit:g} s; people read about 10 tokens a second.",
            do="High: batches are large, or prompts are computed between the steps. Lower the largest batch, or "
            "separate prefill from decode.",
        ),
        queries=_percentiles(latency.INTER_TOKEN),
        unit=Unit.SECONDS,
        low=0,
        width=12,
        thresholds=Thresholds(base=palette.OK, steps=((limit, palette.WARN),)),
        limits_as_lines=True,
        no_value="No token in this range, or the engine does not measure it (Triton)",
        links=model_links(),
    )


def request_latency() -> TimeSeries:
    """Percentiles of the whole time."""
    return TimeSeries(
        key="request_latency",
        title="Whole time of a request",
        explanation=Explanation(
            shows=f"Time from a request's arrival to the end of its answer, by model. {_BUCKETS}",
            source=_ENGINES + " Triton gives means only, in Stages of a request.",
            good="It follows the length of the answers; compare it with last week.",
            do="See beside it in which stage the time goes.",
        ),
        queries=_percentiles(latency.REQUEST),
        unit=Unit.SECONDS,
        low=0,
        width=12,
        links=model_links(),
    )


def stages() -> TimeSeries:
    """Mean time in each stage, stacked."""
    keys = ("cluster", "stage")
    parts = ("queue", "prefill", "decode", "inference")

    def mean(stage: str) -> Query:
        seconds = sum_by(of_models(inference.STAGE_SECONDS, stage=stage), *keys)
        requests = sum_by(of_models(inference.STAGE_REQUESTS, stage=stage), *keys)
        return Query(expression=ratio(seconds, requests), legend="{{stage}}")

    whole = ratio(
        sum_by(of_models(inference.STAGE_SECONDS, stage="request"), "cluster"),
        sum_by(of_models(inference.STAGE_REQUESTS, stage="request"), "cluster"),
    )
    return TimeSeries(
        key="stages",
        title="Stages of a request",
        explanation=Explanation(
            shows="Mean time of a request in each stage: it waits (queue), its prompt is computed (prefill), its "
            "tokens are generated (decode). TGI and Triton tell the last two together (inference). Dashed is the mean "
            "of the whole. Means add up, percentiles do not.",
            source="sums of the engines' histograms, and of Triton's counters of microseconds.",
            good="Nearly all of it is decode, and queue is near 0.",
            do="Queue grows: too few replicas. Prefill grows: longer prompts, or the prefix cache misses. Choose one "
            "model above: the mean over all of them mixes large and small.",
        ),
        queries=(*(mean(stage) for stage in parts), Query(expression=whole, legend="whole request")),
        unit=Unit.SECONDS,
        low=0,
        width=12,
        stacked=True,
        styles={"whole request": LineStyle(dashed=True, stacked=False, color=palette.IDLE)},
    )


def first_byte() -> TimeSeries:
    """Time to the first byte as HyperPod's operator sees it, and its part of the whole."""
    part = topk(20, ratio(quantile(latency.FIRST_BYTE, 0.5), quantile(latency.INVOCATION, 0.5)))
    return TimeSeries(
        key="first_byte",
        title="Time to first byte, as the proxy sees it",
        explanation=Explanation(
            shows="Time from a call of a model to the first byte of its answer, at the chosen percentile; and at the "
            "right its median as a part of the median of the whole call.",
            source="HyperPod's inference operator. Without it, see Time to first token.",
            good="For answers that stream a small part of the whole: below 20 %.",
            do="Near 100 %: answers are not streamed, or requests wait. Far above the time to first token: the time is "
            "lost between the proxy and the server.",
        ),
        queries=(
            Query(expression=quantile(latency.FIRST_BYTE), legend=f"first byte {LEGEND}"),
            Query(expression=part, legend=f"part of whole {LEGEND}"),
        ),
        unit=Unit.SECONDS,
        low=0,
        width=12,
        styles={"/^part of whole /": LineStyle(unit=Unit.RATIO, dashed=True)},
        no_value="HyperPod's inference operator is not here, or nothing was called",
        links=model_links(),
    )

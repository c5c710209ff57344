"""Tokens: how many are read and written, by GPU and replica, and how long prompts and answers are."""

from __future__ import annotations

from gpuscope_generator.normalized import inference, latency, workload
from gpuscope_generator.panels.serving_choice import LEGEND, OF_WORKLOAD, model_links, observed, of_models, summed
from gpuscope_generator.panels.variables import IN_CLUSTER, IN_NAMESPACE, IN_WORKLOAD
from gpuscope_generator.promql import Gauge, Vector, ratio, select, sum_by, topk
from gpuscope_generator.view import Explanation, Heatmap, LineStyle, Query, TimeSeries, Unit

__all__ = ["output_length", "prompt_length", "token_throughput", "tokens_by_unit", "workload_gpus", "workload_tokens"]

_SOURCE = (
    "counters of the engines as rates over five minutes; of TGI the sums of its histograms, of TensorRT-LLM the speed "
    "that it tells itself, for generated tokens only. Triton counts no tokens."
)


def workload_tokens(*kinds: str) -> Vector:
    """Tokens a second of the chosen deployments."""
    found = (sum_by(of_models(inference.TOKENS, kind=kind), *OF_WORKLOAD) for kind in kinds)
    first, *others = found
    for other in others:
        first = first + other
    return first


def workload_gpus() -> Vector:
    """GPUs that the chosen deployments hold."""
    held = select(workload.WORKLOAD_GPUS, IN_CLUSTER, IN_NAMESPACE, IN_WORKLOAD, state="allocated")
    return sum_by(held, *OF_WORKLOAD)


def token_throughput() -> TimeSeries:
    """Tokens a second in and out."""
    return TimeSeries(
        key="token_throughput",
        title="Tokens a second",
        explanation=Explanation(
            shows="Tokens generated a second by model, and below zero tokens of prompts taken in. It is a rate of "
            "tokens, and not tokens of a request.",
            source=_SOURCE,
            good="It follows the requests.",
            do="Generated tokens stop rising while requests wait: this is the capacity of the deployment.",
        ),
        queries=(
            Query(expression=topk(20, summed(inference.TOKENS, kind="generation")), legend=f"generated {LEGEND}"),
            Query(expression=topk(20, summed(inference.TOKENS, kind="prompt")), legend=f"prompt {LEGEND}"),
        ),
        unit=Unit.TOKENS_PER_SECOND,
        width=12,
        styles={"/^prompt /": LineStyle(below_zero=True)},
        no_value="No engine here counts tokens",
        links=model_links(),
    )


def tokens_by_unit() -> TimeSeries:
    """Generated tokens a second by GPU and by replica."""
    generated = sum_by(of_models(inference.TOKENS, kind="generation"), *inference.MODEL)
    replicas = sum_by(of_models(inference.REPLICAS), *inference.MODEL)
    return TimeSeries(
        key="tokens_by_unit",
        title="Generated tokens a second, by GPU and by replica",
        explanation=Explanation(
            shows="Generated tokens a second over the GPUs that a deployment holds, and by model over its replicas.",
            source=f"{_SOURCE} GPUs of a deployment come from who holds them.",
            good="The same for deployments of the same model on the same GPUs.",
            do="One deployment is lower: its batches are small, see Tokens computed together. All fall: fewer "
            "requests.",
        ),
        queries=(
            Query(
                expression=topk(20, ratio(workload_tokens("generation"), workload_gpus())),
                legend="each GPU of {{workload}}",
            ),
            Query(expression=topk(20, ratio(generated, replicas)), legend=f"each replica of {LEGEND}"),
        ),
        unit=Unit.TOKENS_PER_SECOND,
        low=0,
        width=12,
        no_value="No engine here counts tokens",
    )


def _length(key: str, title: str, buckets: Gauge, explanation: Explanation) -> Heatmap:
    return Heatmap(
        key=key,
        title=title,
        explanation=explanation,
        queries=(Query(expression=observed(buckets), legend="{{le}}"),),
        unit=Unit.REQUESTS_PER_SECOND,
        y_unit=Unit.COUNT,
        width=12,
        no_value="No request in this range, or the engine does not tell lengths",
    )


def prompt_length() -> Heatmap:
    """Prompts by their length."""
    return _length(
        "prompt_length",
        "Tokens of a prompt, busiest chosen model",
        latency.PROMPT_LENGTH,
        Explanation(
            shows="How many requests a second had a prompt of which length, of the chosen model with the most "
            "requests.",
            source="histograms of vLLM, SGLang, TGI and Dynamo.",
            good="The shape that you tuned the servers for.",
            do="Longer than before: the time to the first token and the KV cache grow with it. Ask who sends them.",
        ),
    )


def output_length() -> Heatmap:
    """Answers by their length."""
    return _length(
        "output_length",
        "Tokens of an answer, busiest chosen model",
        latency.OUTPUT_LENGTH,
        Explanation(
            shows="How many requests a second were answered with how many tokens, of the chosen model with the most "
            "requests.",
            source="histograms of vLLM, SGLang, TGI and Dynamo.",
            good="The shape that you tuned the servers for.",
            do="A band at the upper end: answers are cut off at their limit. Longer answers hold their place in the "
            "batch longer: expect requests to wait.",
        ),
    )

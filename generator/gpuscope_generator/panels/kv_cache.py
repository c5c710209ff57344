"""Why requests wait: the memory for their tokens, the queue, the batches, and the caches in front."""

from __future__ import annotations

from gpuscope_generator.normalized import inference, latency
from gpuscope_generator.panels.serving_choice import LEGEND, model_links, observed, of_models, quantile, summed
from gpuscope_generator.promql import avg_by, max_by, ratio, sum_by, topk
from gpuscope_generator.settings import Settings
from gpuscope_generator.view import Explanation, Heatmap, LineStyle, Query, Thresholds, TimeSeries, Unit, palette

__all__ = [
    "batch_tokens",
    "kv_cache",
    "preemptions",
    "prefix_cache",
    "speculation",
    "waiting_by_reason",
]


def waiting_by_reason() -> TimeSeries:
    """What requests wait for, and how long."""
    found = sum_by(of_models(inference.WAITING_BY_REASON), "cluster", "reason")
    return TimeSeries(
        key="waiting_by_reason",
        title="What requests wait for, and how long",
        explanation=Explanation(
            shows="Waiting requests by reason: capacity (no room in the KV cache or the batch), deferred (for another "
            "transfer or a grammar), retracted (put back), and the queues of separate prefill and decode. At the right "
            "the time that requests waited, at the chosen percentile, by model.",
            source="gauges of vLLM and SGLang; queue times of all engines but Triton.",
            good="Nothing waits for more than a moment.",
            do="capacity: more replicas, or a larger share of memory for the KV cache. Queues of prefill or decode: "
            "change how many servers do which.",
        ),
        queries=(
            Query(expression=found, legend="{{reason}}"),
            Query(expression=quantile(latency.QUEUE), legend=f"time in queue {LEGEND}"),
        ),
        unit=Unit.COUNT,
        low=0,
        width=12,
        styles={"/^time in queue /": LineStyle(unit=Unit.SECONDS, dashed=True)},
    )


def kv_cache(settings: Settings) -> TimeSeries:
    """How full the key-value caches are."""
    high = settings.thresholds.kv_cache_high_ratio
    return TimeSeries(
        key="kv_cache",
        title="KV cache in use",
        explanation=Explanation(
            shows="Share of the key-value cache in use, the GPU memory for the tokens of running requests: mean over "
            "the replicas of a deployment, and dashed the fullest one. Shares are never added.",
            source="vLLM, SGLang, TensorRT-LLM and Dynamo's workers. TGI and Triton do not tell it.",
            good=f"Below {high:.0%}. High is no harm by itself: it means that memory is used.",
            do=f"Above {high:.0%} requests wait, or are put back: see Preemptions. The fullest far above the mean: the "
            "router spreads badly.",
        ),
        queries=(
            Query(expression=topk(20, max_by(of_models(inference.KV_MEAN), *inference.MODEL)), legend=f"mean {LEGEND}"),
            Query(
                expression=topk(20, max_by(of_models(inference.KV_MAX), *inference.MODEL)), legend=f"fullest {LEGEND}"
            ),
        ),
        unit=Unit.RATIO,
        low=0,
        high=1,
        width=12,
        styles={"/^fullest /": LineStyle(dashed=True)},
        thresholds=Thresholds(base=palette.OK, steps=((high, palette.WARN),)),
        limits_as_lines=True,
        no_value="The engine does not tell it (TGI, Triton)",
        links=model_links(),
    )


def preemptions() -> TimeSeries:
    """Work that was thrown away for want of cache."""
    return TimeSeries(
        key="preemptions",
        title="Preemptions and evictions",
        explanation=Explanation(
            shows="Requests a second that a server put back while it computed them, as the KV cache was full: their "
            "work is done twice. At the right tokens a second that were thrown out of a cache.",
            source="vLLM counts preemptions, SGLang counts evicted tokens.",
            good="0 preemptions. Evictions of old prefixes are normal.",
            do="Let fewer requests run at once, give the cache more memory, or add replicas.",
        ),
        queries=(
            Query(expression=topk(20, summed(inference.PREEMPTIONS)), legend=f"preempted {LEGEND}"),
            Query(expression=topk(20, summed(inference.EVICTED_TOKENS)), legend=f"evicted tokens {LEGEND}"),
        ),
        unit=Unit.REQUESTS_PER_SECOND,
        low=0,
        width=12,
        styles={"/^evicted tokens /": LineStyle(unit=Unit.TOKENS_PER_SECOND, dashed=True)},
        no_value="No engine here counts them",
        links=model_links(),
    )


def batch_tokens() -> Heatmap:
    """Tokens by step of the engine."""
    return Heatmap(
        key="batch_tokens",
        title="Tokens computed together, busiest chosen model",
        explanation=Explanation(
            shows="How many steps a second the engine made with how many tokens in one, of the chosen model with the "
            "most steps. A step with few tokens leaves the GPU's arithmetic unused.",
            source="vLLM's histogram of iterations.",
            good="A band well above the number of running requests, when there is load.",
            do="Few tokens a step under load: raise the largest batch, or fewer and fuller replicas would do.",
        ),
        queries=(Query(expression=observed(latency.BATCH_TOKENS), legend="{{le}}"),),
        unit=Unit.OPERATIONS_PER_SECOND,
        y_unit=Unit.COUNT,
        width=12,
        no_value="Only vLLM tells it, and only while it works",
    )


def prefix_cache() -> TimeSeries:
    """Prompt tokens that were found in a cache."""
    saved = sum_by(of_models(inference.PREFIX_TOKENS, result="hit"), *inference.MODEL)
    return TimeSeries(
        key="prefix_cache",
        title="Prefix cache: found, and saved tokens",
        explanation=Explanation(
            shows="Share of prompt tokens that were found in a cache of earlier prompts: local to the replica, "
            "external (shared storage), or Triton's cache of whole responses. At the right the tokens a second that "
            "need not be computed for it.",
            source="counters of vLLM and SGLang; the share that TensorRT-LLM and older versions tell; Triton's cache.",
            good="There is no one good value: chats with a long common prompt reach 80 %.",
            do="A drop after a deployment: the common part of the prompts changed, or the router does not send alike "
            "requests to the same replica.",
        ),
        queries=(
            Query(
                expression=topk(20, avg_by(of_models(inference.PREFIX_HITS), *inference.MODEL, "cache")),
                legend=f"found {{{{cache}}}} {LEGEND}",
            ),
            Query(expression=topk(20, saved), legend=f"saved {LEGEND}"),
        ),
        unit=Unit.RATIO,
        low=0,
        width=12,
        styles={"/^saved /": LineStyle(unit=Unit.TOKENS_PER_SECOND, dashed=True)},
        no_value="No engine here has a prefix cache, or none was asked",
        links=model_links(),
    )


def speculation() -> TimeSeries:
    """Drafted tokens that were right."""
    accepted = sum_by(of_models(inference.SPECULATIVE_TOKENS, result="accepted"), *inference.MODEL)
    drafted = sum_by(of_models(inference.SPECULATIVE_TOKENS, result="drafted"), *inference.MODEL)
    return TimeSeries(
        key="speculation",
        title="Speculative decoding: accepted drafts",
        explanation=Explanation(
            shows="Share of the tokens guessed by a small model that the large one accepts; at the right the tokens "
            "gained by one step, where the engine tells that.",
            source="vLLM's counters, and SGLang's gauge of the accepted length.",
            good="Above 60 %, or above 2 tokens a step.",
            do="Lower: the guesses cost more than they save under load. Guess fewer tokens, or switch it off.",
        ),
        queries=(
            Query(expression=ratio(accepted, drafted), legend=f"accepted {LEGEND}"),
            Query(
                expression=avg_by(of_models(inference.SPECULATIVE_LENGTH), *inference.MODEL),
                legend=f"tokens a step {LEGEND}",
            ),
        ),
        unit=Unit.RATIO,
        low=0,
        width=12,
        styles={"/^tokens a step /": LineStyle(unit=Unit.COUNT, dashed=True)},
        no_value="Speculative decoding is off",
        links=model_links(),
    )

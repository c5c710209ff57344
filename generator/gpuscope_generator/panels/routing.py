"""Between the servers: routers that choose one, and key-value caches that move from prefill to decode."""

from __future__ import annotations

from gpuscope_generator.normalized import latency, serving
from gpuscope_generator.panels.serving_choice import IN_MODEL, LEGEND, model_links, quantile, summed
from gpuscope_generator.panels.variables import IN_CLUSTER, IN_NAMESPACE
from gpuscope_generator.promql import Gauge, Matcher, Vector, avg_by, histogram_quantile, max_by, select, sum_by, topk
from gpuscope_generator.view import Explanation, LineStyle, Query, TimeSeries, Unit

__all__ = ["kv_transfer_time", "kv_transfers", "router_decisions", "router_fit", "router_requests"]

_NONE = "No router is here: llm-d's endpoint picker, or Dynamo"
_LEGEND = "{{router}} {{model}}"
# A router of a whole pool names no model.
_OR_POOL = Matcher("model", "=~", "|$model")


def _routed(series: Gauge, **equal: str) -> Vector:
    conditions = tuple(Matcher(label, "=", value) for label, value in equal.items())
    return select(series, IN_CLUSTER, IN_NAMESPACE, IN_MODEL, *conditions)


def _pooled(series: Gauge, *more: Matcher) -> Vector:
    return select(series, IN_CLUSTER, IN_NAMESPACE, _OR_POOL, *more)


def router_requests() -> TimeSeries:
    """Requests at the router, and those that wait there."""
    keys = ("cluster", "router", "model")
    return TimeSeries(
        key="router_requests",
        title="Requests at the router",
        explanation=Explanation(
            shows="Requests a second that a router took in, those that failed there, and at the right those that wait "
            "in it for a free server.",
            source="llm-d's endpoint picker (older: the Gateway API inference extension), or Dynamo's router.",
            good="As many as the servers count; none fail or wait.",
            do="Failures: no server is ready, or its policy refuses; read the router's log. Waiting: the servers are "
            "full.",
        ),
        queries=(
            Query(expression=sum_by(_routed(serving.ROUTER_REQUESTS, outcome="all"), *keys), legend=f"all {_LEGEND}"),
            Query(
                expression=sum_by(_routed(serving.ROUTER_REQUESTS, outcome="error"), *keys),
                legend=f"failed {_LEGEND}",
            ),
            Query(expression=sum_by(_routed(serving.ROUTER_QUEUE), *keys), legend=f"waiting {_LEGEND}"),
        ),
        unit=Unit.REQUESTS_PER_SECOND,
        low=0,
        styles={"/^waiting /": LineStyle(unit=Unit.COUNT, dashed=True)},
        no_value=_NONE,
    )


def router_decisions() -> TimeSeries:
    """How long the router thinks."""
    keys = ("cluster", "router", "namespace")
    seen = sum_by(_pooled(serving.ROUTER_SECONDS, Matcher("le", "=", "+Inf")), *keys).compare(">", 0)
    by_bound = sum_by(_pooled(serving.ROUTER_SECONDS), *keys, "le").and_(seen, on=keys)
    return TimeSeries(
        key="router_decisions",
        title="Time that the router takes to choose a server",
        explanation=Explanation(
            shows="Time that a router takes for a decision: what half, 90 % and 99 % of the decisions stay below.",
            source="llm-d's endpoint picker. Dynamo does not tell it.",
            good="Below 10 ms.",
            do="Higher: the router has too little CPU, or its index of prefixes is large.",
        ),
        queries=tuple(
            Query(expression=histogram_quantile(level, by_bound), legend=f"{name} {{{{router}}}} {{{{namespace}}}}")
            for level, name in ((0.5, "p50"), (0.9, "p90"), (0.99, "p99"))
        ),
        unit=Unit.SECONDS,
        low=0,
        no_value="No llm-d router is here; Dynamo does not tell it",
    )


def router_fit() -> TimeSeries:
    """How well the router places requests."""
    keys = ("cluster", "namespace", "router", "model")
    return TimeSeries(
        key="router_fit",
        title="How well requests are placed",
        explanation=Explanation(
            shows="Share of a prompt that the router expects in the cache of the server that it chose; and dashed how "
            "unevenly the servers' KV caches are filled (standard deviation of their shares).",
            source="llm-d's endpoint picker; of Dynamo the first only.",
            good="The first is high where prompts have a part in common, the second is below 20 %.",
            do="The first drops after a restart and comes back. High unevenness: the weight of the prefix is too large "
            "against that of the load.",
        ),
        queries=(
            Query(expression=topk(20, avg_by(_pooled(serving.ROUTER_PREFIX_HITS), *keys)), legend=f"found {_LEGEND}"),
            Query(expression=topk(20, max_by(_pooled(serving.ROUTER_SPREAD), *keys)), legend=f"unevenness {_LEGEND}"),
        ),
        unit=Unit.RATIO,
        low=0,
        styles={"/^unevenness /": LineStyle(dashed=True)},
        no_value=_NONE,
    )


def kv_transfer_time() -> TimeSeries:
    """How long a KV cache takes from prefill to decode."""
    return TimeSeries(
        key="kv_transfer_time",
        title="Time to move a KV cache",
        explanation=Explanation(
            shows="Where one server computes prompts and another generates tokens: the time to move a request's KV "
            "cache between them, half, 90 % and 99 %.",
            source="vLLM's NIXL connector, or TensorRT-LLM.",
            good="Well below the time to first token: tens of milliseconds over RDMA.",
            do="Hundreds of milliseconds: the transfer goes over TCP, or the network is full. See the nodes' network "
            "on the Cluster board.",
        ),
        queries=tuple(
            Query(expression=quantile(latency.KV_TRANSFER, level), legend=f"{name} {LEGEND}")
            for level, name in ((0.5, "p50"), (0.9, "p90"), (0.99, "p99"))
        ),
        unit=Unit.SECONDS,
        low=0,
        width=12,
        no_value="No server moves KV caches: prefill and decode are not separate here",
        links=model_links(),
    )


def kv_transfers() -> TimeSeries:
    """Bytes moved, and transfers that failed."""
    return TimeSeries(
        key="kv_transfers",
        title="KV caches moved, and failed transfers",
        explanation=Explanation(
            shows="Bytes of KV caches moved between servers a second, and at the right transfers that failed: their "
            "requests are computed anew, or fail.",
            source="vLLM's NIXL connector and TensorRT-LLM for bytes; vLLM and SGLang for failures.",
            good="It follows the prompts; nothing fails.",
            do="Failures of one deployment: look at the link errors of its nodes, and at the log of both servers.",
        ),
        queries=(
            Query(expression=topk(20, summed(serving.TRANSFER_BYTES)), legend=f"moved {LEGEND}"),
            Query(expression=topk(20, summed(serving.TRANSFER_FAILURES)), legend=f"failed {LEGEND}"),
        ),
        unit=Unit.BYTES_PER_SECOND,
        low=0,
        width=12,
        styles={"/^failed /": LineStyle(unit=Unit.COUNT_PER_SECOND, dashed=True)},
        no_value="No server moves KV caches: prefill and decode are not separate here",
        links=model_links(),
    )

"""llm-d's router (endpoint picker) in front of the servers that prefill and decode apart."""

from functools import partial

from gpuscope.simulate.cluster.exposition import Page, labels
from gpuscope.simulate.cluster.sources.buckets import DECISION, HIT_RATIO
from gpuscope.simulate.cluster.sources.serving import Server, servers_of
from gpuscope.simulate.cluster.sources.target import Source, Target, service
from gpuscope.simulate.cluster.world import World

__all__ = ["LLM_D"]


def _routed(world: World) -> list[Server]:
    """A server for each model: those that decode take every request."""
    return [server for server in servers_of(world, "vllm") if server.role == "decode"]


def router_page(world: World) -> str:
    """The exposition of the router."""
    page = Page()
    for server in _routed(world):
        normal, burst = server.counts()
        _, waiting, full = server.load()
        base = labels(model_name=server.model, target_model_name=server.model, fairness_id="default", priority="0")
        page.counter("llm_d_epp_request_total", "Total number of inference requests.").add(int(normal + burst), base)
        if burst:
            page.counter("llm_d_epp_request_error_total", "Total number of inference request errors.").add(
                int(burst * 0.01), base, error_code="ServiceUnavailable"
            )
        page.gauge("llm_d_epp_flow_control_queue_size", "Current number of requests in flow control.").add(
            waiting // 4, base
        )
        pool = labels(name=f"{server.workload.name}-pool")
        page.gauge("llm_d_epp_average_kv_cache_utilization", "The average KV cache utilization of a pool.").add(
            round(full, 4), pool
        )
        page.gauge("llm_d_epp_std_dev_kv_cache_utilization", "How far KV cache utilization of a pool spreads.").add(
            round(0.02 + 0.1 * full, 4), pool
        )
        page.gauge("llm_d_epp_ready_endpoints", "The number of ready endpoints of a pool.").add(1, pool)
        for name, (calm, hot) in (
            ("scheduler_e2e_duration_seconds", DECISION),
            ("prefix_indexer_hit_ratio", HIT_RATIO),
        ):
            page.histogram(f"llm_d_epp_{name}", f"Histogram of {name}.").observe(((calm, normal), (hot, burst)))
    return page.text()


def _targets(world: World) -> list[Target]:
    found = _routed(world)
    if not found:
        return []
    where = service(found[0].plan.namespace, "llm-d-epp", "10.244.7.9:9090")
    return [Target("router", where, partial(router_page, world))]


LLM_D = Source("llm-d", "llm-d-epp", "llm-d's router", _targets)

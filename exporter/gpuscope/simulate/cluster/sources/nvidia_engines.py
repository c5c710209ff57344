"""TensorRT-LLM's own server, and Dynamo 1.6: a front end, and the workers behind it."""

from functools import partial

from gpuscope.simulate.cluster.exposition import Page, labels
from gpuscope.simulate.cluster.sources.buckets import FIRST_TOKEN, LENGTH, TOKEN_LATENCY, WHOLE
from gpuscope.simulate.cluster.sources.serving import Server, servers_of
from gpuscope.simulate.cluster.sources.target import Source, Target
from gpuscope.simulate.cluster.world import World

__all__ = ["DYNAMO", "TRTLLM"]

_GENERATED = 300


def trtllm_page(server: Server) -> str:
    """TensorRT-LLM's exposition."""
    page = Page()
    base = labels(model_name=server.model, engine_type="undefined")
    normal, burst = server.counts()
    running, waiting, full = server.load()
    done = page.counter("trtllm_request_success_total", "Count of successfully processed requests.")
    for reason, share in (("stop", 0.9), ("length", 0.09), ("cancelled", 0.01)):
        done.add(int((normal + burst) * share), base, finished_reason=reason)
    page.gauge("trtllm_num_requests_running", "Number of requests running.").add(running, base)
    page.gauge("trtllm_num_requests_waiting", "Number of requests waiting.").add(waiting, base)
    page.gauge("trtllm_kv_cache_utilization", "KV cache utilization.").add(round(full, 4), base)
    page.gauge("trtllm_kv_cache_hit_rate", "KV cache hit rate.").add(0.31, base)
    page.gauge("trtllm_tokens_per_second", "Tokens per second.").add(
        round(server.traffic.rate(server.world.t) * _GENERATED, 2), base
    )
    both = ((normal, burst), (normal * _GENERATED, burst * _GENERATED))
    for name, pair, (calm, hot) in (
        ("request_latency_seconds", WHOLE, both[0]), ("e2e_request_latency_seconds", WHOLE, both[0]),
        ("time_to_first_token_seconds", FIRST_TOKEN, both[0]),
        ("time_per_output_token_seconds", TOKEN_LATENCY, both[1]),
        ("request_queue_time_seconds", FIRST_TOKEN, both[0]), ("kv_transfer_latency_seconds", TOKEN_LATENCY, both[0]),
    ):  # fmt: skip
        page.histogram(f"trtllm_{name}").observe(((pair[0], calm), (pair[1], hot)), base)
    page.counter("trtllm_kv_transfer_bytes").add(int((normal + burst) * 4e7), base)
    page.gauge("trtllm_kv_transfer_speed_gb_s").add(41.5, base)
    return page.text()


def frontend_page(server: Server) -> str:
    """Dynamo's front end."""
    page = Page()
    base = labels(model=server.model.lower())
    normal, burst = server.counts()
    total = normal + burst
    running, waiting, _ = server.load()
    requests = page.counter("dynamo_frontend_requests_total", "Total number of LLM requests processed")
    for status, share in (("success", 0.991), ("error", 0.009)):
        requests.add(int(total * share), base, endpoint="chat_completions", request_type="stream", status=status)
    page.counter("dynamo_frontend_requests_started_total", "Total number of LLM requests started").add(
        int(total) + running, base
    )
    page.gauge("dynamo_frontend_inflight_requests", "Number of inflight requests").add(running + waiting, base)
    page.gauge("dynamo_frontend_queued_requests", "Number of requests waiting in HTTP queue").add(waiting, base)
    page.counter("dynamo_frontend_output_tokens_total", "Total number of output tokens").add(
        int(total * _GENERATED), base
    )
    for name, value in (
        ("context_length", 131_072),
        ("kv_cache_block_size", 64),
        ("total_kv_blocks", 9000),
        ("workers", 1),
    ):
        page.gauge(f"dynamo_frontend_model_{name}", f"Model: {name}").add(value, base)
    for name, (calm, hot), scale in (
        ("time_to_first_token_seconds", FIRST_TOKEN, 1), ("inter_token_latency_seconds", TOKEN_LATENCY, _GENERATED),
        ("request_duration_seconds", WHOLE, 1), ("input_sequence_tokens", LENGTH, 1),
        ("output_sequence_tokens", LENGTH, 1),
    ):  # fmt: skip
        page.histogram(f"dynamo_frontend_{name}").observe(((calm, normal * scale), (hot, burst * scale)), base)
    return page.text()


def component_page(server: Server) -> str:
    """One of Dynamo's workers, and the router that chose it."""
    page = Page()
    base = labels(
        dynamo_namespace="serving", dynamo_component="backend", dynamo_endpoint="generate", worker_id="7587",
        model=server.model.lower(),
    )  # fmt: skip
    normal, burst = server.counts()
    running, _, full = server.load()
    page.counter("dynamo_component_requests_total", "Total number of requests processed by work handler").add(
        int(normal + burst), base
    )
    page.gauge("dynamo_component_inflight_requests", "Number of requests currently being processed").add(running, base)
    page.gauge("dynamo_component_uptime_seconds", "Total uptime of the DistributedRuntime in seconds").add(
        round(server.world.t - server.world.since), base
    )
    page.histogram("dynamo_component_request_duration_seconds").observe(((WHOLE[0], normal), (WHOLE[1], burst)), base)
    page.counter("dynamo_component_request_bytes_total").add(int((normal + burst) * 4000), base)
    page.counter("dynamo_component_response_bytes_total").add(int((normal + burst) * 9000), base)
    page.gauge("dynamo_component_gpu_cache_usage_percent").add(round(full, 4), base)
    page.counter("dynamo_component_router_requests_total").add(int(normal + burst), base)
    page.gauge("dynamo_component_router_kv_hit_rate").add(0.44, base)
    return page.text()


def _trtllm_targets(world: World) -> list[Target]:
    return [server.target(partial(trtllm_page, server)) for server in servers_of(world, "trtllm")]


def _dynamo_targets(world: World) -> list[Target]:
    found = []
    for server in servers_of(world, "dynamo"):
        worker = server.target(partial(component_page, server))
        pod = f"{server.workload.name}-frontend-0"
        labels_of = {**worker.labels, "pod": pod, "instance": f"10.244.8.{server.machine.number % 250}:8000"}
        found += [Target(f"{server.plan.namespace}.{pod}", labels_of, partial(frontend_page, server)), worker]
    return found


TRTLLM = Source("trtllm", "trtllm", "TensorRT-LLM 1.x", _trtllm_targets)
DYNAMO = Source("dynamo", "dynamo", "Dynamo 1.6: front end and worker", _dynamo_targets)

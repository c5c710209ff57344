"""SGLang 0.5.23, which says most things once for each rank of tensor parallelism."""

from functools import partial

from gpuscope.simulate.cluster.exposition import Page, labels
from gpuscope.simulate.cluster.sources.buckets import SGLANG as HISTOGRAMS
from gpuscope.simulate.cluster.sources.buckets import STAGES
from gpuscope.simulate.cluster.sources.serving import Server, servers_of
from gpuscope.simulate.cluster.sources.target import Source, Target
from gpuscope.simulate.cluster.world import World

__all__ = ["SGLANG"]

_TOKENS = 480_000
_PROMPT, _GENERATED = 1200, 520


def sglang_page(server: Server) -> str:
    """The exposition of one server."""
    page = Page()
    for rank in range(server.gpus):
        base = labels(
            model_name=server.model, engine_type="unified", tp_rank=rank, pp_rank="0", dp_rank="0", moe_ep_rank="0"
        )
        _gauges(page, server, base)
        _scheduler(page, server, base)
    base = labels(model_name=server.model, engine_type="unified")
    _totals(page, server, base)
    normal, burst = server.counts()
    for name, (text, calm, hot) in HISTOGRAMS.items():
        scale = _GENERATED if name.startswith("inter_token") else 1
        page.histogram(f"sglang:{name}", text).observe(((calm, normal * scale), (hot, burst * scale)), base)
    for stage, (calm, hot) in STAGES.items():
        page.histogram("sglang:per_stage_req_latency_seconds", "The latency of each stage of requests.").observe(
            ((calm, normal), (hot, burst)), base, stage=stage
        )
    return page.text()


def _gauges(page: Page, server: Server, base: str) -> None:
    running, waiting, full = server.load()
    for name, value, text in (
        ("num_running_reqs", running, "The number of running requests."),
        ("num_queue_reqs", waiting, "The number of requests in the waiting queue."),
        ("num_paused_reqs", 0, "The number of paused requests by async weight sync."),
        ("num_retracted_reqs", waiting // 20, "The number of retracted requests."),
        ("num_used_tokens", int(_TOKENS * full), "The number of used tokens."),
        ("max_total_num_tokens", _TOKENS, "Maximum total number of tokens in the KV cache pool."),
        ("token_usage", round(full, 4), "The token usage."),
        ("swa_token_usage", 0, "The token usage for SWA layers."),
        ("cache_hit_rate", 0.37, "The prefix cache hit rate."),
        ("gen_throughput", round(server.traffic.rate(server.world.t) * _GENERATED, 2), "Generated tokens a second."),
        ("utilization", round(min(1.0, full + 0.1), 4), "The utilization."),
        ("spec_accept_length", 2.6, "The average acceptance length of speculative decoding."),
        ("weight_memory_usage_gb", round(70.5 / server.gpus, 2), "Memory of weights in GB."),
        ("num_prefill_bootstrap_queue_reqs", 0, "The number of requests in the prefill bootstrap queue."),
        ("num_decode_prealloc_queue_reqs", 0, "The number of requests in the decode prealloc queue."),
    ):  # fmt: skip
        page.gauge(f"sglang:{name}", text).add(value, base)
    startup = page.gauge("sglang:startup_time_seconds", "Time of each phase of the start.")
    for phase, seconds in (("load_weights", 62.4), ("cuda_graph", 18.9), ("total", 96.2)):
        startup.add(seconds, base, phase=phase)


def _scheduler(page: Page, server: Server, base: str) -> None:
    normal, burst = server.counts()
    total = normal + burst
    tokens = total * (_PROMPT + _GENERATED)
    busy = page.counter("sglang:forward_execution_seconds_total", "Seconds of forward passes on the GPU.")
    for category, seconds in (("prefill", _PROMPT * 3e-5), ("decode", _GENERATED * 4e-4)):
        busy.add(round(total * seconds, 3), base, category=category)
    page.counter("sglang:estimated_flops_per_gpu_total", "Estimated floating point operations per GPU.").add(
        int(tokens * 1.4e11 / server.gpus), base
    )
    page.counter("sglang:estimated_read_bytes_per_gpu_total", "Estimated bytes read per GPU.").add(
        int(total * _GENERATED * 2e9 / server.gpus), base
    )
    page.counter("sglang:evicted_tokens_total", "The number of evicted tokens.").add(int(burst * 400), base)


def _totals(page: Page, server: Server, base: str) -> None:
    normal, burst = server.counts()
    total = normal + burst
    for name, value, text in (
        ("prompt_tokens_total", total * _PROMPT, "Number of prefill tokens processed."),
        ("generation_tokens_total", total * _GENERATED, "Number of generation tokens processed."),
        ("num_requests_total", total, "Number of requests processed."),
        ("num_aborted_requests_total", total * 0.006, "Number of requests aborted."),
        ("num_transfer_failed_reqs_total", 0, "Number of requests whose transfer failed."),
        ("num_bootstrap_failed_reqs_total", 0, "Number of requests whose bootstrap failed."),
    ):
        page.counter(f"sglang:{name}", text).add(int(value), base)
    page.counter("sglang:cached_tokens_total", "Number of cached prompt tokens.").add(
        int(total * _PROMPT * 0.37), base, cache_source="device"
    )


def _targets(world: World) -> list[Target]:
    return [server.target(partial(sglang_page, server)) for server in servers_of(world, "sglang")]


SGLANG = Source("sglang", "sglang", "SGLang 0.5.23", _targets)

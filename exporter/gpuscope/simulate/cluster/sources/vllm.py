"""vLLM 0.33, whole servers and ones that only prefill or decode, and vLLM 0.6 with the names of then."""

from functools import partial

from gpuscope.simulate.cluster.exposition import Page, labels
from gpuscope.simulate.cluster.sources import buckets
from gpuscope.simulate.cluster.sources.serving import Server, servers_of
from gpuscope.simulate.cluster.sources.target import Source, Target
from gpuscope.simulate.cluster.world import World

__all__ = ["VLLM", "VLLM_OLD"]

_BLOCKS, _BLOCK_SIZE = 24_576, 16
_FINISHED = {"stop": 0.86, "length": 0.125, "abort": 0.012, "error": 0.003, "repetition": 0.0}
_HTTP = {"2xx": 0.985, "4xx": 0.009, "5xx": 0.006}
_PREFILL_TOKENS, _DECODE_TOKENS = 1400, 260


def vllm_page(server: Server) -> str:
    """The exposition of one server."""
    page = Page()
    base = labels(engine="0", model_name=server.model)
    _counters(page, server, base)
    _gauges(page, server, base)
    _histograms(page, server, base)
    _http(page, server)
    if server.role:
        _transfer(page, server, base)
    return page.text()


def _counters(page: Page, server: Server, base: str) -> None:
    normal, burst = server.counts()
    total = normal + burst
    prompt = 0 if server.role == "decode" else total * _PREFILL_TOKENS
    generated = total if server.role == "prefill" else total * _DECODE_TOKENS
    weights = server.gpus
    for name, value, text in (
        ("prompt_tokens", prompt, "Number of prefill tokens processed."),
        ("generation_tokens", generated, "Number of generation tokens processed."),
        ("prompt_tokens_cached", prompt * 0.42, "Number of cached prompt tokens."),
        ("num_preemptions", burst * 0.15, "Cumulative number of preemption from the engine."),
        ("prefix_cache_queries", prompt, "Prefix cache queries, in terms of number of queried tokens."),
        ("prefix_cache_hits", prompt * 0.42, "Prefix cache hits, in terms of number of cached tokens."),
        ("external_prefix_cache_queries", prompt * 0.58, "External prefix cache queries, in tokens."),
        ("external_prefix_cache_hits", prompt * 0.06, "External prefix cache hits, in tokens."),
        ("mm_cache_queries", 0, "Multi-modal cache queries."), ("mm_cache_hits", 0, "Multi-modal cache hits."),
        ("corrupted_requests", 0, "Corrupted requests, in terms of total number of requests with NaNs in logits."),
        ("estimated_flops_per_gpu", (prompt + generated) * 1.4e11 / weights, "Estimated number of operations."),
        ("estimated_read_bytes_per_gpu", generated * 2e9 / weights, "Estimated number of bytes read from memory."),
        ("estimated_write_bytes_per_gpu", (prompt + generated) * 3e5 / weights, "Estimated number of bytes written."),
        ("spec_decode_num_drafts", generated * 0.4, "Number of spec decoding drafts."),
        ("spec_decode_num_draft_tokens", generated * 1.2, "Number of draft tokens."),
        ("spec_decode_num_accepted_tokens", generated * 0.72, "Number of accepted tokens."),
    ):  # fmt: skip
        page.counter(f"vllm:{name}_total", text).add(int(value), base)
    done = page.counter("vllm:request_success_total", "Count of successfully processed requests.")
    for reason, share in _FINISHED.items():
        done.add(int(total * share), base, finished_reason=reason)
    by_source = page.counter("vllm:prompt_tokens_by_source_total", "Number of prompt tokens by source.")
    for source, share in (("local_compute", 0.52), ("local_cache_hit", 0.42), ("external_kv_transfer", 0.06)):
        by_source.add(int(prompt * share), base, source=source)
    rejected = page.counter("vllm:admission_rejections_total", "Requests rejected at admission.")
    rejected.add(int(burst * 0.04), model_name=server.model, reason="queue_full")


def _gauges(page: Page, server: Server, base: str) -> None:
    running, waiting, full = server.load()
    for name, value, text in (
        ("num_requests_running", running, "Number of requests in model execution batches."),
        ("num_requests_waiting", waiting, "Number of requests waiting to be processed."),
        ("kv_cache_usage_perc", round(full, 4), "KV-cache usage. 1 means 100 percent usage."),
    ):
        page.gauge(f"vllm:{name}", text).add(value, base)
    why = page.gauge("vllm:num_requests_waiting_by_reason", "Number of waiting requests by reason.")
    for reason, share in (("capacity", 0.8), ("deferred", 0.2)):
        why.add(round(waiting * share), base, reason=reason)
    sleep = page.gauge("vllm:engine_sleep_state", "Engine sleep state; awake = 0 means engine is sleeping.")
    for state in ("awake", "weights_offloaded", "discard_all"):
        sleep.add(state == "awake", base, sleep_state=state)
    page.gauge("vllm:cache_config_info", "Information of the LLMEngine CacheConfig").add(
        1, engine="0", block_size=_BLOCK_SIZE, num_gpu_blocks=_BLOCKS, cache_dtype="fp8", enable_prefix_caching="True",
        gpu_memory_utilization="0.9",
    )  # fmt: skip
    page.gauge("vllm:lora_requests_info", "Running stats on lora requests.").add(
        server.began, running_lora_adapters="sql-adapter", waiting_lora_adapters="", max_lora="4"
    )


def _histograms(page: Page, server: Server, base: str) -> None:
    for name, text, calm, hot in buckets.VLLM:
        if server.role == "prefill" and ("inter_token" in name or "per_output" in name):
            continue
        normal, burst = server.counts()
        scale = _DECODE_TOKENS if "inter_token" in name else 20 if name == "iteration_tokens_total" else 1
        page.histogram(f"vllm:{name}", text).observe(((calm, normal * scale), (hot, burst * scale)), base)


def _http(page: Page, server: Server) -> None:
    total = sum(server.counts())
    requests = page.counter("http_requests_total", "Total number of requests by method, status and handler.")
    for status, share in _HTTP.items():
        requests.add(int(total * share), handler="/v1/chat/completions", method="POST", status=status)
    normal, burst = server.counts()
    calm, hot = buckets.HTTP
    page.histogram("http_request_duration_seconds", "Latency with only few buckets by handler.").observe(
        ((calm, normal), (hot, burst)), handler="/v1/chat/completions", method="POST"
    )


def _transfer(page: Page, server: Server, base: str) -> None:
    normal, burst = server.counts()
    for name, text, calm, hot in buckets.NIXL:
        page.histogram(f"vllm:{name}", text).observe(((calm, normal), (hot, burst)), base)
    for name in ("nixl_num_failed_transfers", "nixl_num_failed_notifications", "nixl_num_kv_expired_reqs"):
        page.counter(f"vllm:{name}_total", "NIXL KV Transfers that went wrong.").add(int(burst * 0.002), base)


def old_page(server: Server) -> str:
    """The exposition of a server of before 2025."""
    page = Page()
    base = labels(model_name=server.model)
    normal, burst = server.counts()
    running, waiting, full = server.load()
    for name, value in (
        ("num_requests_running", running), ("num_requests_waiting", waiting), ("num_requests_swapped", 0),
        ("gpu_cache_usage_perc", round(full, 4)), ("cpu_cache_usage_perc", 0), ("gpu_prefix_cache_hit_rate", 0.42),
    ):  # fmt: skip
        page.gauge(f"vllm:{name}").add(value, base)
    total = normal + burst
    for name, value in (
        ("prompt_tokens", total * _PREFILL_TOKENS), ("generation_tokens", total * _DECODE_TOKENS),
        ("num_preemptions", burst * 0.15),
    ):  # fmt: skip
        page.counter(f"vllm:{name}_total").add(int(value), base)
    for reason, share in (("stop", 0.87), ("length", 0.12), ("abort", 0.01)):
        page.counter("vllm:request_success_total").add(int(total * share), base, finished_reason=reason)
    for name, text, calm, hot in buckets.VLLM:
        if name in {"time_to_first_token_seconds", "e2e_request_latency_seconds", "request_prompt_tokens",
                    "request_generation_tokens", "request_queue_time_seconds"}:  # fmt: skip
            page.histogram(f"vllm:{name}", text).observe(((calm, normal), (hot, burst)), base)
        elif name == "inter_token_latency_seconds":
            page.histogram("vllm:time_per_output_token_seconds", text).observe(
                ((calm, normal * _DECODE_TOKENS), (hot, burst * _DECODE_TOKENS)), base
            )
    return page.text()


def _targets(world: World, *, engine: str) -> list[Target]:
    page = old_page if engine == "vllm-old" else vllm_page
    return [server.target(partial(page, server)) for server in servers_of(world, engine)]


VLLM = Source("vllm", "vllm", "vLLM 0.33", partial(_targets, engine="vllm"))
VLLM_OLD = Source("vllm-old", "vllm-old", "vLLM with names of 2024", partial(_targets, engine="vllm-old"))

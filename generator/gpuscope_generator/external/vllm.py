"""vLLM 0.33 and the names of versions since 2024 (0.6): newest first. Under Ray Serve ``ray_vllm_…``, for ``vllm:…``.

Its label ``engine`` is the number of a data-parallel part. Ray adds the labels of its replica.
"""

from __future__ import annotations

from gpuscope_generator.promql import Counter, Gauge, Histogram, Info, counter, gauge, histogram, info

__all__ = [
    "ACCEPTED_TOKENS",
    "DECODE",
    "DRAFT_TOKENS",
    "E2E",
    "EXTERNAL_HITS",
    "EXTERNAL_QUERIES",
    "FINISHED",
    "FLOPS",
    "GENERATION_TOKENS",
    "HTTP_REQUESTS",
    "INTER_TOKEN",
    "ITERATION",
    "KV_USED",
    "LORA",
    "NIXL_BYTES",
    "NIXL_FAILED",
    "NIXL_TIME",
    "OUTPUT_LENGTH",
    "PREEMPTIONS",
    "PREFILL",
    "PREFIX_HITS",
    "PREFIX_HIT_RATE",
    "PREFIX_QUERIES",
    "PROMPT_LENGTH",
    "PROMPT_TOKENS",
    "QUEUE",
    "READ_BYTES",
    "REJECTED",
    "RUNNING",
    "SLEEP",
    "TTFT",
    "WAITING",
    "WAITING_BY_REASON",
    "WRITTEN_BYTES",
]

_SOURCE = "vllm"
_LABELS = ("model_name", "engine", "namespace", "pod", "ReplicaId", "WorkerId")


def _names(name: str, *older: str) -> tuple[str, ...]:
    plain = (name, *older)
    return (*(f"vllm:{one}" for one in plain), *(f"ray_vllm_{one}" for one in plain))


def _level(name: str, *older: str, labels: tuple[str, ...] = ()) -> tuple[Gauge, ...]:
    return tuple(gauge(one, *_LABELS, *labels, source=_SOURCE) for one in _names(name, *older))


def _total(name: str, *older: str, labels: tuple[str, ...] = ()) -> tuple[Counter, ...]:
    return tuple(counter(one, *_LABELS, *labels, source=_SOURCE) for one in _names(name, *older))


def _spread(name: str, *older: str) -> tuple[Histogram, ...]:
    return tuple(histogram(one, *_LABELS, source=_SOURCE) for one in _names(name, *older))


RUNNING = _level("num_requests_running")
WAITING = _level("num_requests_waiting")
WAITING_BY_REASON = _level("num_requests_waiting_by_reason", labels=("reason",))
KV_USED = _level("kv_cache_usage_perc", "gpu_cache_usage_perc")
"""0 to 1, although the name says percent."""
SLEEP = _level("engine_sleep_state", labels=("sleep_state",))
PREFIX_HIT_RATE = _level("gpu_prefix_cache_hit_rate")
"""Of versions before the counters."""

FINISHED = _total("request_success_total", labels=("finished_reason",))
"""All requests that ended, those with the reasons ``error`` and ``abort`` too, whatever its name says."""
REJECTED = _total("admission_rejections_total", labels=("reason",))
PROMPT_TOKENS = _total("prompt_tokens_total")
GENERATION_TOKENS = _total("generation_tokens_total")
PREEMPTIONS = _total("num_preemptions_total")
PREFIX_QUERIES = _total("prefix_cache_queries_total", "gpu_prefix_cache_queries_total")
PREFIX_HITS = _total("prefix_cache_hits_total", "gpu_prefix_cache_hits_total")
EXTERNAL_QUERIES = _total("external_prefix_cache_queries_total")
EXTERNAL_HITS = _total("external_prefix_cache_hits_total")
DRAFT_TOKENS = _total("spec_decode_num_draft_tokens_total")
ACCEPTED_TOKENS = _total("spec_decode_num_accepted_tokens_total")
FLOPS = _total("estimated_flops_per_gpu_total")
READ_BYTES = _total("estimated_read_bytes_per_gpu_total")
WRITTEN_BYTES = _total("estimated_write_bytes_per_gpu_total")
NIXL_FAILED = _total("nixl_num_failed_transfers_total")

TTFT = _spread("time_to_first_token_seconds")
INTER_TOKEN = _spread("inter_token_latency_seconds", "time_per_output_token_seconds")
E2E = _spread("e2e_request_latency_seconds")
QUEUE = _spread("request_queue_time_seconds")
PREFILL = _spread("request_prefill_time_seconds")
DECODE = _spread("request_decode_time_seconds")
PROMPT_LENGTH = _spread("request_prompt_tokens")
OUTPUT_LENGTH = _spread("request_generation_tokens")
ITERATION = _spread("iteration_tokens_total")
"""A histogram, although the name ends like a counter's."""
NIXL_TIME = _spread("nixl_xfer_time_seconds")
NIXL_BYTES = _spread("nixl_bytes_transferred")

LORA: tuple[Info, ...] = tuple(
    info(one, *_LABELS, "running_lora_adapters", "waiting_lora_adapters", "max_lora", source=_SOURCE)
    for one in _names("lora_requests_info")
)
"""Its value is the time of the last change; older combinations of labels stay beside the newest."""
HTTP_REQUESTS = counter("http_requests_total", *_LABELS, "handler", "method", "status", source="fastapi")
"""Of its web server: other programs have a counter of this name too. ``status`` is ``4xx`` or ``404``."""

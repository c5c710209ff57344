"""SGLang 0.5.23 and the names of 0.4: newest first. Under Ray ``ray_sglang_…``, for ``sglang:…``.

Gauges and some counters are published once for each rank of tensor and pipeline parallelism, with the same value.
Counters of requests and tokens are split by ``is_streaming`` in newer versions.
"""

from __future__ import annotations

from gpuscope_generator.promql import Counter, Gauge, Histogram, counter, gauge, histogram

__all__ = [
    "ABORTED",
    "ACCEPT_LENGTH",
    "CACHED_TOKENS",
    "DECODE_QUEUE",
    "E2E",
    "EVICTED",
    "FLOPS",
    "GENERATION_TOKENS",
    "HIT_RATE",
    "HTTP_RESPONSES",
    "INTER_TOKEN",
    "KV_USED",
    "OUTPUT_LENGTH",
    "PREFILL_QUEUE",
    "PROMPT_LENGTH",
    "PROMPT_TOKENS",
    "QUEUE",
    "READ_BYTES",
    "REQUESTS",
    "RETRACTED",
    "RUNNING",
    "STAGES",
    "STARTUP",
    "TRANSFER_FAILED",
    "TTFT",
    "WAITING",
    "WRITTEN_BYTES",
]

_SOURCE = "sglang"
_LABELS = (
    "model_name", "engine_type", "tp_rank", "pp_rank", "dp_rank", "moe_ep_rank", "is_streaming", "namespace", "pod",
    "ReplicaId", "WorkerId",
)  # fmt: skip


def _names(name: str, *older: str) -> tuple[str, ...]:
    plain = (name, *older)
    return (*(f"sglang:{one}" for one in plain), *(f"ray_sglang_{one}" for one in plain))


def _level(name: str, *more: str) -> tuple[Gauge, ...]:
    return tuple(gauge(one, *_LABELS, *more, source=_SOURCE) for one in _names(name))


def _total(name: str, *more: str) -> tuple[Counter, ...]:
    return tuple(counter(one, *_LABELS, *more, source=_SOURCE) for one in _names(name))


def _spread(name: str, *older: str) -> tuple[Histogram, ...]:
    return tuple(histogram(one, *_LABELS, source=_SOURCE) for one in _names(name, *older))


RUNNING = _level("num_running_reqs")
WAITING = _level("num_queue_reqs")
PREFILL_QUEUE = _level("num_prefill_bootstrap_queue_reqs")
DECODE_QUEUE = _level("num_decode_prealloc_queue_reqs")
RETRACTED = _level("num_retracted_reqs")
KV_USED = _level("token_usage")
HIT_RATE = _level("cache_hit_rate")
ACCEPT_LENGTH = _level("spec_accept_length")
STARTUP = _level("startup_time_seconds", "phase")

REQUESTS = _total("num_requests_total")
ABORTED = _total("num_aborted_requests_total")
PROMPT_TOKENS = _total("prompt_tokens_total")
GENERATION_TOKENS = _total("generation_tokens_total")
CACHED_TOKENS = _total("cached_tokens_total", "cache_source")
EVICTED = _total("evicted_tokens_total")
FLOPS = _total("estimated_flops_per_gpu_total")
READ_BYTES = _total("estimated_read_bytes_per_gpu_total")
WRITTEN_BYTES = _total("estimated_write_bytes_per_gpu_total")
TRANSFER_FAILED = _total("num_transfer_failed_reqs_total")
HTTP_RESPONSES = counter("sglang:http_responses_total", *_LABELS, "endpoint", "method", "status_code", source=_SOURCE)
"""Of its web server, which names no model."""

TTFT = _spread("time_to_first_token_seconds")
INTER_TOKEN = _spread("inter_token_latency_seconds", "time_per_output_token_seconds")
E2E = _spread("e2e_request_latency_seconds")
QUEUE = _spread("queue_time_seconds")
PROMPT_LENGTH = _spread("prompt_tokens_histogram")
OUTPUT_LENGTH = _spread("generation_tokens_histogram")
STAGES = tuple(histogram(one, *_LABELS, "stage", source=_SOURCE) for one in _names("per_stage_req_latency_seconds"))
"""By stage, ``prefill_forward`` and ``decode_forward`` among them."""

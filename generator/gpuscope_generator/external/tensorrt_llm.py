"""TensorRT-LLM 1.x, ``trtllm-serve``: with and without ``e2e_`` in the name of the latency, newest first."""

from __future__ import annotations

from gpuscope_generator.promql import counter, gauge, histogram

__all__ = [
    "E2E",
    "FINISHED",
    "HIT_RATE",
    "INTER_TOKEN",
    "KV_USED",
    "QUEUE",
    "RUNNING",
    "TOKENS_PER_SECOND",
    "TRANSFER_BYTES",
    "TRANSFER_TIME",
    "TTFT",
    "WAITING",
]

_SOURCE = "trtllm"
_LABELS = ("model_name", "engine_type", "namespace", "pod")

FINISHED = counter("trtllm_request_success_total", *_LABELS, "finished_reason", source=_SOURCE)
RUNNING = gauge("trtllm_num_requests_running", *_LABELS, source=_SOURCE)
WAITING = gauge("trtllm_num_requests_waiting", *_LABELS, source=_SOURCE)
KV_USED = gauge("trtllm_kv_cache_utilization", *_LABELS, source=_SOURCE)
HIT_RATE = gauge("trtllm_kv_cache_hit_rate", *_LABELS, source=_SOURCE)
TOKENS_PER_SECOND = gauge("trtllm_tokens_per_second", *_LABELS, source=_SOURCE)
"""Generated tokens; it has no counter of them."""
E2E = (
    histogram("trtllm_e2e_request_latency_seconds", *_LABELS, source=_SOURCE),
    histogram("trtllm_request_latency_seconds", *_LABELS, source=_SOURCE),
)
TTFT = histogram("trtllm_time_to_first_token_seconds", *_LABELS, source=_SOURCE)
INTER_TOKEN = histogram("trtllm_time_per_output_token_seconds", *_LABELS, source=_SOURCE)
QUEUE = histogram("trtllm_request_queue_time_seconds", *_LABELS, source=_SOURCE)
TRANSFER_TIME = histogram("trtllm_kv_transfer_latency_seconds", *_LABELS, source=_SOURCE)
TRANSFER_BYTES = counter("trtllm_kv_transfer_bytes", *_LABELS, source=_SOURCE)

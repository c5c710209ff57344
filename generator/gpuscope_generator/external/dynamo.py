"""NVIDIA Dynamo 1.6: its front end counts requests as users see them; workers and the router stand behind it.

``dynamo_namespace`` is no namespace of Kubernetes.
"""

from __future__ import annotations

from gpuscope_generator.promql import counter, gauge, histogram

__all__ = [
    "CACHE_USED",
    "INPUT_LENGTH",
    "IN_FLIGHT",
    "ITL",
    "OUTPUT_LENGTH",
    "OUTPUT_TOKENS",
    "QUEUED",
    "REQUESTS",
    "REQUEST_DURATION",
    "ROUTER_HIT_RATE",
    "ROUTER_REQUESTS",
    "TTFT",
    "WORKER_IN_FLIGHT",
]

_SOURCE = "dynamo"
_TARGET = ("namespace", "pod")
_FRONT = ("model", *_TARGET)
_WORKER = ("dynamo_namespace", "dynamo_component", "dynamo_endpoint", "worker_id", "model", *_TARGET)

REQUESTS = counter(
    "dynamo_frontend_requests_total", *_FRONT, "endpoint", "request_type", "status", "error_type", source=_SOURCE
)
IN_FLIGHT = gauge("dynamo_frontend_inflight_requests", *_FRONT, source=_SOURCE)
"""From the first byte of a request to the last of its answer: those that wait are among them."""
QUEUED = gauge("dynamo_frontend_queued_requests", *_FRONT, source=_SOURCE)
"""Until the first token."""
OUTPUT_TOKENS = counter("dynamo_frontend_output_tokens_total", *_FRONT, source=_SOURCE)
TTFT = histogram("dynamo_frontend_time_to_first_token_seconds", *_FRONT, source=_SOURCE)
ITL = histogram("dynamo_frontend_inter_token_latency_seconds", *_FRONT, source=_SOURCE)
REQUEST_DURATION = histogram("dynamo_frontend_request_duration_seconds", *_FRONT, source=_SOURCE)
INPUT_LENGTH = histogram("dynamo_frontend_input_sequence_tokens", *_FRONT, source=_SOURCE)
OUTPUT_LENGTH = histogram("dynamo_frontend_output_sequence_tokens", *_FRONT, source=_SOURCE)

WORKER_IN_FLIGHT = gauge("dynamo_component_inflight_requests", *_WORKER, source=_SOURCE)
CACHE_USED = gauge("dynamo_component_gpu_cache_usage_percent", *_WORKER, source=_SOURCE)
"""0 to 1, although the name says percent."""
ROUTER_REQUESTS = counter("dynamo_component_router_requests_total", *_WORKER, source=_SOURCE)
ROUTER_HIT_RATE = gauge("dynamo_component_router_kv_hit_rate", *_WORKER, source=_SOURCE)

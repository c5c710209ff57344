"""Triton Inference Server 2.40 to 2.60. Durations are sums in microseconds, since the server began."""

from __future__ import annotations

from gpuscope_generator.promql import counter, gauge, histogram

__all__ = [
    "CACHE_HITS",
    "CACHE_MISSES",
    "COUNT",
    "EXECUTIONS",
    "FAILURES",
    "FIRST_RESPONSE",
    "INFER_US",
    "INPUT_US",
    "OUTPUT_US",
    "PENDING",
    "QUEUE_US",
    "REQUEST_US",
    "SUCCESS",
]

_SOURCE = "triton"
_LABELS = ("model", "version", "namespace", "pod")

SUCCESS = counter("nv_inference_request_success", *_LABELS, source=_SOURCE)
FAILURES = counter("nv_inference_request_failure", *_LABELS, "reason", source=_SOURCE)
"""Reasons REJECTED, CANCELED, BACKEND and OTHER; none of them before 2.44."""
COUNT = counter("nv_inference_count", *_LABELS, source=_SOURCE)
EXECUTIONS = counter("nv_inference_exec_count", *_LABELS, source=_SOURCE)
REQUEST_US = counter("nv_inference_request_duration_us", *_LABELS, source=_SOURCE)
QUEUE_US = counter("nv_inference_queue_duration_us", *_LABELS, source=_SOURCE)
INPUT_US = counter("nv_inference_compute_input_duration_us", *_LABELS, source=_SOURCE)
INFER_US = counter("nv_inference_compute_infer_duration_us", *_LABELS, source=_SOURCE)
OUTPUT_US = counter("nv_inference_compute_output_duration_us", *_LABELS, source=_SOURCE)
PENDING = gauge("nv_inference_pending_request_count", *_LABELS, source=_SOURCE)
CACHE_HITS = counter("nv_cache_num_hits_per_model", *_LABELS, source=_SOURCE)
CACHE_MISSES = counter("nv_cache_num_misses_per_model", *_LABELS, source=_SOURCE)
FIRST_RESPONSE = histogram("nv_inference_first_response_histogram_ms", *_LABELS, source=_SOURCE)
"""In milliseconds, its bounds too. Only with ``--metrics-config histogram_latencies=true``, and decoupled models."""

"""Text Generation Inference 2 and 3. Durations are in seconds, which their names do not say; no label tells the model.

It has no histogram of the time to the first token: quantiles of queue and prefill cannot be added up to one.
"""

from __future__ import annotations

from gpuscope_generator.promql import counter, gauge, histogram

__all__ = [
    "BATCH",
    "COUNT",
    "E2E",
    "FAILURES",
    "FORWARD",
    "GENERATED",
    "INFERENCE",
    "INPUT_LENGTH",
    "QUEUE",
    "SUCCESS",
    "WAITING",
]

_SOURCE = "tgi"
_LABELS = ("namespace", "pod")

COUNT = counter("tgi_request_count", *_LABELS, source=_SOURCE)
SUCCESS = counter("tgi_request_success", *_LABELS, source=_SOURCE)
FAILURES = counter("tgi_request_failure", *_LABELS, "err", source=_SOURCE)
WAITING = gauge("tgi_queue_size", *_LABELS, source=_SOURCE)
BATCH = gauge("tgi_batch_current_size", *_LABELS, source=_SOURCE)
E2E = histogram("tgi_request_duration", *_LABELS, source=_SOURCE)
QUEUE = histogram("tgi_request_queue_duration", *_LABELS, source=_SOURCE)
INFERENCE = histogram("tgi_request_inference_duration", *_LABELS, source=_SOURCE)
INPUT_LENGTH = histogram("tgi_request_input_length", *_LABELS, source=_SOURCE)
GENERATED = histogram("tgi_request_generated_tokens", *_LABELS, source=_SOURCE)
"""Tokens of a request: their sum over time is the throughput, and not a quantile of it."""
FORWARD = histogram("tgi_batch_forward_duration", *_LABELS, "method", source=_SOURCE)
"""One step of a batch; with the method ``decode`` it gives each request of the batch one token."""

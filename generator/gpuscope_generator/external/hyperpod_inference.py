"""HyperPod's inference operator: calls of a model as its proxy sees them, whatever engine stands behind it."""

from __future__ import annotations

from gpuscope_generator.promql import counter, gauge, histogram

__all__ = ["CONCURRENT", "ERRORS", "FIRST_BYTE_MS", "INVOCATIONS", "LATENCY_MS"]

_SOURCE = "hyperpod-inference"
_LABELS = (
    "resource_name", "resource_type", "namespace", "model_name", "model_version", "model_container_type",
    "model_container_image", "instance_type", "pod_name", "node_name", "method", "uri", "exported_namespace",
)  # fmt: skip

INVOCATIONS = counter("model_invocations_total", *_LABELS, source=_SOURCE)
ERRORS = counter("model_errors_total", *_LABELS, "status", source=_SOURCE)
"""A series appears with the first error."""
CONCURRENT = gauge("model_concurrent_requests", *_LABELS, source=_SOURCE)
LATENCY_MS = histogram("model_latency_milliseconds", *_LABELS, source=_SOURCE)
FIRST_BYTE_MS = histogram("model_ttfb_milliseconds", *_LABELS, source=_SOURCE)

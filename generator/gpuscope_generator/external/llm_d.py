"""llm-d's router (endpoint picker), names of 2026 with the prefix ``llm_d_epp_``, before them
``llm_d_router_epp_``, and those of the Gateway
API inference extension: newest first. Both are published at once for some time."""

from __future__ import annotations

from gpuscope_generator.promql import Counter, Gauge, Histogram, counter, gauge, histogram

__all__ = ["ERRORS", "HIT_RATIO", "KV_SPREAD", "QUEUE", "REQUESTS", "SCHEDULER_SECONDS"]

_SOURCE = "llm-d"
_MODEL = ("model_name", "target_model_name", "fairness_id", "priority", "namespace", "pod")
_POOL = ("name", "namespace", "pod")


def _names(name: str, old: str) -> tuple[str, ...]:
    return (f"llm_d_epp_{name}", f"llm_d_router_epp_{name}", f"{old}_{name}")


REQUESTS: tuple[Counter, ...] = tuple(
    counter(one, *_MODEL, source=_SOURCE) for one in _names("request_total", "inference_objective")
)
ERRORS: tuple[Counter, ...] = tuple(
    counter(one, *_MODEL, "error_code", source=_SOURCE) for one in _names("request_error_total", "inference_objective")
)
"""A series appears with the first error."""
SCHEDULER_SECONDS: tuple[Histogram, ...] = tuple(
    histogram(one, *_POOL, source=_SOURCE) for one in _names("scheduler_e2e_duration_seconds", "inference_extension")
)
HIT_RATIO: tuple[Histogram, ...] = tuple(
    histogram(one, *_POOL, source=_SOURCE) for one in _names("prefix_indexer_hit_ratio", "inference_extension")
)
QUEUE: tuple[Gauge, ...] = tuple(
    gauge(one, *_MODEL, source=_SOURCE) for one in _names("flow_control_queue_size", "inference_extension")
)
KV_SPREAD: tuple[Gauge, ...] = tuple(
    gauge(one, *_POOL, source=_SOURCE) for one in _names("std_dev_kv_cache_utilization", "inference_pool")
)

"""``process_*`` and ``python_gc_*`` series of the agent itself, by prometheus_client."""

from functools import lru_cache

from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.openmetrics import exposition as openmetrics

__all__ = ["process_text"]


def process_text() -> tuple[str, str]:
    """The series as classic text and as OpenMetrics, the latter without its end mark."""
    registry = _registry()
    full: bytes = openmetrics.generate_latest(registry)  # type: ignore[no-untyped-call]
    end = full.decode().removesuffix("# EOF\n")
    return generate_latest(registry).decode(), end


@lru_cache(maxsize=1)
def _registry() -> CollectorRegistry:
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    return registry

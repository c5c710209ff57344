"""Around model servers: routers in front, key-value caches that move, replicas and what scales them."""

from gpuscope.catalogue.metric import Unit
from gpuscope_generator.normalized.inference import MODEL
from gpuscope_generator.promql import gauge

__all__ = [
    "AUTOSCALER_METRIC",
    "REPLICAS",
    "ROUTER",
    "ROUTER_PREFIX_HITS",
    "ROUTER_QUEUE",
    "ROUTER_REQUESTS",
    "ROUTER_SECONDS",
    "ROUTER_SPREAD",
    "SCALED",
    "TRANSFER_BYTES",
    "TRANSFER_FAILURES",
]

ROUTER = ("cluster", "namespace", "router", "model")
"""What a router routes to; ``router`` is its kind: llm-d or dynamo. ``model`` is empty where it serves a whole pool."""
SCALED = ("cluster", "namespace", "workload_kind", "workload")

ROUTER_REQUESTS = gauge(
    "model:router_requests:rate5m", *ROUTER, "outcome", meaning="Requests a second at a router: success, error."
)
ROUTER_SECONDS = gauge(
    "model:router_seconds_bucket:rate5m", *ROUTER, "le", meaning="Decisions of a router by the time that they took."
)
ROUTER_PREFIX_HITS = gauge(
    "model:router_prefix_hits:ratio_avg",
    *ROUTER,
    unit=Unit.RATIO,
    meaning="Share of a prompt that a router believes to be in the chosen server's cache.",
)
ROUTER_QUEUE = gauge("model:router_queue:sum", *ROUTER, meaning="Requests that wait in the router.")
ROUTER_SPREAD = gauge(
    "model:router_kv_cache_used:ratio_stddev",
    *ROUTER,
    unit=Unit.RATIO,
    meaning="How unevenly the servers of a pool are filled: standard deviation of the use of their caches.",
)

TRANSFER_BYTES = gauge(
    "model:kv_transfer_bytes:rate5m",
    *MODEL,
    unit=Unit.BYTES_PER_SECOND,
    meaning="Bytes of key-value caches moved between servers.",
)
TRANSFER_FAILURES = gauge("model:kv_transfer_failures:rate5m", *MODEL, meaning="Such transfers that failed, a second.")

REPLICAS = gauge(
    "workload:replicas:union",
    *SCALED,
    "state",
    meaning="Replicas of a Deployment or StatefulSet: wanted, ready; and where an autoscaler acts on it minimum, maximum, "
    "scaler_wanted and scaler_current.",
)
AUTOSCALER_METRIC = gauge(
    "workload:autoscaler_metric:union",
    *SCALED,
    "metric",
    "what",
    meaning="What an autoscaler looks at: current, target, and scaler for what KEDA itself measures.",
)

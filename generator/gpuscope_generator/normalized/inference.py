"""Model servers, whatever their engine: one series a replica (``pod``), and one a model and deployment (``model``).

A replica is a pod, or the address of the server where nobody says pod. ``model`` is the model's name as clients give
it; ``unknown`` where an engine does not tell it. Histograms are rates by bucket: quantiles are computed last, and never
over several engines, as their bounds differ.
"""

from gpuscope.catalogue.metric import Unit
from gpuscope_generator.promql import gauge, info

__all__ = [
    "BATCH_SIZE",
    "CLUSTER_IN_FLIGHT",
    "CLUSTER_REQUESTS",
    "CLUSTER_TOKENS",
    "ERRORS",
    "EVICTED_TOKENS",
    "FLOPS_UTILIZATION",
    "KV_MAX",
    "KV_MEAN",
    "MEMORY_UTILIZATION",
    "MODEL",
    "MODEL_INFO",
    "OBJECTIVES",
    "POD_FLOPS",
    "POD_KV_MAX",
    "POD_KV_MEAN",
    "POD_LORA",
    "POD_MEMORY_TRAFFIC",
    "POD_PREEMPTIONS",
    "POD_REQUESTS",
    "POD_RUNNING",
    "POD_SLEEP",
    "POD_STARTUP",
    "POD_TOKENS",
    "POD_WAITING",
    "PREEMPTIONS",
    "PREFIX_HITS",
    "PREFIX_TOKENS",
    "REPLICAS",
    "REQUESTS",
    "RUNNING",
    "SERVER",
    "SERVER_INFO",
    "SLO",
    "SPECULATIVE_LENGTH",
    "SPECULATIVE_TOKENS",
    "STAGE_REQUESTS",
    "STAGE_SECONDS",
    "SUCCESS",
    "TOKENS",
    "WAITING",
    "WAITING_BY_REASON",
]

MODEL = ("cluster", "namespace", "model", "engine", "workload")
"""What is served: a model by a deployment; ``workload`` is empty where nobody tells who owns the pod."""
SERVER = (*MODEL, "pod")
"""One replica of it."""

SERVER_INFO = info("pod:server:union", *SERVER, "node", meaning="A replica of a model server that answers.")
POD_REQUESTS = gauge(
    "pod:requests:rate5m",
    *SERVER,
    "outcome",
    meaning="Requests that ended, a second, by outcome: success, error, and cancelled (the client left).",
)
POD_RUNNING = gauge("pod:requests_running:sum", *SERVER, meaning="Requests that are computed now.")
POD_WAITING = gauge("pod:requests_waiting:sum", *SERVER, meaning="Requests that wait for room.")
POD_KV_MAX = gauge(
    "pod:kv_cache_used:ratio_max",
    *SERVER,
    unit=Unit.RATIO,
    meaning="Share of the key-value cache in use, of the fullest part of a replica.",
)
POD_KV_MEAN = gauge(
    "pod:kv_cache_used:ratio_avg",
    *SERVER,
    unit=Unit.RATIO,
    meaning="The same as the mean over its data-parallel parts.",
)
POD_TOKENS = gauge("pod:tokens:rate5m", *SERVER, "kind", meaning="Tokens a second: prompt, generation.")
POD_PREEMPTIONS = gauge(
    "pod:preemptions:rate5m", *SERVER, meaning="Requests put back a second, as the key-value cache was full."
)
POD_FLOPS = gauge(
    "pod:flops_per_gpu:rate5m", *SERVER, meaning="Floating-point operations a second and GPU, as the engine estimates."
)
POD_MEMORY_TRAFFIC = gauge(
    "pod:memory_bytes_per_gpu:rate5m",
    *SERVER,
    unit=Unit.BYTES_PER_SECOND,
    meaning="Bytes read and written to GPU memory a second and GPU, as the engine estimates.",
)
POD_SLEEP = gauge(
    "pod:sleep_state:bool",
    *SERVER,
    "state",
    meaning="1 for the state of the engine: awake, weights_offloaded, discard_all.",
)
POD_LORA = info(
    "pod:lora_adapters:union", *SERVER, "running", "waiting", "limit", meaning="LoRA adapters in use and waited for."
)
POD_STARTUP = gauge(
    "pod:startup_seconds:max",
    *SERVER,
    "phase",
    unit=Unit.SECONDS,
    meaning="How long the engine took to start, by phase.",
)

MODEL_INFO = info("model:info:union", *MODEL, meaning="A model that is served; the variables of the board read it.")
REPLICAS = gauge("model:replicas:count", *MODEL, meaning="Replicas that answer.")
REQUESTS = gauge("model:requests:rate5m", *MODEL, "outcome", meaning="Requests a second, as of the replicas.")
SUCCESS = gauge(
    "model:success:ratio_rate5m",
    *MODEL,
    unit=Unit.RATIO,
    meaning="Share of requests that succeeded, of those whose client stayed; 1 while none fails, absent without any.",
)
ERRORS = gauge(
    "model:errors:rate5m",
    *MODEL,
    "layer",
    "reason",
    meaning="Requests that failed a second, by where that was seen (engine, admission, http) and why. The same request "
    "may be seen at two layers.",
)
RUNNING = gauge("model:requests_running:sum", *MODEL, meaning="Requests that are computed now.")
WAITING = gauge("model:requests_waiting:sum", *MODEL, meaning="Requests that wait for room.")
WAITING_BY_REASON = gauge(
    "model:requests_waiting_by_reason:sum", *MODEL, "reason", meaning="Requests that wait, by what they wait for."
)
TOKENS = gauge("model:tokens:rate5m", *MODEL, "kind", meaning="Tokens a second: prompt, generation.")
KV_MEAN = gauge(
    "model:kv_cache_used:ratio_avg",
    *MODEL,
    unit=Unit.RATIO,
    meaning="Share of the key-value cache in use, mean over replicas.",
)
KV_MAX = gauge("model:kv_cache_used:ratio_max", *MODEL, unit=Unit.RATIO, meaning="The same of the fullest replica.")
PREEMPTIONS = gauge("model:preemptions:rate5m", *MODEL, meaning="Requests put back a second for want of cache.")
EVICTED_TOKENS = gauge("model:evicted_tokens:rate5m", *MODEL, meaning="Cached tokens thrown out a second.")
PREFIX_TOKENS = gauge(
    "model:prefix_cache_tokens:rate5m",
    *MODEL,
    "cache",
    "result",
    meaning="Prompt tokens a second that were looked up in a prefix cache (queried) and found (hit); local or "
    "external.",
)
PREFIX_HITS = gauge(
    "model:prefix_cache_hits:ratio",
    *MODEL,
    "cache",
    unit=Unit.RATIO,
    meaning="Share of prompt tokens found in a prefix cache; of engines that tell only the share, as they tell it.",
)
SPECULATIVE_TOKENS = gauge(
    "model:speculative_tokens:rate5m", *MODEL, "result", meaning="Speculated tokens a second: drafted, accepted."
)
SPECULATIVE_LENGTH = gauge(
    "model:speculative_length:avg", *MODEL, meaning="Tokens gained by a step of speculation, on average."
)
STAGE_SECONDS = gauge(
    "model:stage_seconds:rate5m",
    *MODEL,
    "stage",
    meaning="Seconds that requests spent in a stage, a second: queue, prefill, decode, or inference where an engine "
    "tells both together, and request for the whole.",
)
STAGE_REQUESTS = gauge("model:stage_requests:rate5m", *MODEL, "stage", meaning="Requests of these, a second.")
BATCH_SIZE = gauge("model:batch_size:avg", *MODEL, meaning="Requests computed together, on average.")
FLOPS_UTILIZATION = gauge(
    "model:flops_utilization:ratio_avg",
    *MODEL,
    unit=Unit.RATIO,
    meaning="Estimated operations over the GPU's peak in dense BF16 (MFU); absent for GPU models without a known peak.",
)
MEMORY_UTILIZATION = gauge(
    "model:memory_bandwidth_utilization:ratio_avg",
    *MODEL,
    unit=Unit.RATIO,
    meaning="Estimated memory traffic over the GPU's peak (MBU); absent for GPU models without a known peak.",
)
SLO = gauge(
    "model:slo_observations:rate5m",
    *MODEL,
    "objective",
    "result",
    meaning="First tokens (time_to_first_token) or later tokens (inter_token) a second: total, and good, which were "
    "within the objective at the largest bucket bound that is not above it; or requests (success): total, and good, "
    "which did not fail.",
)
OBJECTIVES = ("time_to_first_token", "inter_token", "success")
"""Values of ``objective``."""

CLUSTER_REQUESTS = gauge(
    "cluster:inference_requests:rate5m", "cluster", "outcome", meaning="Requests a second to all model servers."
)
CLUSTER_IN_FLIGHT = gauge(
    "cluster:inference_in_flight:sum", "cluster", "state", meaning="Requests at all model servers: running, waiting."
)
CLUSTER_TOKENS = gauge("cluster:inference_tokens:rate5m", "cluster", "kind", meaning="Tokens a second, of all servers.")

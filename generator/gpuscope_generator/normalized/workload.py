"""One series a pod, a workload (the top of the owner chain, or a Slurm job) and a team."""

from gpuscope.catalogue.metric import Unit
from gpuscope_generator.promql import gauge, info

__all__ = [
    "JOB_CLOCK",
    "OWNED",
    "POD",
    "POD_COMPUTE_ACTIVE",
    "POD_CPU",
    "POD_CPU_LIMIT",
    "POD_CPU_REQUEST",
    "POD_CPU_THROTTLED",
    "POD_DRAM_ACTIVE",
    "POD_EXIT",
    "POD_GPUS",
    "POD_GPU_MEMORY_TOTAL",
    "POD_GPU_MEMORY_USED",
    "POD_GPU_REQUEST",
    "POD_GPU_SHARE",
    "POD_INFO",
    "POD_MEMORY",
    "POD_MEMORY_LIMIT",
    "POD_MEMORY_REQUEST",
    "POD_MIG_SHARE",
    "POD_NETWORK",
    "POD_OCCUPANCY",
    "POD_OOM",
    "POD_PHASE",
    "POD_POWER",
    "POD_RESTARTS",
    "POD_SM_ACTIVE",
    "POD_TENSOR_ACTIVE",
    "POD_TIME",
    "POD_WAITING",
    "TEAM",
    "TEAM_COMPUTE_ACTIVE",
    "TEAM_GPUS",
    "TEAM_POWER",
    "WORKLOAD",
    "WORKLOAD_BUSY",
    "WORKLOAD_CLASS",
    "WORKLOAD_COMPUTE_ACTIVE",
    "WORKLOAD_CPU",
    "WORKLOAD_GPUS",
    "WORKLOAD_GPUS_BY_MODEL",
    "WORKLOAD_GPU_MEMORY_TOTAL",
    "WORKLOAD_GPU_MEMORY_USED",
    "WORKLOAD_INFO",
    "WORKLOAD_MEMORY",
    "WORKLOAD_MEMORY_HELD",
    "WORKLOAD_PODS",
    "WORKLOAD_POWER",
    "WORKLOAD_SM_ACTIVE",
    "WORKLOAD_TENSOR_ACTIVE",
]

OWNED = ("namespace", "workload_kind", "workload", "team", "queue")
"""What a thing belongs to; each may be empty where nobody knows."""
POD = ("cluster", *OWNED, "pod", "node")
"""A pod; of a Slurm job, which has none, ``pod`` is empty and ``workload`` is the job's id."""
WORKLOAD = ("cluster", *OWNED)
TEAM = ("cluster", "team", "namespace", "queue", "model")
"""A team's share; ``model`` is the GPU model, as GPUs of different models are not worth the same."""

POD_INFO = info("pod:info:union", *POD, meaning="A pod that runs or waits, and what it belongs to.")
POD_PHASE = gauge("pod:phase:bool", *POD, "phase", meaning="1 for the phase of the pod.")
POD_RESTARTS = gauge("pod:restarts:union", *POD, "container", meaning="Restarts of a container since its pod began.")
POD_EXIT = info("pod:last_exit:union", *POD, "container", "reason", "exit_code", meaning="How a container last ended.")
POD_WAITING = info("pod:waiting:union", *POD, "container", "reason", meaning="Why a container does not run.")
POD_TIME = gauge(
    "pod:timestamp_seconds:union",
    *POD,
    "event",
    unit=Unit.SECONDS,
    meaning="When a pod was created, scheduled and ready, in Unix time.",
)
POD_OOM = gauge("pod:oom_kills:increase1h", *POD, meaning="Processes killed for memory within the last hour.")
POD_CPU = gauge("pod:cpu_used:rate5m", *POD, meaning="CPUs at work.")
POD_CPU_REQUEST = gauge("pod:cpu_requested:sum", *POD, meaning="CPUs requested.")
POD_CPU_LIMIT = gauge("pod:cpu_limit:sum", *POD, meaning="CPUs allowed.")
POD_CPU_THROTTLED = gauge(
    "pod:cpu_throttled:ratio_rate5m", *POD, unit=Unit.RATIO, meaning="Share of CPU periods that were cut short."
)
POD_MEMORY = gauge("pod:memory_used_bytes:sum", *POD, unit=Unit.BYTES, meaning="Working set.")
POD_MEMORY_REQUEST = gauge("pod:memory_requested_bytes:sum", *POD, unit=Unit.BYTES, meaning="Memory requested.")
POD_MEMORY_LIMIT = gauge("pod:memory_limit_bytes:sum", *POD, unit=Unit.BYTES, meaning="Memory allowed.")
POD_NETWORK = gauge(
    "pod:network_bytes:rate5m", *POD, "direction", unit=Unit.BYTES_PER_SECOND, meaning="Traffic, tx and rx."
)

POD_GPU_REQUEST = gauge(
    "pod:gpus_requested:sum",
    *POD,
    "resource",
    meaning="GPUs or MIG instances that a pod asked for, by resource with underscores for dots and slashes.",
)
POD_GPU_SHARE = gauge(
    "pod:gpu_share:ratio",
    *POD,
    "gpu",
    "uuid",
    unit=Unit.RATIO,
    meaning="What a pod or job holds of a whole GPU: 1, or an even part of a shared one, which is an estimate.",
)
POD_MIG_SHARE = gauge(
    "pod:mig_share:ratio",
    *POD,
    "gpu",
    "uuid",
    "gi",
    "profile",
    unit=Unit.RATIO,
    meaning="What a pod or job holds of a GPU by a MIG instance: its slices of the GPU's, evenly where it is shared.",
)
POD_GPUS = gauge(
    "pod:gpus:count", *POD, meaning="GPUs that a pod holds; of MIG instances the share of a GPU by slices."
)
POD_COMPUTE_ACTIVE = gauge(
    "pod:compute_active:sum",
    *POD,
    unit=Unit.RATIO,
    meaning="Compute activity of its GPUs, each weighted with what it holds of it: over POD_GPUS it is the mean.",
)
POD_SM_ACTIVE = gauge("pod:sm_active:sum", *POD, unit=Unit.RATIO, meaning="SM activity, weighted alike.")
POD_OCCUPANCY = gauge("pod:sm_occupancy:sum", *POD, unit=Unit.RATIO, meaning="SM occupancy, weighted alike.")
POD_TENSOR_ACTIVE = gauge("pod:tensor_active:sum", *POD, unit=Unit.RATIO, meaning="Tensor activity, weighted alike.")
POD_DRAM_ACTIVE = gauge(
    "pod:memory_bandwidth_active:sum", *POD, unit=Unit.RATIO, meaning="Memory activity, weighted alike."
)
POD_GPU_MEMORY_USED = gauge("pod:gpu_memory_used_bytes:sum", *POD, unit=Unit.BYTES, meaning="GPU memory in use.")
POD_GPU_MEMORY_TOTAL = gauge(
    "pod:gpu_memory_total_bytes:sum", *POD, unit=Unit.BYTES, meaning="GPU memory that it holds."
)
POD_POWER = gauge("pod:gpu_power_watts:sum", *POD, unit=Unit.WATTS, meaning="Power of its GPUs.")

WORKLOAD_INFO = info("workload:info:union", *WORKLOAD, meaning="A workload that has pods, or holds GPUs.")
WORKLOAD_PODS = gauge("workload:pods:count", *WORKLOAD, "phase", meaning="Pods by phase.")
WORKLOAD_GPUS = gauge(
    "workload:gpus:count", *WORKLOAD, "state", meaning="GPUs that it holds: allocated, and of these idle."
)
WORKLOAD_GPUS_BY_MODEL = gauge(
    "workload:gpus_by_model:count",
    *WORKLOAD,
    "model",
    "state",
    meaning="The same by the model of the GPU: models have different prices.",
)
WORKLOAD_COMPUTE_ACTIVE = gauge("workload:compute_active:sum", *WORKLOAD, unit=Unit.RATIO, meaning="As of the pods.")
WORKLOAD_SM_ACTIVE = gauge("workload:sm_active:sum", *WORKLOAD, unit=Unit.RATIO, meaning="As of the pods.")
WORKLOAD_TENSOR_ACTIVE = gauge("workload:tensor_active:sum", *WORKLOAD, unit=Unit.RATIO, meaning="As of the pods.")
WORKLOAD_GPU_MEMORY_USED = gauge(
    "workload:gpu_memory_used_bytes:sum", *WORKLOAD, unit=Unit.BYTES, meaning="GPU memory in use."
)
WORKLOAD_GPU_MEMORY_TOTAL = gauge(
    "workload:gpu_memory_total_bytes:sum", *WORKLOAD, unit=Unit.BYTES, meaning="GPU memory that it holds."
)
WORKLOAD_POWER = gauge("workload:gpu_power_watts:sum", *WORKLOAD, unit=Unit.WATTS, meaning="Power of its GPUs.")
WORKLOAD_CPU = gauge("workload:cpu_used:sum", *WORKLOAD, meaning="CPUs at work.")
WORKLOAD_MEMORY = gauge("workload:memory_used_bytes:sum", *WORKLOAD, unit=Unit.BYTES, meaning="Working set.")
WORKLOAD_BUSY = gauge(
    "workload:compute_active:ratio_avg1h",
    *WORKLOAD,
    unit=Unit.RATIO,
    meaning="Mean compute activity of its GPUs over the last hour.",
)
WORKLOAD_MEMORY_HELD = gauge(
    "workload:gpu_memory_used:ratio_avg1h",
    *WORKLOAD,
    unit=Unit.RATIO,
    meaning="Mean share of its GPU memory in use over the last hour.",
)
WORKLOAD_CLASS = info(
    "workload:utilization_class:union",
    *WORKLOAD,
    "class",
    meaning="How it uses its GPUs: saturated, resident_idle, memory_bound, compute_bound_small, underused, allocated_idle, allocated_unused.",
)

JOB_CLOCK = gauge(
    "workload:busy_clock_hertz:median5m",
    "cluster",
    "namespace",
    "workload",
    "team",
    "model",
    unit=Unit.HERTZ,
    meaning="Median SM clock of the GPUs of a workload that work, of four and more of one model.",
)

TEAM_GPUS = gauge("team:gpus:count", *TEAM, "state", meaning="GPUs that a team holds: allocated, and of these idle.")
TEAM_COMPUTE_ACTIVE = gauge("team:compute_active:sum", *TEAM, unit=Unit.RATIO, meaning="As of the pods.")
TEAM_POWER = gauge("team:gpu_power_watts:sum", *TEAM, unit=Unit.WATTS, meaning="Power of its GPUs.")

"""One series a cluster: what an overview of 10,000 GPUs reads."""

from gpuscope.catalogue.metric import Unit
from gpuscope_generator.promql import gauge, info

__all__ = [
    "ACTIVITY",
    "CLUSTER",
    "CPUS",
    "DISK",
    "ECC_ERRORS_HOURLY",
    "GPUS",
    "GPU_MEMORY",
    "HOTTEST",
    "INFO",
    "MEMORY",
    "NETWORK",
    "NODES",
    "POWER",
    "POWER_LIMIT",
    "QUANTILE",
    "SHARE",
    "THROTTLED",
    "WORK",
    "XID_ERRORS_DAILY",
    "XID_ERRORS_HOURLY",
]

CLUSTER = ("cluster",)

INFO = info("cluster:info:union", "cluster", meaning="A cluster that has any GPU; the variable of all boards reads it.")
NODES = gauge("cluster:nodes:count", "cluster", "state", meaning="Nodes: total, ready, cordoned, not_ready, unknown.")
GPUS = gauge(
    "cluster:gpus:count",
    "cluster",
    "model",
    "state",
    meaning="GPUs by model: expected (installed, or known to the scheduler), present, healthy, allocatable "
    "(healthy, on a node that takes work), allocated, allocated_present (allocated, and present), idle, and missing "
    "(expected, not present). "
    "A node that never told its model has the model unknown.",
)
ACTIVITY = gauge(
    "cluster:activity:ratio",
    "cluster",
    "what",
    unit=Unit.RATIO,
    meaning="Mean activity of the GPUs that report it: compute, sm, tensor, memory_bandwidth.",
)
SHARE = gauge(
    "cluster:gpus_by_activity:count",
    "cluster",
    "le",
    meaning="GPUs whose compute activity is at most the bound, in tenths: the rows of a heat map.",
)
GPU_MEMORY = gauge(
    "cluster:gpu_memory_bytes:sum", "cluster", "state", unit=Unit.BYTES, meaning="GPU memory: total, used."
)
POWER = gauge("cluster:gpu_power_watts:sum", "cluster", unit=Unit.WATTS, meaning="Power of all GPUs.")
HOTTEST = gauge(
    "cluster:gpu_temperature_headroom_celsius:min",
    "cluster",
    unit=Unit.CELSIUS,
    meaning="GPU nearest to its slowdown temperature.",
)
THROTTLED = gauge(
    "cluster:gpus_throttled:count",
    "cluster",
    "reason",
    meaning="GPUs whose clocks were held down for a tenth of the last five minutes or more.",
)
XID_ERRORS_HOURLY = gauge(
    "cluster:xid_errors:increase1h", "cluster", "xid", meaning="XID errors of the last hour by code."
)
XID_ERRORS_DAILY = gauge(
    "cluster:xid_errors:increase1d",
    "cluster",
    "xid",
    meaning="XID errors of 24 hours by code, rounded up; made of the counts of an hour.",
)
ECC_ERRORS_HOURLY = gauge(
    "cluster:ecc_errors:increase1h",
    "cluster",
    "severity",
    meaning="ECC errors of the last hour: corrected, uncorrected.",
)
WORK = gauge(
    "cluster:gpu_activity:sum",
    "cluster",
    "what",
    meaning="Activity of all GPUs added up, as so many whole GPUs: compute, sm, tensor, memory_bandwidth.",
)
QUANTILE = gauge(
    "cluster:compute_active:quantile",
    "cluster",
    "quantile",
    unit=Unit.RATIO,
    meaning="Quantiles (0.1, 0.5, 0.95) of compute activity over the GPUs that somebody holds; over all GPUs where "
    "nobody tells who holds them.",
)
POWER_LIMIT = gauge(
    "cluster:gpu_power_limit_watts:sum", "cluster", unit=Unit.WATTS, meaning="Power limits of all GPUs."
)
CPUS = gauge("cluster:cpus:count", "cluster", "state", meaning="Logical CPUs of all nodes: total, used.")
MEMORY = gauge(
    "cluster:memory_bytes:sum", "cluster", "state", unit=Unit.BYTES, meaning="Memory of all nodes: total, used."
)
DISK = gauge("cluster:disk_bytes:sum", "cluster", "state", unit=Unit.BYTES, meaning="Local disks: total, used.")
NETWORK = gauge(
    "cluster:network_bytes:rate5m",
    "cluster",
    "fabric",
    "direction",
    unit=Unit.BYTES_PER_SECOND,
    meaning="Traffic of all nodes over ethernet, infiniband or efa, tx and rx.",
)

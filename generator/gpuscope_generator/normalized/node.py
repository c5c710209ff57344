"""One series a node. Sums come with the count of what they are over; the share is computed last."""

from gpuscope.catalogue.metric import Unit
from gpuscope_generator.promql import gauge, info

__all__ = [
    "COMPUTE_ACTIVE",
    "COMPUTE_COUNT",
    "CORDONED",
    "COUNTED_MODEL",
    "CPUS",
    "CPU_USED",
    "DISK_TOTAL",
    "DISK_USED",
    "DRAM_ACTIVE",
    "DRAM_COUNT",
    "GPUS",
    "GPU_FACTS",
    "HEADROOM",
    "INFO",
    "INSTANCE",
    "LOAD",
    "MAINTENANCE",
    "MEMORY_TOTAL",
    "MEMORY_USED",
    "NETWORK_BYTES",
    "NETWORK_ERRORS",
    "NODE",
    "POWER",
    "POWER_LIMIT",
    "PRESSURE",
    "RACK",
    "READY",
    "REASON",
    "SM_ACTIVE",
    "SM_COUNT",
    "STATE",
    "SYSTEM_MEMORY_TOTAL",
    "SYSTEM_MEMORY_USED",
    "TEMPERATURE",
    "TENSOR_ACTIVE",
    "TENSOR_COUNT",
    "THERMAL_SLOWDOWN",
    "THROTTLED",
    "UPTIME",
    "XID_ERRORS_HOURLY",
]

NODE = ("cluster", "node")

INFO = info("node:info:union", *NODE, "pool", "instance_type", meaning="A node that some source reports.")
INSTANCE = info(
    "node:instance:union",
    *NODE,
    "instance",
    meaning="The node of a scrape target of node-exporter, whose address may be a number.",
)
GPU_FACTS = info("node:gpu_model:union", *NODE, "vendor", "model", meaning="A GPU model that a node has.")
COUNTED_MODEL = info(
    "node:counted_model:union",
    *NODE,
    "model",
    meaning="The GPU model under which a node counts, mixed where it has several; remembered for a day.",
)
READY = gauge("node:ready:bool", *NODE, meaning="1 while the scheduler would give it work, cordoning set aside.")
CORDONED = gauge("node:cordoned:bool", *NODE, meaning="1 while somebody keeps new work away from it.")
STATE = gauge(
    "node:state:bool",
    *NODE,
    "state",
    meaning="1 for the one state of the node: ready, cordoned, not_ready, unknown.",
)
MAINTENANCE = gauge(
    "node:maintenance:bool",
    *NODE,
    meaning="1 while the node is under planned maintenance: a taint that says so, or Slurm's state. Cordoning alone is not.",
)
RACK = info("node:rack:union", *NODE, "rack", meaning="The rack that a node stands in, where somebody tells.")
REASON = info("node:reason:union", *NODE, "reason", meaning="Why a node takes no work, in the words of its scheduler.")

GPUS = gauge(
    "node:gpus:count",
    *NODE,
    "state",
    meaning="GPUs of a node: installed (as its agent knows), expected and allocatable (as its scheduler knows), present "
    "(answering), missing (installed or expected, not present), healthy, broken (missing, or present and not healthy), "
    "scheduled (given out, as the scheduler knows), allocated (a fraction with MIG), idle (allocated, without work).",
)
COMPUTE_ACTIVE = gauge("node:compute_active:sum", *NODE, unit=Unit.RATIO, meaning="Sum over GPUs of compute activity.")
COMPUTE_COUNT = gauge("node:compute_active:count", *NODE, meaning="GPUs in that sum.")
SM_ACTIVE = gauge("node:sm_active:sum", *NODE, unit=Unit.RATIO, meaning="Sum over GPUs of SM activity.")
SM_COUNT = gauge("node:sm_active:count", *NODE, meaning="GPUs in that sum.")
TENSOR_ACTIVE = gauge("node:tensor_active:sum", *NODE, unit=Unit.RATIO, meaning="Sum over GPUs of tensor activity.")
TENSOR_COUNT = gauge("node:tensor_active:count", *NODE, meaning="GPUs in that sum.")
DRAM_ACTIVE = gauge(
    "node:memory_bandwidth_active:sum", *NODE, unit=Unit.RATIO, meaning="Sum over GPUs of memory activity."
)
DRAM_COUNT = gauge("node:memory_bandwidth_active:count", *NODE, meaning="GPUs in that sum.")
MEMORY_USED = gauge("node:gpu_memory_used_bytes:sum", *NODE, unit=Unit.BYTES, meaning="GPU memory in use.")
MEMORY_TOTAL = gauge("node:gpu_memory_total_bytes:sum", *NODE, unit=Unit.BYTES, meaning="GPU memory.")
POWER = gauge("node:gpu_power_watts:sum", *NODE, unit=Unit.WATTS, meaning="Power of all GPUs.")
POWER_LIMIT = gauge("node:gpu_power_limit_watts:sum", *NODE, unit=Unit.WATTS, meaning="Power limits of all GPUs.")
TEMPERATURE = gauge("node:gpu_temperature_celsius:max", *NODE, unit=Unit.CELSIUS, meaning="Hottest GPU.")
HEADROOM = gauge(
    "node:gpu_temperature_headroom_celsius:min",
    *NODE,
    unit=Unit.CELSIUS,
    meaning="GPU nearest to its slowdown temperature.",
)
THROTTLED = gauge(
    "node:gpus_throttled:count",
    *NODE,
    "reason",
    meaning="GPUs whose clocks were held down for a tenth of the last five minutes or more.",
)
THERMAL_SLOWDOWN = gauge(
    "node:gpus_thermal_slowdown:count",
    *NODE,
    meaning="GPUs that heat holds down for more than half of ten minutes, or that are at their slowdown temperature.",
)
XID_ERRORS_HOURLY = gauge("node:xid_errors:increase1h", *NODE, "xid", meaning="XID errors of the last hour by code.")

CPUS = gauge("node:cpus:count", *NODE, meaning="Logical CPUs.")
CPU_USED = gauge("node:cpu_used:rate5m", *NODE, meaning="CPUs at work.")
LOAD = gauge("node:load1:union", *NODE, meaning="Load average over one minute.")
SYSTEM_MEMORY_USED = gauge(
    "node:memory_used_bytes:union", *NODE, unit=Unit.BYTES, meaning="Memory that is not available."
)
SYSTEM_MEMORY_TOTAL = gauge("node:memory_total_bytes:union", *NODE, unit=Unit.BYTES, meaning="Memory.")
PRESSURE = gauge(
    "node:pressure:ratio_rate5m",
    *NODE,
    "resource",
    unit=Unit.RATIO,
    meaning="Share of time in which some task waited for cpu, memory or io (PSI).",
)
DISK_USED = gauge("node:disk_used_bytes:union", *NODE, "mountpoint", unit=Unit.BYTES, meaning="Local disk in use.")
DISK_TOTAL = gauge("node:disk_total_bytes:union", *NODE, "mountpoint", unit=Unit.BYTES, meaning="Local disk.")
NETWORK_BYTES = gauge(
    "node:network_bytes:rate5m",
    *NODE,
    "fabric",
    "direction",
    unit=Unit.BYTES_PER_SECOND,
    meaning="Traffic over ethernet, infiniband or efa, tx and rx.",
)
NETWORK_ERRORS = gauge(
    "node:network_errors:rate5m", *NODE, "fabric", "type", meaning="Errors, drops and retransmissions a second."
)
UPTIME = gauge("node:uptime_seconds:union", *NODE, unit=Unit.SECONDS, meaning="Time since boot.")

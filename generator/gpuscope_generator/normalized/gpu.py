"""One series a GPU. Pods and jobs are in ``OWNER`` only: a change of owner must not begin a new line."""

from gpuscope.catalogue.metric import Unit
from gpuscope.catalogue.xid_table import WITNESS
from gpuscope_generator.promql import counter, gauge, info

__all__ = [
    "ALLOCATED",
    "CLOCK",
    "COMPUTE_ACTIVE",
    "COMPUTE_SOURCE",
    "DRAM_ACTIVE",
    "ECC_ERRORS",
    "ENERGY",
    "FAULT",
    "GPU",
    "HEADROOM",
    "HEALTHY",
    "IDLE",
    "INFO",
    "MEMORY_TEMPERATURE",
    "MEMORY_TOTAL",
    "MEMORY_USED",
    "MIG_MODE",
    "NVLINK_BYTES",
    "NVLINK_ERRORS",
    "NVLINK_LINKS",
    "OCCUPANCY",
    "OWNER",
    "PCIE_BYTES",
    "PCIE_REPLAYS",
    "POWER",
    "POWER_LIMIT",
    "RECOVERY_ACTION",
    "REMAPPED_ROWS",
    "REMAPPING_FAILED",
    "REMAPPING_PENDING",
    "SERIAL",
    "SM_ACTIVE",
    "TEMPERATURE",
    "TENSOR_ACTIVE",
    "THROTTLED",
    "UP",
    "XID_ERRORS",
    "XID_ERRORS_HOURLY",
    "XID_WITNESS",
]

GPU = ("cluster", "node", "gpu", "uuid")
"""What identifies a GPU: ``gpu`` is its index on the node, ``uuid`` is the driver's."""

INFO = info("gpu:info:union", *GPU, "vendor", "model", meaning="A GPU that some source reports.")
SERIAL = info(
    "gpu:serial:union", *GPU, "serial", meaning="What is printed on the board: for a technician, and for an RMA."
)
UP = gauge("gpu:up:bool", *GPU, meaning="1 while the GPU answers; 0 while it is lost or its driver call hangs.")
HEALTHY = gauge(
    "gpu:healthy:bool",
    *GPU,
    meaning="1 while it answers and asks for no reset, remapping or repair; 0 while it does not.",
)
FAULT = gauge(
    "gpu:fault:bool",
    *GPU,
    "fault",
    meaning="1 while its source calls the GPU broken: memory_unrepairable, or health_check of AMD's exporter.",
)
MIG_MODE = gauge("gpu:mig_mode:bool", *GPU, meaning="1 while the GPU is split into MIG instances.")

COMPUTE_ACTIVE = gauge(
    "gpu:compute_active:ratio_union",
    *GPU,
    unit=Unit.RATIO,
    meaning="Share of time in which the compute engine worked; of a GPU in MIG mode weighted by the slices of its instances.",
)
COMPUTE_SOURCE = info(
    "gpu:compute_active_source:union",
    *GPU,
    "source",
    "method",
    meaning="What compute activity was measured with: engine, utilization (any kernel ran), or mig.",
)
SM_ACTIVE = gauge(
    "gpu:sm_active:ratio_union", *GPU, unit=Unit.RATIO, meaning="Share of time and of SMs with at least one warp."
)
OCCUPANCY = gauge(
    "gpu:sm_occupancy:ratio_union", *GPU, unit=Unit.RATIO, meaning="Resident warps over the largest possible number."
)
TENSOR_ACTIVE = gauge(
    "gpu:tensor_active:ratio_union", *GPU, unit=Unit.RATIO, meaning="Share of cycles in which tensor cores worked."
)
DRAM_ACTIVE = gauge(
    "gpu:memory_bandwidth_active:ratio_union",
    *GPU,
    unit=Unit.RATIO,
    meaning="Share of cycles in which the memory moved data.",
)

MEMORY_USED = gauge(
    "gpu:memory_used_bytes:union", *GPU, unit=Unit.BYTES, meaning="Memory in use, without what the driver reserves."
)
MEMORY_TOTAL = gauge(
    "gpu:memory_total_bytes:union", *GPU, unit=Unit.BYTES, meaning="Memory that work could use: total without reserved."
)

POWER = gauge("gpu:power_watts:union", *GPU, unit=Unit.WATTS, meaning="Power drawn.")
POWER_LIMIT = gauge("gpu:power_limit_watts:union", *GPU, unit=Unit.WATTS, meaning="Enforced power limit.")
ENERGY = counter(
    "gpu:energy_joules_total:union", *GPU, unit=Unit.JOULES, meaning="Energy used since the driver loaded."
)
TEMPERATURE = gauge("gpu:temperature_celsius:union", *GPU, unit=Unit.CELSIUS, meaning="Temperature of the GPU core.")
MEMORY_TEMPERATURE = gauge(
    "gpu:memory_temperature_celsius:union", *GPU, unit=Unit.CELSIUS, meaning="Temperature of the memory."
)
HEADROOM = gauge(
    "gpu:temperature_headroom_celsius:union",
    *GPU,
    unit=Unit.CELSIUS,
    meaning="Degrees below the temperature at which the hardware slows down.",
)
CLOCK = gauge("gpu:sm_clock_hertz:union", *GPU, unit=Unit.HERTZ, meaning="SM clock.")
THROTTLED = gauge(
    "gpu:throttled:ratio_rate5m",
    *GPU,
    "reason",
    unit=Unit.RATIO,
    meaning="Share of the last five minutes in which clocks were held down, by reason; idleness and settings are none.",
)

XID_WITNESS = str(WITNESS)
"""A code that the agent always counts from 0 on: where it was there, the agent was, and told of this GPU."""
XID_ERRORS = counter(
    "gpu:xid_errors_total:union",
    *GPU,
    "xid",
    meaning="XID errors by code. dcgm-exporter publishes no counter: from it there is only gpu:xid_errors:increase1h.",
)
XID_ERRORS_HOURLY = gauge(
    "gpu:xid_errors:increase1h",
    *GPU,
    "xid",
    meaning="XID errors of the last hour by code, of codes that happened, and of 79; a lower bound from dcgm-exporter.",
)
ECC_ERRORS = counter(
    "gpu:ecc_errors_total:union", *GPU, "severity", meaning="ECC errors since the last reset: corrected, uncorrected."
)
REMAPPED_ROWS = gauge("gpu:remapped_rows:union", *GPU, "cause", meaning="Remapped memory rows by cause.")
REMAPPING_PENDING = gauge("gpu:row_remapping_pending:bool", *GPU, meaning="1 while a remapping waits for a reset.")
REMAPPING_FAILED = gauge("gpu:row_remapping_failed:bool", *GPU, meaning="1 once a remapping failed: replace the GPU.")
RECOVERY_ACTION = gauge(
    "gpu:recovery_action:bool",
    *GPU,
    "action",
    meaning="1 for the action that the driver asks for: none, gpu_reset, node_reboot, drain_p2p, "
    "drain_and_reset, recover_imex, bus_reset, system_reboot.",
)

PCIE_BYTES = gauge(
    "gpu:pcie_bytes:rate5m", *GPU, "direction", unit=Unit.BYTES_PER_SECOND, meaning="PCIe traffic, tx and rx."
)
PCIE_REPLAYS = counter("gpu:pcie_replays_total:union", *GPU, meaning="PCIe packets sent again.")
NVLINK_BYTES = gauge(
    "gpu:nvlink_bytes:rate5m", *GPU, "direction", unit=Unit.BYTES_PER_SECOND, meaning="NVLink traffic, tx and rx."
)
NVLINK_LINKS = gauge("gpu:nvlink_links:union", *GPU, "state", meaning="NVLink links by state: up, down.")
NVLINK_ERRORS = counter("gpu:nvlink_errors_total:union", *GPU, "type", meaning="NVLink errors by type.")

ALLOCATED = gauge(
    "gpu:allocated:ratio_union",
    *GPU,
    unit=Unit.RATIO,
    meaning="1 while a pod or job holds the GPU; with MIG the share of its slices that are held; 0 while it is free.",
)
IDLE = gauge("gpu:idle:bool", *GPU, meaning="1 while it is held and its activity is below the threshold for idleness.")
OWNER = info(
    "gpu:owner:union",
    *GPU,
    "namespace",
    "pod",
    "workload_kind",
    "workload",
    "job_id",
    "team",
    "queue",
    meaning="Who holds the GPU, or a part of it; several where it is shared.",
)

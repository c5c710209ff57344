"""One series a MIG instance. Sums over GPUs never include these: the names differ."""

from gpuscope.catalogue.metric import Unit
from gpuscope_generator.normalized.gpu import GPU
from gpuscope_generator.promql import gauge, info

__all__ = [
    "ALLOCATED",
    "COMPUTE_ACTIVE",
    "DRAM_ACTIVE",
    "INFO",
    "MEMORY_TOTAL",
    "MEMORY_USED",
    "MIG",
    "OCCUPANCY",
    "OWNER",
    "SLICES",
    "SM_ACTIVE",
    "TENSOR_ACTIVE",
]

MIG = (*GPU, "gi", "profile")
"""What identifies an instance. Its UUID is in ``INFO`` only: dcgm-exporter does not know it."""

INFO = info("mig:info:union", *MIG, "mig_uuid", "model", meaning="A MIG instance that some source reports.")
SLICES = gauge("mig:slices:count", *MIG, meaning="Compute slices of the instance, of the GPU's seven.")
COMPUTE_ACTIVE = gauge(
    "mig:compute_active:ratio_union", *MIG, unit=Unit.RATIO, meaning="Share of time in which its compute engine worked."
)
SM_ACTIVE = gauge(
    "mig:sm_active:ratio_union", *MIG, unit=Unit.RATIO, meaning="Share of time and of its SMs with at least one warp."
)
OCCUPANCY = gauge(
    "mig:sm_occupancy:ratio_union", *MIG, unit=Unit.RATIO, meaning="Resident warps over the largest possible number."
)
TENSOR_ACTIVE = gauge(
    "mig:tensor_active:ratio_union", *MIG, unit=Unit.RATIO, meaning="Share of cycles in which its tensor cores worked."
)
DRAM_ACTIVE = gauge(
    "mig:memory_bandwidth_active:ratio_union",
    *MIG,
    unit=Unit.RATIO,
    meaning="Share of cycles in which its memory moved data.",
)
MEMORY_USED = gauge("mig:memory_used_bytes:union", *MIG, unit=Unit.BYTES, meaning="Memory in use.")
MEMORY_TOTAL = gauge("mig:memory_total_bytes:union", *MIG, unit=Unit.BYTES, meaning="Memory of the instance.")
ALLOCATED = gauge("mig:allocated:bool", *MIG, meaning="1 while a pod or job holds the instance, 0 while it is free.")
OWNER = info(
    "mig:owner:union",
    *MIG,
    "namespace",
    "pod",
    "workload_kind",
    "workload",
    "job_id",
    "team",
    "queue",
    meaning="Who holds the instance.",
)

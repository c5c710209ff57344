"""AMD device-metrics-exporter 1.4 to 1.5 (2026-09), names without the prefix that its settings may add.

All its metrics are typed as gauges, those that only rise too. ``gpu_uuid`` is optional, so a GPU is known by its serial
number, which every partition of it carries; ``gpu_id`` counts partitions. A GPU that is not split has the partition
``NA`` or ``0``. What is known of the GPU as a whole is told by partition 0 alone; the others give nothing, or 0.
"""

from __future__ import annotations

from gpuscope_generator.promql import Counter, Gauge, counter, gauge

__all__ = [
    "CLOCK",
    "EDGE_TEMPERATURE",
    "ENERGY",
    "ERRORS_CORRECTED",
    "ERRORS_UNCORRECTED",
    "EXPORTER",
    "GFX_ACTIVITY",
    "GFX_BUSY",
    "HEALTH",
    "JUNCTION_TEMPERATURE",
    "MEMORY_ACTIVITY",
    "MEMORY_TEMPERATURE",
    "OCCUPANCY",
    "PCIE_REPLAYS",
    "POWERS",
    "SM_ACTIVE",
    "TENSOR_ACTIVE",
    "VIOLATIONS",
    "VRAM_TOTAL",
    "VRAM_USED",
]

EXPORTER = "device-metrics-exporter"
_LABELS = (
    "gpu_id", "gpu_uuid", "serial_number", "card_model", "card_series", "hostname", "gpu_partition_id",
    "gpu_compute_partition_type", "gpu_memory_partition_type", "pod", "namespace", "container", "exported_pod",
    "exported_namespace", "exported_container", "job_id", "exported_job_id", "job_user", "job_partition",
)  # fmt: skip


def _level(name: str, *more: str) -> Gauge:
    return gauge(name, *_LABELS, *more, source=EXPORTER)


def _total(name: str) -> Counter:
    return counter(name, *_LABELS, source=EXPORTER)


GFX_ACTIVITY = _level("gpu_gfx_activity")
GFX_BUSY = _level("gpu_gfx_busy_instantaneous", "xcc_index")
"""Percent by compute core, also of partitions. MI300 and newer; there ``gpu_gfx_activity`` knows no partition."""
MEMORY_ACTIVITY = _level("gpu_umc_activity")
SM_ACTIVE = _level("gpu_prof_sm_active")
OCCUPANCY = _level("gpu_prof_occupancy_percent")
TENSOR_ACTIVE = _level("gpu_prof_tensor_active_percent")
VRAM_TOTAL = _level("gpu_total_vram")
"""In MiB, although the exporter says MB: an MI300X has 196,592 of them, and 192 GiB."""
VRAM_USED = _level("gpu_used_vram")
POWERS = (_level("gpu_package_power"), _level("gpu_average_package_power"), _level("gpu_power_usage"))
ENERGY = _total("gpu_energy_consumed")
JUNCTION_TEMPERATURE = _level("gpu_junction_temperature")
EDGE_TEMPERATURE = _level("gpu_edge_temperature")
MEMORY_TEMPERATURE = _level("gpu_memory_temperature")
CLOCK = _level("gpu_clock", "clock_type", "clock_index")
HEALTH = _level("gpu_health")
ERRORS_CORRECTED = _total("gpu_ecc_correct_total")
ERRORS_UNCORRECTED = _total("gpu_ecc_uncorrect_total")
PCIE_REPLAYS = _total("pcie_replay_count")
VIOLATIONS = {
    "sw_power_cap": (_level("gpu_violation_ppt_residency_percentage"),),
    "hw_thermal": (
        _level("gpu_violation_socket_thermal_residency_percentage"),
        _level("gpu_violation_hbm_thermal_residency_percentage"),
        _level("gpu_violation_vr_thermal_residency_percentage"),
        _level("gpu_violation_processor_hot_residency_percentage"),
    ),
}
"""Percent of time in which clocks were held down, by our reason; several of AMD's reasons are one of ours."""

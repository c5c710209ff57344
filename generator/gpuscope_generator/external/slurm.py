"""Slurm: its own metrics of 25.11 to 26.05, and exporters. All are gauges, those that are called ``_total`` too."""

from __future__ import annotations

from gpuscope_generator.promql import Gauge, gauge

__all__ = [
    "PARTITION_GPUS",
    "PARTITION_GPUS_HELD",
    "PARTITION_PENDING",
    "PARTITION_RUNNING",
    "PARTITION_WAITING",
    "RIVOSINC_JOBS",
    "SLINKY_PENDING",
    "SLINKY_RUNNING",
    "SOPERATOR_JOBS",
    "SOPERATOR_NODES",
    "VPENSO_GPUS",
    "VPENSO_NODES",
    "VPENSO_PENDING",
    "VPENSO_RUNNING",
    "VPENSO_WAITING",
]


def _of_partition(name: str) -> Gauge:
    return gauge(f"slurm_partition_{name}", "partition", source="slurm")


PARTITION_PENDING = _of_partition("jobs_pending")
PARTITION_RUNNING = _of_partition("jobs_running")
PARTITION_WAITING = {
    "held": _of_partition("jobs_hold"),
    "partition_node_limit": _of_partition("jobs_wait_part_node_limit"),
    "powering_up": _of_partition("jobs_powerup_node"),
}
"""Pending jobs by why, as far as Slurm's own metrics tell."""
PARTITION_GPUS = _of_partition("gpus")
PARTITION_GPUS_HELD = _of_partition("jobs_gpus_alloc")

SLINKY_PENDING = gauge("slurm_partition_jobs_pending_total", "partition", source="slurm")
SLINKY_RUNNING = gauge("slurm_partition_jobs_running_total", "partition", source="slurm")

SOPERATOR_JOBS = gauge("slurm_job_info", "job_id", "slurm_partition", "job_state", "job_state_reason", source="slurm")
SOPERATOR_NODES = gauge(
    "slurm_node_info", "node_name", "state_base", "state_is_drain", "state_is_maintenance", source="slurm"
)

RIVOSINC_JOBS = gauge("slurm_partition_job_state_total", "partition", "state", source="slurm")

VPENSO_PENDING = gauge("slurm_queue_pending", source="slurm")
VPENSO_RUNNING = gauge("slurm_queue_running", source="slurm")
VPENSO_WAITING = {"dependency": gauge("slurm_queue_pending_dependency", source="slurm")}
VPENSO_GPUS = {
    "nominal": gauge("slurm_gpus_total", source="slurm"),
    "used": gauge("slurm_gpus_alloc", source="slurm"),
}
VPENSO_NODES = gauge("slurm_node_cpu_total", "node", "exported_node", "status", source="slurm")
"""CPUs of a node; ``status`` is the long state of ``sinfo``, such as ``mixed`` or ``maint``."""

"""NCCL's inspector plug-in (NCCL 2.28.3 and newer) with ``NCCL_INSPECTOR_PROM_DUMP=1``, through text files."""

from __future__ import annotations

from gpuscope_generator.promql import gauge

__all__ = ["BUS_BANDWIDTH", "EXEC_TIME"]

_OPERATION = (
    "slurm_job_id", "gpu", "comm_name", "n_nodes", "nranks", "collective", "message_size", "algo_proto",
)  # fmt: skip
BUS_BANDWIDTH = gauge("nccl_bus_bandwidth_gbs", *_OPERATION, meaning="In 10^9 bytes a second.", source="nccl")
EXEC_TIME = gauge("nccl_collective_exec_time_microseconds", *_OPERATION, source="nccl")

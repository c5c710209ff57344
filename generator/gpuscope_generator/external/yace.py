"""YACE, the exporter of CloudWatch, for the name space AWS/FSx, as of 0.61: FSx for Lustre.

Every series is a gauge over one period of CloudWatch: a sum is of the period, and never rises for ever. Which labels
a metric has follows from its dimensions: ``FileSystemId`` alone, or with ``FileServer`` or ``StorageTargetId``.
Metrics of FSx for Windows or ONTAP (memory, deduplication) do not exist for Lustre, and are not here.
"""

from __future__ import annotations

from gpuscope.catalogue.metric import Unit
from gpuscope_generator.promql import Gauge, gauge

__all__ = [
    "BACKLOG",
    "BALANCE",
    "CACHE_HITS",
    "CONNECTIONS",
    "DISK_USE",
    "FILE_SERVER",
    "FILE_SYSTEM",
    "FREE",
    "IO",
    "LOGICAL",
    "METADATA",
    "PHYSICAL",
    "PUBLISHER",
    "SERVER_BYTES",
    "SERVER_USE",
    "STORAGE_TARGET",
    "TARGET_BYTES",
    "TARGET_IO",
    "TARGET_USED",
    "TRAFFIC",
]

FILE_SYSTEM = ("dimension_FileSystemId", "dimension_file_system_id")
"""The label as YACE writes it, and as it does with ``labelsSnakeCase``."""
FILE_SERVER = ("dimension_FileServer", "dimension_file_server")
STORAGE_TARGET = ("dimension_StorageTargetId", "dimension_storage_target_id")
PUBLISHER = ("dimension_Publisher", "dimension_publisher")
_LABELS = (*FILE_SYSTEM, *FILE_SERVER, *STORAGE_TARGET, *PUBLISHER, "name", "region", "account_id")


def _fsx(name: str, unit: Unit = Unit.NONE) -> Gauge:
    return gauge(f"aws_fsx_{name}", *_LABELS, unit=unit, source="yace")


TRAFFIC = {way: _fsx(f"data_{way}_bytes_sum", Unit.BYTES) for way in ("read", "write")}
IO = {way: _fsx(f"data_{way}_operations_sum") for way in ("read", "write")}
METADATA = _fsx("metadata_operations_sum")
FREE = _fsx("free_data_storage_capacity_sum", Unit.BYTES)
LOGICAL = _fsx("logical_disk_usage_sum", Unit.BYTES)
PHYSICAL = _fsx("physical_disk_usage_sum", Unit.BYTES)
CONNECTIONS = _fsx("client_connections_maximum")

SERVER_USE = {
    "cpu": _fsx("cpuutilization_average"),
    "network": _fsx("network_throughput_utilization_average"),
    "disk_throughput": _fsx("file_server_disk_throughput_utilization_average"),
    "disk_iops": _fsx("file_server_disk_iops_utilization_average"),
}
"""Percent, by file server."""
BALANCE = {
    "disk_throughput": _fsx("file_server_disk_throughput_balance_average"),
    "disk_iops": _fsx("file_server_disk_iops_balance_average"),
}
"""Percent, by file server."""
CACHE_HITS = _fsx("file_server_cache_hit_ratio_average")
"""Percent, by file server."""
SERVER_BYTES = {way: _fsx(f"network_{way}_bytes_sum", Unit.BYTES) for way in ("sent", "received")}

TARGET_BYTES = {way: _fsx(f"disk_{way}_bytes_sum", Unit.BYTES) for way in ("read", "write")}
TARGET_IO = {way: _fsx(f"disk_{way}_operations_sum") for way in ("read", "write")}
TARGET_USED = _fsx("storage_capacity_utilization_average")
"""Percent, by storage target."""
DISK_USE = _fsx("disk_iops_utilization_average")
"""Percent, by storage target."""
BACKLOG = _fsx("age_of_oldest_queued_message_maximum", Unit.SECONDS)

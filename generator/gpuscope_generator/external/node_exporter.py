"""node-exporter, as of 1.6 to 1.10, and the EFA exporter, which is a fork of it."""

from __future__ import annotations

from gpuscope.catalogue.metric import Unit
from gpuscope_generator.promql import Counter, counter, gauge, info

__all__ = [
    "BOOT_TIME",
    "CPU",
    "ERRORS",
    "FILESYSTEM_AVAILABLE",
    "FILESYSTEM_ERROR",
    "FILESYSTEM_FILES",
    "FILESYSTEM_FILES_FREE",
    "FILESYSTEM_FREE",
    "FILESYSTEM_READ_ONLY",
    "FILESYSTEM_SIZE",
    "LINE_RATES",
    "LOAD",
    "MEMORY_AVAILABLE",
    "MEMORY_TOTAL",
    "PRESSURE",
    "TRAFFIC",
    "UNAME",
]

_SOURCE = "node-exporter"
_MOUNT = ("device", "fstype", "mountpoint")

UNAME = info("node_uname_info", "nodename", "release", source=_SOURCE)
BOOT_TIME = gauge("node_boot_time_seconds", unit=Unit.SECONDS, source=_SOURCE)
CPU = counter("node_cpu_seconds_total", "cpu", "mode", unit=Unit.SECONDS, source=_SOURCE)
LOAD = gauge("node_load1", source=_SOURCE)
MEMORY_TOTAL = gauge("node_memory_MemTotal_bytes", unit=Unit.BYTES, source=_SOURCE)
MEMORY_AVAILABLE = gauge("node_memory_MemAvailable_bytes", unit=Unit.BYTES, source=_SOURCE)
FILESYSTEM_SIZE = gauge("node_filesystem_size_bytes", *_MOUNT, unit=Unit.BYTES, source=_SOURCE)
FILESYSTEM_FREE = gauge("node_filesystem_free_bytes", *_MOUNT, unit=Unit.BYTES, source=_SOURCE)
FILESYSTEM_AVAILABLE = gauge("node_filesystem_avail_bytes", *_MOUNT, unit=Unit.BYTES, source=_SOURCE)
FILESYSTEM_FILES = gauge("node_filesystem_files", *_MOUNT, source=_SOURCE)
FILESYSTEM_FILES_FREE = gauge("node_filesystem_files_free", *_MOUNT, source=_SOURCE)
FILESYSTEM_READ_ONLY = gauge("node_filesystem_readonly", *_MOUNT, source=_SOURCE)
FILESYSTEM_ERROR = gauge("node_filesystem_device_error", *_MOUNT, source=_SOURCE)
PRESSURE = {
    resource: counter(f"node_pressure_{resource}_waiting_seconds_total", unit=Unit.SECONDS, source=_SOURCE)
    for resource in ("cpu", "memory", "io")
}
"""Seconds in which at least one task waited, by resource."""


def _ethernet(name: str, unit: Unit = Unit.NONE) -> Counter:
    return counter(f"node_network_{name}_total", "device", unit=unit, source=_SOURCE)


def _infiniband(name: str, unit: Unit = Unit.NONE) -> Counter:
    return counter(f"node_infiniband_{name}_total", "device", "port", unit=unit, source=_SOURCE)


def _efa(name: str, unit: Unit = Unit.NONE) -> Counter:
    return counter(f"node_amazonefa_{name}", "device", "port", unit=unit, source=_SOURCE)


TRAFFIC = (
    ("ethernet", "rx", _ethernet("receive_bytes", Unit.BYTES)),
    ("ethernet", "tx", _ethernet("transmit_bytes", Unit.BYTES)),
    ("infiniband", "rx", _infiniband("port_data_received_bytes", Unit.BYTES)),
    ("infiniband", "tx", _infiniband("port_data_transmitted_bytes", Unit.BYTES)),
    ("efa", "rx", _efa("rx_bytes", Unit.BYTES)),
    ("efa", "tx", _efa("tx_bytes", Unit.BYTES)),
)
"""(fabric, direction, counter). RoCE adapters count as InfiniBand does."""

LINE_RATES = (
    ("ethernet", gauge("node_network_speed_bytes", "device", unit=Unit.BYTES_PER_SECOND, source=_SOURCE)),
    (
        "infiniband",
        gauge("node_infiniband_rate_bytes_per_second", "device", "port", unit=Unit.BYTES_PER_SECOND, source=_SOURCE),
    ),
)
"""(fabric, speed of a port); a port that is down has none, or -1. The EFA exporter tells no speed."""

ERRORS = (
    ("ethernet", "errors", (_ethernet("receive_errs"), _ethernet("transmit_errs"))),
    ("ethernet", "drops", (_ethernet("receive_drop"), _ethernet("transmit_drop"))),
    ("infiniband", "errors", (_infiniband("symbol_error"), _infiniband("port_errors_received"))),
    ("infiniband", "drops", (_infiniband("port_discards_transmitted"),)),
    ("infiniband", "link_downs", (_infiniband("link_downed"), _infiniband("link_error_recovery"))),
    (
        "infiniband",
        "retransmissions",
        (
            _infiniband("packet_sequence_errors"),
            _infiniband("out_of_sequence_packets_received"),
            _infiniband("local_ack_timeout_errors"),
            _infiniband("roce_adp_retransmits"),
        ),
    ),
    ("efa", "drops", (_efa("rx_drops"),)),
    ("efa", "retransmissions", (_efa("retrans_pkts"), _efa("retrans_timeout_events"))),
    ("efa", "unreachable", (_efa("impaired_remote_conn_events"), _efa("unresponsive_remote_events"))),
)
"""(fabric, type, counters that add up to it)."""

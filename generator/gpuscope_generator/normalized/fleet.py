"""What a fleet is made of, node by node: state in words, versions, links, faults of an hour. The cluster board reads it."""

from gpuscope.catalogue.metric import Unit
from gpuscope_generator.normalized.node import NODE
from gpuscope_generator.promql import gauge, info

__all__ = [
    "ECC_ERRORS_HOURLY",
    "FREE",
    "HOLDERS",
    "LINE_RATE",
    "NVLINK_BYTES",
    "NVLINK_ERRORS_HOURLY",
    "STATUS",
    "VERSION",
    "XID_ERRORS_DAILY",
    "XID_ERRORS_HOURLY",
]

STATUS = info(
    "node:status:union",
    *NODE,
    "pool",
    "instance_type",
    "state",
    "reason",
    "driver",
    meaning="All words about a node in one series; each is empty where nobody knows it.",
)
VERSION = info(
    "node:version:union",
    *NODE,
    "component",
    "version",
    meaning="What runs on a node: driver, cuda, vbios, kernel, kubelet, agent.",
)
FREE = gauge(
    "node:gpus_free:count",
    *NODE,
    meaning="Whole GPUs that new work could get: healthy, held by nobody, not in MIG mode, on a node that takes work.",
)
HOLDERS = gauge("node:holders:count", *NODE, meaning="Workloads that hold a GPU, or a part of one, of the node.")
XID_ERRORS_HOURLY = gauge("node:xid_errors_all:increase1h", *NODE, meaning="XID errors of the last hour, of all codes.")
XID_ERRORS_DAILY = gauge(
    "node:xid_errors_all:increase1d",
    *NODE,
    meaning="XID errors of 24 hours, of all codes, rounded up; made of the counts of an hour.",
)
ECC_ERRORS_HOURLY = gauge(
    "node:ecc_errors:increase1h", *NODE, "severity", meaning="ECC errors of the last hour: corrected, uncorrected."
)
NVLINK_ERRORS_HOURLY = gauge(
    "node:nvlink_errors:increase1h", *NODE, "type", meaning="NVLink errors of the last hour by type."
)
NVLINK_BYTES = gauge(
    "node:nvlink_bytes:rate5m",
    *NODE,
    "direction",
    unit=Unit.BYTES_PER_SECOND,
    meaning="NVLink traffic of all GPUs, tx and rx.",
)
LINE_RATE = gauge(
    "node:network_line_rate_bytes:sum",
    *NODE,
    "fabric",
    unit=Unit.BYTES_PER_SECOND,
    meaning="What the ports of a fabric could carry in each direction; of ports that are up.",
)

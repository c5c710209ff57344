"""Collective operations of NCCL, as its inspector plug-in writes them down."""

from gpuscope.catalogue.metric import Unit
from gpuscope_generator.promql import gauge

__all__ = ["BUS_BANDWIDTH", "EXEC_SECONDS", "NODE_BUS_BANDWIDTH"]

_GPU = ("cluster", "node", "gpu", "span", "collective")

BUS_BANDWIDTH = gauge(
    "gpu:nccl_bus_bandwidth_bytes:avg",
    *_GPU,
    unit=Unit.BYTES_PER_SECOND,
    meaning="Bus bandwidth of a collective operation on a GPU, the mean over message sizes and communicators; span is "
    "node where it stays inside one node, else network.",
)
EXEC_SECONDS = gauge(
    "gpu:nccl_exec_seconds:max", *_GPU, unit=Unit.SECONDS, meaning="Time of one such operation, the longest kind."
)
NODE_BUS_BANDWIDTH = gauge(
    "node:nccl_bus_bandwidth_bytes:min",
    "cluster",
    "node",
    "span",
    "collective",
    unit=Unit.BYTES_PER_SECOND,
    meaning="The slowest GPU of a node, which all others wait for.",
)

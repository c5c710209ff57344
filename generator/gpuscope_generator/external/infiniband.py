"""node-exporter's collector infiniband, as of 1.6 to 1.10: ports of InfiniBand and RoCE adapters."""

from __future__ import annotations

from gpuscope.catalogue.metric import Unit
from gpuscope_generator.promql import counter, gauge

__all__ = ["ACTIVE", "LINK_DOWNS", "PORT", "RATE", "STATE", "SYMBOL_ERRORS"]

_SOURCE = "node-exporter"
PORT = ("device", "port")
ACTIVE = 4
"""Number of the state in which a port carries traffic; 1 is down, 2 initializing, 3 armed, 5 active and deferring."""

STATE = gauge("node_infiniband_state_id", *PORT, source=_SOURCE)
RATE = gauge("node_infiniband_rate_bytes_per_second", *PORT, unit=Unit.BYTES_PER_SECOND, source=_SOURCE)
LINK_DOWNS = counter("node_infiniband_link_downed_total", *PORT, source=_SOURCE)
SYMBOL_ERRORS = counter("node_infiniband_symbol_error_total", *PORT, source=_SOURCE)

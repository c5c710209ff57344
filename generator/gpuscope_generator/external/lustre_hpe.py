"""HPE's lustre_exporter, as of 2.1, whose names other exporters of Lustre have taken over.

``target`` is the directory in /proc: of a client ``lustre01-ffff88105db50000`` or, as newer ones write it,
``lustre01``; of its connections ``lustre01-OST0000-osc-ffff88105db50000``; of a server ``lustre01-OST0000``.
``lustre_rpcs_in_flight`` counts how often so many were in flight since the mount: it is no level, and is not read.
"""

from __future__ import annotations

from gpuscope.catalogue.metric import Unit
from gpuscope_generator.promql import counter, gauge

__all__ = [
    "AVAILABLE",
    "BYTES",
    "CAPACITY",
    "FILES",
    "FILES_FREE",
    "FREE",
    "JOB_BYTES",
    "LNET_BYTES",
    "LNET_DROPS",
    "LNET_ERRORS",
    "PAGES_PER_RPC",
    "SAMPLES",
    "STATS",
]

_SOURCE = "lustre_exporter"
_TARGET = ("component", "target")

CAPACITY = gauge("lustre_capacity_kilobytes", *_TARGET, source=_SOURCE)
FREE = gauge("lustre_free_kilobytes", *_TARGET, source=_SOURCE)
AVAILABLE = gauge("lustre_available_kilobytes", *_TARGET, source=_SOURCE)
FILES = gauge("lustre_inodes_maximum", *_TARGET, source=_SOURCE)
FILES_FREE = gauge("lustre_inodes_free", *_TARGET, source=_SOURCE)
BYTES = {
    direction: counter(f"lustre_{direction}_bytes_total", *_TARGET, unit=Unit.BYTES, source=_SOURCE)
    for direction in ("read", "write")
}
SAMPLES = {
    direction: counter(f"lustre_{direction}_samples_total", *_TARGET, source=_SOURCE) for direction in ("read", "write")
}
STATS = counter("lustre_stats_total", *_TARGET, "operation", source=_SOURCE)
PAGES_PER_RPC = counter("lustre_pages_per_rpc_total", *_TARGET, "operation", "size", source=_SOURCE)
JOB_BYTES = {
    direction: counter(f"lustre_job_{direction}_bytes_total", *_TARGET, "jobid", unit=Unit.BYTES, source=_SOURCE)
    for direction in ("read", "write")
}
LNET_BYTES = {
    direction: counter(f"lustre_{direction}_bytes_total", *_TARGET, unit=Unit.BYTES, source=_SOURCE)
    for direction in ("send", "receive", "drop")
}
LNET_DROPS = counter("lustre_drop_count_total", *_TARGET, source=_SOURCE)
LNET_ERRORS = counter("lustre_errors_total", *_TARGET, source=_SOURCE)

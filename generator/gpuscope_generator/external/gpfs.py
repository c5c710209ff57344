"""treydock/gpfs_exporter for IBM Storage Scale (GPFS), as of 1.0 to 3.0."""

from __future__ import annotations

from gpuscope.catalogue.metric import Unit
from gpuscope_generator.promql import counter, gauge

__all__ = ["BYTES", "FILES", "FILES_FREE", "FREE", "KINDS", "OPERATIONS", "SIZE"]

_SOURCE = "gpfs_exporter"

BYTES = {
    way: counter(f"gpfs_perf_{way}_bytes_total", "fs", unit=Unit.BYTES, source=_SOURCE) for way in ("read", "write")
}
OPERATIONS = counter("gpfs_perf_operations_total", "fs", "operation", source=_SOURCE)
KINDS = {"reads": "read", "writes": "write", "opens": "open", "closes": "close", "read_dir": "readdir"}
"""Its names of operations, and ours."""
SIZE = gauge("gpfs_fs_size_bytes", "fs", unit=Unit.BYTES, source=_SOURCE)
FREE = gauge("gpfs_fs_free_bytes", "fs", unit=Unit.BYTES, source=_SOURCE)
FILES = gauge("gpfs_fs_inodes", "fs", source=_SOURCE)
FILES_FREE = gauge("gpfs_fs_free_inodes", "fs", source=_SOURCE)

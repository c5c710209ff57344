"""NFS clients as node-exporter's collector ``mountstats`` tells of them (off by default), as of 1.6 to 1.10."""

from __future__ import annotations

from gpuscope.catalogue.metric import Unit
from gpuscope_generator.promql import counter

__all__ = ["BYTES", "MAJOR_TIMEOUTS", "OPERATIONS", "REQUESTS", "SECONDS", "TRANSMISSIONS"]

_SOURCE = "node-exporter"
_MOUNT = ("export", "protocol", "mountaddr")

OPERATIONS = (
    "READ", "WRITE", "GETATTR", "SETATTR", "LOOKUP", "ACCESS", "READLINK", "CREATE", "MKDIR", "SYMLINK", "MKNOD",
    "REMOVE", "RMDIR", "RENAME", "LINK", "READDIR", "READDIRPLUS", "FSSTAT", "FSINFO", "PATHCONF", "COMMIT", "OPEN",
    "OPEN_NOATTR", "CLOSE", "STATFS", "LOCK", "DELEGRETURN",
)  # fmt: skip
"""Names in the label ``operation``; our agent writes them in lower case."""

BYTES = {
    way: counter(f"node_mountstats_nfs_{way}_bytes_total", *_MOUNT, unit=Unit.BYTES, source=_SOURCE)
    for way in ("read", "write", "direct_read", "direct_write")
}
"""Bytes of read and write calls, and of those with O_DIRECT."""
REQUESTS = counter("node_mountstats_nfs_operations_requests_total", *_MOUNT, "operation", source=_SOURCE)
TRANSMISSIONS = counter("node_mountstats_nfs_operations_transmissions_total", *_MOUNT, "operation", source=_SOURCE)
MAJOR_TIMEOUTS = counter("node_mountstats_nfs_operations_major_timeouts_total", *_MOUNT, "operation", source=_SOURCE)
SECONDS = {
    phase: counter(
        f"node_mountstats_nfs_operations_{name}_time_seconds_total",
        *_MOUNT,
        "operation",
        unit=Unit.SECONDS,
        source=_SOURCE,
    )
    for phase, name in (("queue", "queue"), ("server", "response"), ("total", "request"))
}

"""One series a mount of a node: local file systems too. ``mountpoint`` is empty where a source does not tell it.

``filesystem`` is the name that users know: ``lustre01``, ``server:/export``, and of a local one its mount point.
"""

from gpuscope.catalogue.metric import Unit
from gpuscope_generator.promql import gauge, info

__all__ = [
    "AVAILABLE",
    "BYTES",
    "EVENTS",
    "FAILURE",
    "FILES",
    "FILES_FREE",
    "INFO",
    "IO",
    "LNET_BYTES",
    "LNET_PROBLEMS",
    "LUSTRE_SOURCE",
    "MOUNT",
    "ON_NODE",
    "READ_ONLY",
    "SIZE",
    "STATFS",
    "UP",
    "USED",
]

ON_NODE = ("cluster", "node", "filesystem")
MOUNT = (*ON_NODE, "mountpoint")

INFO = info("node:filesystem_info:union", *MOUNT, "fs_type", meaning="A mount, and the type of its file system.")
UP = gauge(
    "node:filesystem_up:bool",
    *MOUNT,
    meaning="1 while the mount answers, 0 while it hangs, fails or is missing; absent while nobody can tell.",
)
FAILURE = info(
    "node:filesystem_failure:union", *MOUNT, "reason", meaning="Why a mount is not up, or why nobody can tell."
)
READ_ONLY = gauge("node:filesystem_read_only:bool", *MOUNT, meaning="1 while nothing can be written to the mount.")
SIZE = gauge("node:filesystem_size_bytes:union", *MOUNT, unit=Unit.BYTES, meaning="Size, as the node sees it.")
USED = gauge("node:filesystem_used_bytes:union", *MOUNT, unit=Unit.BYTES, meaning="Size less free space.")
AVAILABLE = gauge(
    "node:filesystem_available_bytes:union", *MOUNT, unit=Unit.BYTES, meaning="Free space that users can fill."
)
FILES = gauge("node:filesystem_files:union", *MOUNT, meaning="Inodes that it can have; absent without a limit.")
FILES_FREE = gauge("node:filesystem_files_free:union", *MOUNT, meaning="Inodes that are left.")
STATFS = gauge(
    "node:filesystem_statfs_seconds:union",
    *MOUNT,
    unit=Unit.SECONDS,
    meaning="How long it took to ask the mount for its free space.",
)
BYTES = gauge(
    "node:filesystem_bytes:rate5m",
    *MOUNT,
    "direction",
    unit=Unit.BYTES_PER_SECOND,
    meaning="What programs on the node read and write a second, from the page cache or from the server.",
)
IO = gauge(
    "node:filesystem_io:rate5m",
    *MOUNT,
    "kind",
    meaning="Operations of the node a second: read, write, and metadata for all others.",
)
EVENTS = gauge(
    "node:filesystem_events:rate5m",
    *ON_NODE,
    "event",
    meaning="Signs of a bad connection, a second: retransmissions, timeouts, reconnects, evictions.",
)
LNET_BYTES = gauge(
    "node:lnet_bytes:rate5m",
    "cluster",
    "node",
    "direction",
    unit=Unit.BYTES_PER_SECOND,
    meaning="Bytes in LNet messages a second: send, receive, route, drop.",
)
LNET_PROBLEMS = gauge(
    "node:lnet_problems:rate5m", "cluster", "node", "problem", meaning="LNet messages dropped, and errors, a second."
)
LUSTRE_SOURCE = info(
    "node:lustre_source:union",
    "cluster",
    "node",
    "param",
    "source",
    meaning="Where the agent reads a parameter of Lustre: sysfs, debugfs, procfs, lctl, or none of them.",
)

"""One series a file system that several nodes share, whoever tells of it; and sums over a cluster.

Local file systems have series by mount only (`gpuscope_generator.normalized.mount`), and ``INFO``.
"""

from gpuscope.catalogue.metric import Unit
from gpuscope_generator.promql import gauge, info

__all__ = [
    "AVAILABLE",
    "BACKLOG",
    "BYTES",
    "CLUSTER_BYTES",
    "CLUSTER_FULLEST",
    "CLUSTER_MOUNTS",
    "CLUSTER_SIZE",
    "CLUSTER_USED",
    "CONNECTIONS",
    "EVENTS",
    "FILES",
    "FILESYSTEM",
    "FILES_FREE",
    "FSX",
    "INFO",
    "IO",
    "MOUNTS",
    "NFS_WAIT",
    "OPERATIONS",
    "OPERATION_SECONDS",
    "READ_AHEAD",
    "RPCS",
    "SAVED",
    "SERVED_AVAILABLE",
    "SERVED_BYTES",
    "SERVED_IO",
    "SERVED_SIZE",
    "SERVER_BALANCE",
    "SERVER_BYTES",
    "SERVER_CACHE_HITS",
    "SERVER_USE",
    "SIZE",
    "USED",
]

FILESYSTEM = ("cluster", "filesystem")

INFO = info(
    "filesystem:info:union",
    *FILESYSTEM,
    "fs_type",
    "mountpoint",
    meaning="A file system, where it is mounted; the variables of the board read it.",
)
FSX = info(
    "filesystem:fsx:union",
    *FILESYSTEM,
    "id",
    meaning="The id in Amazon FSx of a file system: its clients know it by the name in their mount.",
)

SIZE = gauge("filesystem:size_bytes:max", *FILESYSTEM, unit=Unit.BYTES, meaning="Size.")
USED = gauge("filesystem:used_bytes:max", *FILESYSTEM, unit=Unit.BYTES, meaning="Size less free space.")
AVAILABLE = gauge("filesystem:available_bytes:min", *FILESYSTEM, unit=Unit.BYTES, meaning="Free space for users.")
FILES = gauge("filesystem:files:max", *FILESYSTEM, meaning="Inodes that it can have; absent without a limit.")
FILES_FREE = gauge("filesystem:files_free:min", *FILESYSTEM, meaning="Inodes that are left.")
SAVED = gauge(
    "filesystem:compression_saved:ratio",
    *FILESYSTEM,
    unit=Unit.RATIO,
    meaning="Share of the data's size that compression saves; absent without compression.",
)

BYTES = gauge(
    "filesystem:bytes:rate5m",
    *FILESYSTEM,
    "direction",
    unit=Unit.BYTES_PER_SECOND,
    meaning="What clients read and write a second; of FSx without known clients what its servers count.",
)
IO = gauge("filesystem:io:rate5m", *FILESYSTEM, "kind", meaning="Operations a second: read, write, metadata.")
OPERATIONS = gauge(
    "filesystem:operations:rate5m", *FILESYSTEM, "operation", meaning="Operations a second by what they do."
)
OPERATION_SECONDS = gauge(
    "filesystem:operation_seconds:rate5m",
    *FILESYSTEM,
    "operation",
    meaning="Seconds that they took, a second.",
)
NFS_WAIT = gauge(
    "filesystem:nfs_wait_seconds:avg5m",
    *FILESYSTEM,
    "phase",
    unit=Unit.SECONDS,
    meaning="Mean time of an NFS request in the client before it is sent (queue), and until its answer (server).",
)
READ_AHEAD = gauge(
    "filesystem:read_ahead:rate5m", *FILESYSTEM, "event", meaning="Read-ahead of Lustre clients by outcome, a second."
)
RPCS = gauge(
    "filesystem:rpcs:rate5m",
    *FILESYSTEM,
    "direction",
    "pages",
    meaning="Bulk requests of Lustre clients a second by size: at most so many pages of memory.",
)
EVENTS = gauge(
    "filesystem:events:rate5m",
    *FILESYSTEM,
    "event",
    meaning="Signs of a bad connection on all clients, a second: retransmissions, timeouts, reconnects, evictions.",
)
MOUNTS = gauge(
    "filesystem:mounts:count",
    *FILESYSTEM,
    "state",
    meaning="Nodes that have it mounted: up, down, read_only (and up), unknown.",
)
CONNECTIONS = gauge("filesystem:connections:max", *FILESYSTEM, meaning="Clients that its servers count.")

SERVED_SIZE = gauge(
    "filesystem:served_size_bytes:union", *FILESYSTEM, unit=Unit.BYTES, meaning="Size, as its servers tell it."
)
SERVED_AVAILABLE = gauge(
    "filesystem:served_available_bytes:union", *FILESYSTEM, unit=Unit.BYTES, meaning="Free space, as they tell it."
)
SERVED_BYTES = gauge(
    "filesystem:served_bytes:rate",
    *FILESYSTEM,
    "direction",
    unit=Unit.BYTES_PER_SECOND,
    meaning="What its servers read and write for clients a second, over one period of CloudWatch.",
)
SERVED_IO = gauge(
    "filesystem:served_io:rate", *FILESYSTEM, "kind", meaning="Operations that its servers do a second, of the same."
)

SERVER_USE = gauge(
    "filesystem:server_use:ratio",
    *FILESYSTEM,
    "server",
    "resource",
    unit=Unit.RATIO,
    meaning="Share in use of what a server can do: cpu, network, disk_throughput, disk_iops.",
)
SERVER_BALANCE = gauge(
    "filesystem:server_balance:ratio",
    *FILESYSTEM,
    "server",
    "resource",
    unit=Unit.RATIO,
    meaning="Credits left for bursts above the base line: disk_throughput, disk_iops.",
)
SERVER_CACHE_HITS = gauge(
    "filesystem:server_cache_hits:ratio",
    *FILESYSTEM,
    "server",
    unit=Unit.RATIO,
    meaning="Share of reads that a server answers from its memory.",
)
SERVER_BYTES = gauge(
    "filesystem:server_bytes:rate",
    *FILESYSTEM,
    "server",
    "direction",
    unit=Unit.BYTES_PER_SECOND,
    meaning="Network traffic of a server: sent, received.",
)
BACKLOG = gauge(
    "filesystem:repository_backlog_seconds:max",
    *FILESYSTEM,
    "publisher",
    unit=Unit.SECONDS,
    meaning="Age of the oldest change that waits to be imported from, or exported to, the data repository.",
)

CLUSTER_SIZE = gauge(
    "cluster:filesystem_size_bytes:sum", "cluster", unit=Unit.BYTES, meaning="Size of all shared file systems."
)
CLUSTER_USED = gauge(
    "cluster:filesystem_used_bytes:sum", "cluster", unit=Unit.BYTES, meaning="Used space of all shared file systems."
)
CLUSTER_FULLEST = gauge(
    "cluster:filesystem_used:ratio_max", "cluster", unit=Unit.RATIO, meaning="Used share of the fullest of them."
)
CLUSTER_BYTES = gauge(
    "cluster:filesystem_bytes:rate5m",
    "cluster",
    "direction",
    unit=Unit.BYTES_PER_SECOND,
    meaning="What all clients read and write a second.",
)
CLUSTER_MOUNTS = gauge(
    "cluster:filesystem_mounts:count", "cluster", "state", meaning="Mounts of shared file systems by state."
)

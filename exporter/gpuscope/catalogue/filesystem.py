"""File systems: whether each mount answers, its capacity, and what this machine does with it."""

from gpuscope.catalogue.metric import Kind, Level, Metric, Tier, Unit

__all__ = [
    "AVAILABLE",
    "FAILURE_INFO",
    "FILES",
    "FILES_FREE",
    "FREE",
    "INFO",
    "METRICS",
    "OPERATIONS",
    "OPERATION_SECONDS",
    "READ_BYTES",
    "READ_ONLY",
    "RETRANSMISSIONS",
    "SIZE",
    "SOURCE_FAILURES",
    "STATFS_DURATION",
    "STATFS_FAILURES",
    "TIMEOUTS",
    "UP",
    "WRITE_BYTES",
]

_MOUNT = ("filesystem", "mountpoint")
_REASONS = (
    "timeout",
    "stale",
    "disconnected",
    "unreachable",
    "io",
    "missing",
    "error",
    "permission",
    "not_visible",
    "automount",
    "not_watched",
)

INFO = Metric(
    name="gpuscope_filesystem_info",
    kind=Kind.INFO,
    level=Level.NODE,
    extra=(*_MOUNT, "type", "source", "options"),
    help="A mount that is watched; options are those that change how it behaves when its server is slow or gone.",
    tier=Tier.FILESYSTEM,
    source="/proc/1/mountinfo",
)
UP = Metric(
    name="gpuscope_filesystem_up",
    kind=Kind.GAUGE,
    level=Level.NODE,
    extra=_MOUNT,
    help="1 while the mount answers statfs within its time-out, 0 while it does not or is missing; absent while nobody can tell.",
    tier=Tier.FILESYSTEM,
    source="statvfs(3)",
    high=1,
    note="Unknown is not down: a mount that the agent cannot see or may not reach has no sample here, and its reason in gpuscope_filesystem_failure_info.",
)
FAILURE_INFO = Metric(
    name="gpuscope_filesystem_failure_info",
    kind=Kind.INFO,
    level=Level.NODE,
    extra=(*_MOUNT, "reason"),
    help="Why the mount is not up, or why nobody can tell. Absent while it is.",
    tier=Tier.FILESYSTEM,
    source="statvfs(3)",
    values=((), (), _REASONS),
)
READ_ONLY = Metric(
    name="gpuscope_filesystem_read_only",
    kind=Kind.GAUGE,
    level=Level.NODE,
    extra=_MOUNT,
    help="1 while the mount or its file system is read-only.",
    tier=Tier.FILESYSTEM,
    source="/proc/1/mountinfo",
    high=1,
)
SIZE = Metric(
    name="gpuscope_filesystem_size_bytes",
    kind=Kind.GAUGE,
    level=Level.NODE,
    extra=_MOUNT,
    unit=Unit.BYTES,
    help="Size of the file system.",
    tier=Tier.FILESYSTEM,
    source="statvfs(3): f_blocks",
)
FREE = Metric(
    name="gpuscope_filesystem_free_bytes",
    kind=Kind.GAUGE,
    level=Level.NODE,
    extra=_MOUNT,
    unit=Unit.BYTES,
    help="Free space, what is kept for root included.",
    tier=Tier.FILESYSTEM,
    source="statvfs(3): f_bfree",
)
AVAILABLE = Metric(
    name="gpuscope_filesystem_available_bytes",
    kind=Kind.GAUGE,
    level=Level.NODE,
    extra=_MOUNT,
    unit=Unit.BYTES,
    help="Free space that users can fill.",
    tier=Tier.FILESYSTEM,
    source="statvfs(3): f_bavail",
)
FILES = Metric(
    name="gpuscope_filesystem_files",
    kind=Kind.GAUGE,
    level=Level.NODE,
    extra=_MOUNT,
    help="Inodes that the file system can have; absent where it has no limit.",
    tier=Tier.FILESYSTEM,
    source="statvfs(3): f_files",
)
FILES_FREE = Metric(
    name="gpuscope_filesystem_files_free",
    kind=Kind.GAUGE,
    level=Level.NODE,
    extra=_MOUNT,
    help="Inodes that are left.",
    tier=Tier.FILESYSTEM,
    source="statvfs(3): f_ffree",
)
STATFS_DURATION = Metric(
    name="gpuscope_filesystem_statfs_duration_seconds",
    kind=Kind.GAUGE,
    level=Level.NODE,
    extra=_MOUNT,
    unit=Unit.SECONDS,
    help="Time that the last statfs took: how fast the metadata server answers this machine.",
    tier=Tier.FILESYSTEM,
    source="statvfs(3)",
)
STATFS_FAILURES = Metric(
    name="gpuscope_filesystem_statfs_failures_total",
    kind=Kind.COUNTER,
    level=Level.NODE,
    extra=(*_MOUNT, "reason"),
    help="Calls of statfs that failed, or that did not return within the time-out.",
    tier=Tier.FILESYSTEM,
    source="statvfs(3)",
    values=((), (), _REASONS),
)
READ_BYTES = Metric(
    name="gpuscope_filesystem_read_bytes_total",
    kind=Kind.COUNTER,
    level=Level.NODE,
    extra=_MOUNT,
    unit=Unit.BYTES,
    help="Bytes that programs on this machine have read, from its page cache or from the server.",
    tier=Tier.FILESYSTEM,
    source="Lustre llite.*.stats: read_bytes; NFS mountstats: bytes",
    note="Lustre and NFS only. With several mounts of one Lustre file system that cannot be told apart, mountpoint is empty and the value is their sum.",
)
WRITE_BYTES = Metric(
    name="gpuscope_filesystem_write_bytes_total",
    kind=Kind.COUNTER,
    level=Level.NODE,
    extra=_MOUNT,
    unit=Unit.BYTES,
    help="Bytes that programs on this machine have written.",
    tier=Tier.FILESYSTEM,
    source="Lustre llite.*.stats: write_bytes; NFS mountstats: bytes",
    note="Lustre and NFS only. With several mounts of one Lustre file system that cannot be told apart, mountpoint is empty and the value is their sum.",
)
OPERATIONS = Metric(
    name="gpuscope_filesystem_operations_total",
    kind=Kind.COUNTER,
    level=Level.NODE,
    extra=(*_MOUNT, "operation"),
    help="Operations of this machine by kind: read, write, open, getattr and so on.",
    tier=Tier.FILESYSTEM,
    source="Lustre llite.*.stats; NFS mountstats: per-op statistics",
    note="Lustre counts system calls, NFS requests to the server. Only kinds that have occurred are there.",
)
OPERATION_SECONDS = Metric(
    name="gpuscope_filesystem_operation_seconds_total",
    kind=Kind.COUNTER,
    level=Level.NODE,
    extra=(*_MOUNT, "operation"),
    unit=Unit.SECONDS,
    help="Time that these operations took; divided by their number it is the mean latency.",
    tier=Tier.FILESYSTEM,
    source="Lustre 2.13 and newer, llite.*.stats: usecs; NFS mountstats: total execute time",
)
RETRANSMISSIONS = Metric(
    name="gpuscope_filesystem_retransmissions_total",
    kind=Kind.COUNTER,
    level=Level.NODE,
    extra=_MOUNT,
    help="NFS requests that were sent again.",
    tier=Tier.FILESYSTEM,
    source="NFS mountstats: transmissions less operations",
)
TIMEOUTS = Metric(
    name="gpuscope_filesystem_timeouts_total",
    kind=Kind.COUNTER,
    level=Level.NODE,
    extra=_MOUNT,
    help="NFS requests that had a major time-out.",
    tier=Tier.FILESYSTEM,
    source="NFS mountstats: major timeouts",
)
SOURCE_FAILURES = Metric(
    name="gpuscope_filesystem_source_failures_total",
    kind=Kind.COUNTER,
    level=Level.NODE,
    extra=("param", "reason"),
    help="Files and lines that could not be used, so that something about mounts may be absent.",
    tier=Tier.FILESYSTEM,
    source="/proc/1/mountinfo, /proc/1/mountstats",
    values=(
        ("mountinfo", "own_mountinfo", "mountstats"),
        ("permission", "missing", "io", "garbage", "truncated", "too_many"),
    ),
)

METRICS = (
    INFO,
    UP,
    FAILURE_INFO,
    READ_ONLY,
    SIZE,
    FREE,
    AVAILABLE,
    FILES,
    FILES_FREE,
    STATFS_DURATION,
    STATFS_FAILURES,
    READ_BYTES,
    WRITE_BYTES,
    OPERATIONS,
    OPERATION_SECONDS,
    RETRANSMISSIONS,
    TIMEOUTS,
    SOURCE_FAILURES,
)

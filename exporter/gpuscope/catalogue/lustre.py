"""The Lustre client beyond what every file system has: targets, RPCs, read-ahead, LNet, and where it was read."""

from gpuscope.catalogue.metric import Kind, Level, Metric, Tier, Unit

__all__ = [
    "CLIENT_INFO",
    "CONNECTION_ATTEMPTS",
    "EVICTIONS",
    "LNET_BYTES",
    "LNET_ERRORS",
    "LNET_MESSAGES",
    "METRICS",
    "PENDING_PAGES",
    "READ_AHEAD",
    "REQUEST_TIMEOUTS",
    "RPCS",
    "RPCS_IN_FLIGHT",
    "SOURCE_AVAILABLE",
    "SOURCE_FAILURES",
    "SOURCE_UNAVAILABLE_INFO",
    "TARGET_FAILURE_INFO",
    "TARGET_UP",
]

_PARAMS = ("llite_stats", "read_ahead_stats", "rpc_stats", "import", "state", "lnet_stats")
_SOURCES = ("sysfs", "debugfs", "procfs", "lctl")
_REASONS = ("permission", "missing", "not_mounted", "timeout", "error", "off")
_LNET = ("send", "receive", "route", "drop")

CLIENT_INFO = Metric(
    name="gpuscope_lustre_client_info",
    kind=Kind.INFO,
    level=Level.NODE,
    extra=("version",),
    help="Version of the Lustre client's kernel modules.",
    tier=Tier.FILESYSTEM,
    source="version",
)
SOURCE_AVAILABLE = Metric(
    name="gpuscope_lustre_source_available",
    kind=Kind.GAUGE,
    level=Level.NODE,
    extra=("param", "source"),
    help="1 for the place that a parameter is read from, 0 for places that were tried and did not give it.",
    tier=Tier.FILESYSTEM,
    source="the agent itself",
    values=(_PARAMS, _SOURCES),
    high=1,
    note="Absent on a machine without a Lustre client. With 0 everywhere for a parameter its metrics are absent, and gpuscope_lustre_source_unavailable_info says why.",
)
SOURCE_UNAVAILABLE_INFO = Metric(
    name="gpuscope_lustre_source_unavailable_info",
    kind=Kind.INFO,
    level=Level.NODE,
    extra=("param", "source", "reason"),
    help="Why a place did not give a parameter.",
    tier=Tier.FILESYSTEM,
    source="the agent itself",
    values=(_PARAMS, _SOURCES, _REASONS),
)
SOURCE_FAILURES = Metric(
    name="gpuscope_lustre_source_failures_total",
    kind=Kind.COUNTER,
    level=Level.NODE,
    extra=("param", "reason"),
    help="Files that vanished while they were read, and lines that could not be understood.",
    tier=Tier.FILESYSTEM,
    source="the agent itself",
    values=(_PARAMS, ("vanished", "permission", "io", "garbage", "truncated")),
)
READ_AHEAD = Metric(
    name="gpuscope_lustre_read_ahead_events_total",
    kind=Kind.COUNTER,
    level=Level.NODE,
    extra=("filesystem", "mountpoint", "event"),
    help="Read-ahead by its outcome, in pages: hits, misses and what stopped it.",
    tier=Tier.FILESYSTEM,
    source="llite.*.read_ahead_stats",
    note="Many misses beside few hits are random reads, for which a larger read-ahead does not help.",
)
RPCS_IN_FLIGHT = Metric(
    name="gpuscope_lustre_rpcs_in_flight",
    kind=Kind.GAUGE,
    level=Level.NODE,
    extra=("filesystem", "target", "type"),
    help="RPCs that wait for an answer of the target now.",
    tier=Tier.FILESYSTEM,
    source="osc.*.rpc_stats, mdc.*.rpc_stats",
    values=((), (), ("read", "write", "modify")),
)
PENDING_PAGES = Metric(
    name="gpuscope_lustre_pending_pages",
    kind=Kind.GAUGE,
    level=Level.NODE,
    extra=("filesystem", "target", "direction"),
    help="Pages that wait to be put into an RPC.",
    tier=Tier.FILESYSTEM,
    source="osc.*.rpc_stats",
    values=((), (), ("read", "write")),
)
RPCS = Metric(
    name="gpuscope_lustre_rpcs_total",
    kind=Kind.COUNTER,
    level=Level.NODE,
    extra=("filesystem", "direction", "pages"),
    help="Bulk RPCs to all targets by their size: pages is the largest number of pages in the class.",
    tier=Tier.FILESYSTEM,
    source="osc.*.rpc_stats, mdc.*.rpc_stats: pages per rpc",
    values=((), ("read", "write"), ()),
    note="RPCs of 256 pages and more are well filled; many of one page are small or unaligned I/O.",
)
TARGET_UP = Metric(
    name="gpuscope_lustre_target_up",
    kind=Kind.GAUGE,
    level=Level.NODE,
    extra=("filesystem", "target"),
    help="1 while this client is connected to the target, or idle and may connect; 0 while it is not.",
    tier=Tier.FILESYSTEM,
    source="osc.*.import, mdc.*.import: state",
    high=1,
)
TARGET_FAILURE_INFO = Metric(
    name="gpuscope_lustre_target_failure_info",
    kind=Kind.INFO,
    level=Level.NODE,
    extra=("filesystem", "target", "state"),
    help="State of the import while the target is not up.",
    tier=Tier.FILESYSTEM,
    source="osc.*.import, mdc.*.import: state",
)
EVICTIONS = Metric(
    name="gpuscope_lustre_evictions_total",
    kind=Kind.COUNTER,
    level=Level.NODE,
    extra=("filesystem", "target"),
    help="Times that the target has thrown this client out since the agent started.",
    tier=Tier.FILESYSTEM,
    source="osc.*.state, mdc.*.state: state_history",
)
CONNECTION_ATTEMPTS = Metric(
    name="gpuscope_lustre_connection_attempts_total",
    kind=Kind.COUNTER,
    level=Level.NODE,
    extra=("filesystem", "target"),
    help="Attempts to connect to the target since it was mounted; one is usual.",
    tier=Tier.FILESYSTEM,
    source="osc.*.import, mdc.*.import: connection_attempts",
)
REQUEST_TIMEOUTS = Metric(
    name="gpuscope_lustre_request_timeouts_total",
    kind=Kind.COUNTER,
    level=Level.NODE,
    extra=("filesystem", "target"),
    help="Requests that the target did not answer in time.",
    tier=Tier.FILESYSTEM,
    source="osc.*.import, mdc.*.import: rpcs timeouts",
)
LNET_MESSAGES = Metric(
    name="gpuscope_lustre_lnet_messages_total",
    kind=Kind.COUNTER,
    level=Level.NODE,
    extra=("direction",),
    help="LNet messages of this machine.",
    tier=Tier.FILESYSTEM,
    source="lnet stats",
    values=(_LNET,),
)
LNET_BYTES = Metric(
    name="gpuscope_lustre_lnet_bytes_total",
    kind=Kind.COUNTER,
    level=Level.NODE,
    extra=("direction",),
    unit=Unit.BYTES,
    help="Bytes in LNet messages of this machine.",
    tier=Tier.FILESYSTEM,
    source="lnet stats",
    values=(_LNET,),
)
LNET_ERRORS = Metric(
    name="gpuscope_lustre_lnet_errors_total",
    kind=Kind.COUNTER,
    level=Level.NODE,
    help="Errors that LNet has counted on this machine.",
    tier=Tier.FILESYSTEM,
    source="lnet stats",
)

METRICS = (
    CLIENT_INFO,
    SOURCE_AVAILABLE,
    SOURCE_UNAVAILABLE_INFO,
    SOURCE_FAILURES,
    READ_AHEAD,
    RPCS_IN_FLIGHT,
    PENDING_PAGES,
    RPCS,
    TARGET_UP,
    TARGET_FAILURE_INFO,
    EVICTIONS,
    CONNECTION_ATTEMPTS,
    REQUEST_TIMEOUTS,
    LNET_MESSAGES,
    LNET_BYTES,
    LNET_ERRORS,
)

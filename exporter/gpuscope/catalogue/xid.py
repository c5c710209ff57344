"""Faults that the driver reports: XIDs, SXIDs and other events."""

from gpuscope.catalogue.metric import Kind, Level, Metric, MigBehaviour, Tier, Unit

__all__ = [
    "EVENT_WATCHER_RESTARTS",
    "EVENT_WATCHER_UP",
    "KERNEL_LOG_LINES",
    "KERNEL_LOG_LOST",
    "KERNEL_LOG_SUPPRESSED",
    "KERNEL_LOG_UP",
    "METRICS",
    "NVML_EVENTS",
    "SXID_ERRORS",
    "XID_ERRORS",
    "XID_LAST",
]

XID_ERRORS = Metric(
    name="gpuscope_gpu_xid_errors_total",
    kind=Kind.COUNTER,
    level=Level.GPU,
    extra=("xid", "gi", "ci"),
    help="XID errors by code; gi and ci name the MIG instance, and are empty for the whole GPU.",
    tier=Tier.EVENT,
    source="nvmlEventSetWait_v2, kernel log",
    mig=MigBehaviour.PARENT,
    dcgm=("DEV_XID_ERRORS",),
    dcgm46=("DEV_XID_ERROR",),
    dcgm_note="not convertible: DCGM keeps the last code only",
    note="Critical codes are 0 from the start, so that increase() sees the first one.",
)
XID_LAST = Metric(
    name="gpuscope_gpu_xid_last_timestamp_seconds",
    kind=Kind.GAUGE,
    level=Level.GPU,
    extra=("xid",),
    unit=Unit.SECONDS,
    help="Unix time of the last XID of this code.",
    tier=Tier.EVENT,
    source="nvmlEventSetWait_v2, kernel log",
    mig=MigBehaviour.PARENT,
)
NVML_EVENTS = Metric(
    name="gpuscope_gpu_nvml_events_total",
    kind=Kind.COUNTER,
    level=Level.GPU,
    extra=("type",),
    help="Driver events other than XIDs.",
    tier=Tier.EVENT,
    source="nvmlEventSetWait_v2",
    mig=MigBehaviour.PARENT,
    values=(
        (
            "mig_config_change",
            "sbe_storm",
            "dram_retirement",
            "dram_retirement_failure",
            "poison",
            "fatal_poison",
            "gpu_unavailable",
            "recovery_action",
        ),
    ),
)
SXID_ERRORS = Metric(
    name="gpuscope_nvswitch_sxid_errors_total",
    kind=Kind.COUNTER,
    level=Level.NODE,
    extra=("pci_bus_id", "sxid", "severity"),
    help="SXID errors of an NVSwitch by code.",
    tier=Tier.EVENT,
    source="kernel log",
    dcgm=("DEV_NVSWITCH_FATAL_ERRORS", "DEV_NVSWITCH_NON_FATAL_ERRORS"),
    dcgm46=("DEV_SXID_FATAL_ERROR", "DEV_SXID_NON_FATAL_ERROR"),
    dcgm_labels=('severity="fatal"', 'severity="nonfatal"'),
    dcgm_note="not convertible: DCGM keeps the last code only",
    values=((), (), ("fatal", "nonfatal", "unknown")),
)
EVENT_WATCHER_UP = Metric(
    name="gpuscope_event_watcher_up",
    kind=Kind.GAUGE,
    level=Level.NODE,
    help="1 while NVML events are being received.",
    tier=Tier.SELF,
    source="the agent itself",
    high=1,
)
EVENT_WATCHER_RESTARTS = Metric(
    name="gpuscope_event_watcher_restarts_total",
    kind=Kind.COUNTER,
    level=Level.NODE,
    help="How often the event set had to be made anew.",
    tier=Tier.SELF,
    source="the agent itself",
)
KERNEL_LOG_UP = Metric(
    name="gpuscope_kernel_log_up",
    kind=Kind.GAUGE,
    level=Level.NODE,
    help="1 while the kernel log is being read; absent when that is switched off.",
    tier=Tier.SELF,
    source="the agent itself",
    high=1,
)
KERNEL_LOG_LINES = Metric(
    name="gpuscope_kernel_log_lines_total",
    kind=Kind.COUNTER,
    level=Level.NODE,
    help="Lines read from the kernel log, whether they tell of a fault or not.",
    tier=Tier.SELF,
    source="/dev/kmsg or a file",
)
KERNEL_LOG_LOST = Metric(
    name="gpuscope_kernel_log_lost_total",
    kind=Kind.COUNTER,
    level=Level.NODE,
    help="Kernel log records that were overwritten before they could be read; faults may be among them.",
    tier=Tier.SELF,
    source="/dev/kmsg: gaps in the record numbers",
)
KERNEL_LOG_SUPPRESSED = Metric(
    name="gpuscope_kernel_log_suppressed_total",
    kind=Kind.COUNTER,
    level=Level.NODE,
    help="Repeated fault lines that were merged into one fault.",
    tier=Tier.SELF,
    source="/dev/kmsg or a file",
)

METRICS = (
    XID_ERRORS,
    XID_LAST,
    NVML_EVENTS,
    SXID_ERRORS,
    EVENT_WATCHER_UP,
    EVENT_WATCHER_RESTARTS,
    KERNEL_LOG_UP,
    KERNEL_LOG_LINES,
    KERNEL_LOG_LOST,
    KERNEL_LOG_SUPPRESSED,
)

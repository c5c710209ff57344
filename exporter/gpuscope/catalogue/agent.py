"""The agent about itself."""

from gpuscope.catalogue.metric import Kind, Level, Metric, MigBehaviour, Tier, Unit

__all__ = [
    "COLLECTOR_DURATION",
    "COLLECTOR_SUCCESS",
    "CYCLES_SKIPPED",
    "CYCLE_DURATION",
    "CYCLE_LAST",
    "IMPLAUSIBLE",
    "METRICS",
    "NVML_CALLS",
    "NVML_ERRORS",
    "NVML_SECONDS",
    "NVML_UNSUPPORTED",
    "READY",
    "RELOAD_SUCCESS",
    "RELOAD_TIME",
    "SERIES",
    "UNAVAILABLE_INFO",
    "UP",
    "WORKER_STUCK",
]

UP = Metric(
    name="gpuscope_up",
    kind=Kind.GAUGE,
    level=Level.NODE,
    help="1 while the driver can be talked to.",
    tier=Tier.SELF,
    source="the agent itself",
    high=1,
)
READY = Metric(
    name="gpuscope_ready",
    kind=Kind.GAUGE,
    level=Level.NODE,
    help="1 after the first full cycle.",
    tier=Tier.SELF,
    source="the agent itself",
    high=1,
)
UNAVAILABLE_INFO = Metric(
    name="gpuscope_driver_unavailable_info",
    kind=Kind.INFO,
    level=Level.NODE,
    extra=("reason",),
    help="Why the driver cannot be talked to. Absent while it can.",
    tier=Tier.SELF,
    source="nvmlInit_v2",
)
CYCLE_DURATION = Metric(
    name="gpuscope_cycle_duration_seconds",
    kind=Kind.GAUGE,
    level=Level.NODE,
    extra=("tier",),
    unit=Unit.SECONDS,
    help="Time that the last cycle took, on the slowest GPU.",
    tier=Tier.SELF,
    source="the agent itself",
)
CYCLE_LAST = Metric(
    name="gpuscope_cycle_last_success_timestamp_seconds",
    kind=Kind.GAUGE,
    level=Level.NODE,
    extra=("tier",),
    unit=Unit.SECONDS,
    help="Unix time of the last cycle that succeeded, on the GPU that is furthest behind among those that are up.",
    tier=Tier.SELF,
    source="the agent itself",
)
CYCLES_SKIPPED = Metric(
    name="gpuscope_cycles_skipped_total",
    kind=Kind.COUNTER,
    level=Level.NODE,
    extra=("tier", "reason"),
    help="Cycles that did not take place or did not count.",
    tier=Tier.SELF,
    source="the agent itself",
)
NVML_CALLS = Metric(
    name="gpuscope_nvml_calls_total",
    kind=Kind.COUNTER,
    level=Level.NODE,
    extra=("call",),
    help="Calls of an NVML function, those that failed included.",
    tier=Tier.SELF,
    source="the agent itself",
)
NVML_SECONDS = Metric(
    name="gpuscope_nvml_call_seconds_total",
    kind=Kind.COUNTER,
    level=Level.NODE,
    extra=("call",),
    unit=Unit.SECONDS,
    help="Time spent in NVML calls.",
    tier=Tier.SELF,
    source="the agent itself",
)
NVML_ERRORS = Metric(
    name="gpuscope_nvml_errors_total",
    kind=Kind.COUNTER,
    level=Level.NODE,
    extra=("call", "code"),
    help="NVML calls that failed, by return code.",
    tier=Tier.SELF,
    source="the agent itself",
)
NVML_UNSUPPORTED = Metric(
    name="gpuscope_nvml_unsupported",
    kind=Kind.GAUGE,
    level=Level.NODE,
    extra=("call",),
    help="GPUs and MIG instances of this machine on which the call is not supported: the reason why its metric is absent.",
    tier=Tier.SELF,
    source="the agent itself",
)
IMPLAUSIBLE = Metric(
    name="gpuscope_implausible_values_total",
    kind=Kind.COUNTER,
    level=Level.NODE,
    extra=("metric", "reason"),
    help="Readings that were thrown away: sentinels, or outside of what is possible.",
    tier=Tier.SELF,
    source="the agent itself",
    values=((), ("sentinel", "bounds")),
)
WORKER_STUCK = Metric(
    name="gpuscope_gpu_worker_stuck",
    kind=Kind.GAUGE,
    level=Level.GPU,
    help="1 while an NVML call of the GPU does not return.",
    tier=Tier.SELF,
    source="the agent itself",
    mig=MigBehaviour.PARENT,
    high=1,
)
COLLECTOR_SUCCESS = Metric(
    name="gpuscope_collector_success",
    kind=Kind.GAUGE,
    level=Level.NODE,
    extra=("collector",),
    help="1 when the collector's last run succeeded on every GPU.",
    tier=Tier.SELF,
    source="the agent itself",
    high=1,
)
COLLECTOR_DURATION = Metric(
    name="gpuscope_collector_duration_seconds",
    kind=Kind.GAUGE,
    level=Level.NODE,
    extra=("collector",),
    unit=Unit.SECONDS,
    help="Time that the collector's last run took, summed over the GPUs.",
    tier=Tier.SELF,
    source="the agent itself",
)
SERIES = Metric(
    name="gpuscope_series",
    kind=Kind.GAUGE,
    level=Level.NODE,
    help="Series in the last exposition.",
    tier=Tier.SELF,
    source="the agent itself",
)
RELOAD_SUCCESS = Metric(
    name="gpuscope_config_last_reload_successful",
    kind=Kind.GAUGE,
    level=Level.NODE,
    help="1 when the configuration in force is the last one that was asked for.",
    tier=Tier.SELF,
    source="the agent itself",
    high=1,
)
RELOAD_TIME = Metric(
    name="gpuscope_config_last_reload_success_timestamp_seconds",
    kind=Kind.GAUGE,
    level=Level.NODE,
    unit=Unit.SECONDS,
    help="Unix time of the last successful load of the configuration.",
    tier=Tier.SELF,
    source="the agent itself",
)

METRICS = (
    UP,
    READY,
    UNAVAILABLE_INFO,
    CYCLE_DURATION,
    CYCLE_LAST,
    CYCLES_SKIPPED,
    NVML_CALLS,
    NVML_SECONDS,
    NVML_ERRORS,
    NVML_UNSUPPORTED,
    IMPLAUSIBLE,
    WORKER_STUCK,
    COLLECTOR_SUCCESS,
    COLLECTOR_DURATION,
    SERIES,
    RELOAD_SUCCESS,
    RELOAD_TIME,
)

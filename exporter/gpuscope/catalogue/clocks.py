"""Clock rates, performance state, and what holds the clocks down."""

from gpuscope.catalogue.metric import Kind, Level, Metric, MigBehaviour, Tier, Unit

__all__ = ["CLOCK", "CLOCK_MAX", "EVENT_ACTIVE", "EVENT_SECONDS", "METRICS", "PERFORMANCE_STATE"]

CLOCK = Metric(
    name="gpuscope_gpu_clock_hertz",
    kind=Kind.GAUGE,
    level=Level.GPU,
    extra=("clock",),
    unit=Unit.HERTZ,
    help="Clock rate now.",
    tier=Tier.FAST,
    source="nvmlDeviceGetClockInfo",
    smi="clocks.current.sm",
    mig=MigBehaviour.PARENT,
    dcgm=("DEV_SM_CLOCK", "DEV_MEM_CLOCK", "DEV_VIDEO_CLOCK"),
    dcgm_note="x1000000",
    high=20e9,
)
CLOCK_MAX = Metric(
    name="gpuscope_gpu_clock_max_hertz",
    kind=Kind.GAUGE,
    level=Level.GPU,
    extra=("clock",),
    unit=Unit.HERTZ,
    help="Highest clock rate.",
    tier=Tier.SLOW,
    source="nvmlDeviceGetMaxClockInfo",
    smi="clocks.max.sm",
    mig=MigBehaviour.PARENT,
    dcgm=("DEV_MAX_SM_CLOCK", "DEV_MAX_MEM_CLOCK", "DEV_MAX_VIDEO_CLOCK"),
    dcgm_note="x1000000",
    high=20e9,
)
PERFORMANCE_STATE = Metric(
    name="gpuscope_gpu_performance_state",
    kind=Kind.GAUGE,
    level=Level.GPU,
    help="Performance state: 0 is the fastest, 15 the slowest.",
    tier=Tier.FAST,
    source="nvmlDeviceGetPerformanceState",
    smi="pstate",
    mig=MigBehaviour.PARENT,
    dcgm=("DEV_PSTATE",),
    dcgm46=("DEV_GPU_PSTATE",),
    high=15,
)
EVENT_ACTIVE = Metric(
    name="gpuscope_gpu_clock_event_active",
    kind=Kind.GAUGE,
    level=Level.GPU,
    extra=("reason",),
    help="1 while the reason holds the clocks down.",
    tier=Tier.FAST,
    source="nvmlDeviceGetCurrentClocksEventReasons",
    smi="clocks_event_reasons.active",
    mig=MigBehaviour.PARENT,
    dcgm=("DEV_CLOCKS_EVENT_REASONS", "DEV_CLOCK_THROTTLE_REASONS"),
    dcgm_note="bit test: floor(x / 2^k) % 2",
    high=1,
    note="idle and applications_clocks_setting are not throttling.",
)
EVENT_SECONDS = Metric(
    name="gpuscope_gpu_clock_event_seconds_total",
    kind=Kind.COUNTER,
    level=Level.GPU,
    extra=("reason",),
    unit=Unit.SECONDS,
    help="Time in which the reason held the clocks down.",
    tier=Tier.FAST,
    source="fields 74, 76 and, by driver version, 251-253 or 269-271 (ns); nvmlDeviceGetViolationStatus on older drivers",
    mig=MigBehaviour.PARENT,
    dcgm=("DEV_POWER_VIOLATION", "DEV_THERMAL_VIOLATION", "DEV_SYNC_BOOST_VIOLATION"),
    dcgm46=(
        "DEV_CLOCKS_EVENT_REASON_SW_POWER_CAP_NS",
        "DEV_CLOCKS_EVENT_REASON_SYNC_BOOST_NS",
        "DEV_CLOCKS_EVENT_REASON_SW_THERM_SLOWDOWN_NS",
        "DEV_CLOCKS_EVENT_REASON_HW_THERM_SLOWDOWN_NS",
        "DEV_CLOCKS_EVENT_REASON_HW_POWER_BRAKE_SLOWDOWN_NS",
    ),
    dcgm_note="/1e9",
    note="rate() never exceeds 1. The field numbers moved between drivers 580.65 and 580.82; a fixed number reads another value as throttle time.",
)

METRICS = (CLOCK, CLOCK_MAX, PERFORMANCE_STATE, EVENT_ACTIVE, EVENT_SECONDS)

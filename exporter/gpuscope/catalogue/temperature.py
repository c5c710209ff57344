"""Temperatures, thresholds and fans."""

from gpuscope.catalogue.metric import Kind, Level, Metric, MigBehaviour, Tier, Unit

__all__ = ["FAN_RATIO", "FAN_RPM", "HEADROOM", "METRICS", "TEMPERATURE", "THRESHOLD", "THRESHOLD_HEADROOM"]

TEMPERATURE = Metric(
    name="gpuscope_gpu_temperature_celsius",
    kind=Kind.GAUGE,
    level=Level.GPU,
    extra=("sensor",),
    unit=Unit.CELSIUS,
    help="Temperature of the GPU core and of its memory.",
    tier=Tier.FAST,
    source="nvmlDeviceGetTemperatureV; field 82 MEMORY_TEMP",
    smi="temperature.gpu, temperature.memory",
    mig=MigBehaviour.PARENT,
    dcgm=("DEV_GPU_TEMP", "DEV_MEMORY_TEMP"),
    dcgm46=("DEV_GPU_TEMP_CELSIUS", "DEV_MEMORY_TEMP_CELSIUS"),
    dcgm_labels=('sensor="gpu"', 'sensor="memory"'),
    values=(("gpu", "memory"),),
    low=-50,
    high=150,
    note="GeForce boards and the L40S have no memory sensor.",
)
HEADROOM = Metric(
    name="gpuscope_gpu_temperature_headroom_celsius",
    kind=Kind.GAUGE,
    level=Level.GPU,
    unit=Unit.CELSIUS,
    help="Degrees left until the GPU slows down (T.Limit); it counts down.",
    tier=Tier.FAST,
    source="nvmlDeviceGetMarginTemperature",
    smi="temperature.gpu.tlimit",
    mig=MigBehaviour.PARENT,
    dcgm=("DEV_GPU_TEMP_LIMIT",),
    dcgm46=("DEV_GPU_TEMP_MARGIN_CELSIUS",),
    low=-150,
    high=150,
)
THRESHOLD = Metric(
    name="gpuscope_gpu_temperature_threshold_celsius",
    kind=Kind.GAUGE,
    level=Level.GPU,
    extra=("threshold",),
    unit=Unit.CELSIUS,
    help="Temperatures at which the GPU shuts down or slows down, and the highest for normal operation.",
    tier=Tier.SLOW,
    source="nvmlDeviceGetTemperatureThreshold",
    mig=MigBehaviour.PARENT,
    dcgm=("DEV_SLOWDOWN_TEMP", "DEV_SHUTDOWN_TEMP", "DEV_GPU_MAX_OP_TEMP", "DEV_MEM_MAX_OP_TEMP"),
    dcgm46=(
        "DEV_GPU_TEMP_SLOWDOWN_CELSIUS",
        "DEV_GPU_TEMP_SHUTDOWN_CELSIUS",
        "DEV_GPU_MAX_OP_TEMP_CELSIUS",
        "DEV_MEMORY_MAX_OP_TEMP_CELSIUS",
    ),
    dcgm_labels=('threshold="slowdown"', 'threshold="shutdown"', 'threshold="gpu_max"', 'threshold="mem_max"'),
    values=(("shutdown", "slowdown", "gpu_max", "mem_max"),),
    low=-50,
    high=150,
)
THRESHOLD_HEADROOM = Metric(
    name="gpuscope_gpu_temperature_threshold_headroom_celsius",
    kind=Kind.GAUGE,
    level=Level.GPU,
    extra=("threshold",),
    unit=Unit.CELSIUS,
    help="The same thresholds as T.Limit offsets: the headroom at which each of them acts.",
    tier=Tier.SLOW,
    source="fields 193-196",
    mig=MigBehaviour.PARENT,
    values=(("shutdown", "slowdown", "gpu_max", "mem_max"),),
    low=-150,
    high=150,
    note="An offset, not a temperature: compare it with gpuscope_gpu_temperature_headroom_celsius.",
)
FAN_RATIO = Metric(
    name="gpuscope_gpu_fan_speed_ratio",
    kind=Kind.GAUGE,
    level=Level.GPU,
    extra=("fan",),
    unit=Unit.RATIO,
    help="Fan speed as a share of the fan's maximum.",
    tier=Tier.SLOW,
    source="nvmlDeviceGetFanSpeed_v2",
    smi="fan.speed",
    mig=MigBehaviour.PARENT,
    dcgm=("DEV_FAN_SPEED",),
    dcgm_note="/100",
    high=2,
    note="Absent on SXM modules, which have no fan. May exceed 1.",
)
FAN_RPM = Metric(
    name="gpuscope_gpu_fan_speed_rpm",
    kind=Kind.GAUGE,
    level=Level.GPU,
    extra=("fan",),
    unit=Unit.ROTATIONS_PER_MINUTE,
    help="Fan speed in rotations per minute.",
    tier=Tier.SLOW,
    source="nvmlDeviceGetFanSpeedRPM",
    mig=MigBehaviour.PARENT,
    high=60000,
)

METRICS = (TEMPERATURE, HEADROOM, THRESHOLD, THRESHOLD_HEADROOM, FAN_RATIO, FAN_RPM)

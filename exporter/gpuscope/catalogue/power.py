"""Power, power limits and energy."""

from gpuscope.catalogue.metric import Kind, Level, Metric, MigBehaviour, Tier, Unit

__all__ = ["AVERAGE", "ENERGY", "INSTANT", "LIMIT", "MEMORY", "METRICS", "MODULE", "POWER"]

POWER = Metric(
    name="gpuscope_gpu_power_watts",
    kind=Kind.GAUGE,
    level=Level.GPU,
    unit=Unit.WATTS,
    help="Power drawn by the board.",
    tier=Tier.FAST,
    source="nvmlDeviceGetPowerUsage",
    smi="power.draw",
    mig=MigBehaviour.PARENT,
    dcgm=("DEV_POWER_USAGE",),
    dcgm46=("DEV_BOARD_POWER_WATTS",),
    high=3000,
    note="A mean of 1 s on Ampere and newer, but instantaneous on GA100 (A100, A30) and older. The two metrics that follow say which is which.",
)
INSTANT = Metric(
    name="gpuscope_gpu_power_instant_watts",
    kind=Kind.GAUGE,
    level=Level.GPU,
    unit=Unit.WATTS,
    help="Power drawn by the board at the moment of reading.",
    tier=Tier.FAST,
    source="field 186 POWER_INSTANT, scope GPU",
    smi="power.draw.instant",
    mig=MigBehaviour.PARENT,
    dcgm=("DEV_POWER_USAGE_INSTANT",),
    dcgm46=("DEV_BOARD_POWER_RAW_WATTS",),
    high=3000,
)
AVERAGE = Metric(
    name="gpuscope_gpu_power_average_watts",
    kind=Kind.GAUGE,
    level=Level.GPU,
    unit=Unit.WATTS,
    help="Power drawn by the board, mean of the last second.",
    tier=Tier.FAST,
    source="field 185 POWER_AVERAGE, scope GPU",
    smi="power.draw.average",
    mig=MigBehaviour.PARENT,
    high=3000,
)
MODULE = Metric(
    name="gpuscope_gpu_module_power_watts",
    kind=Kind.GAUGE,
    level=Level.GPU,
    unit=Unit.WATTS,
    help="Power drawn by the module: GPU and CPU together (Grace).",
    tier=Tier.FAST,
    source="field 186 POWER_INSTANT, scope module",
    smi="module.power.draw.instant",
    mig=MigBehaviour.PARENT,
    high=6000,
)
MEMORY = Metric(
    name="gpuscope_gpu_memory_power_watts",
    kind=Kind.GAUGE,
    level=Level.GPU,
    unit=Unit.WATTS,
    help="Power drawn by the GPU's memory.",
    tier=Tier.FAST,
    source="field 186 POWER_INSTANT, scope memory",
    mig=MigBehaviour.PARENT,
    high=3000,
)
LIMIT = Metric(
    name="gpuscope_gpu_power_limit_watts",
    kind=Kind.GAUGE,
    level=Level.GPU,
    extra=("limit",),
    unit=Unit.WATTS,
    help="Power limits: enforced, requested, default, smallest and largest that can be set.",
    tier=Tier.SLOW,
    source="nvmlDeviceGetEnforcedPowerLimit; fields 192, 189, 187, 188",
    smi="enforced.power.limit, power.limit, power.default_limit, power.min_limit, power.max_limit",
    mig=MigBehaviour.PARENT,
    dcgm=(
        "DEV_ENFORCED_POWER_LIMIT",
        "DEV_POWER_MGMT_LIMIT",
        "DEV_POWER_MGMT_LIMIT_DEF",
        "DEV_POWER_MGMT_LIMIT_MIN",
        "DEV_POWER_MGMT_LIMIT_MAX",
    ),
    dcgm46=(
        "DEV_BOARD_POWER_LIMIT_ENFORCED_WATTS",
        "DEV_BOARD_POWER_LIMIT_REQUESTED_WATTS",
        "DEV_BOARD_POWER_LIMIT_DEFAULT_WATTS",
        "DEV_BOARD_POWER_LIMIT_MIN_WATTS",
        "DEV_BOARD_POWER_LIMIT_MAX_WATTS",
    ),
    dcgm_labels=('limit="enforced"', 'limit="requested"', 'limit="default"', 'limit="min"', 'limit="max"'),
    values=(("enforced", "requested", "default", "min", "max"),),
    high=3000,
)
ENERGY = Metric(
    name="gpuscope_gpu_energy_joules_total",
    kind=Kind.COUNTER,
    level=Level.GPU,
    unit=Unit.JOULES,
    help="Energy used since the driver was loaded.",
    tier=Tier.FAST,
    source="nvmlDeviceGetTotalEnergyConsumption",
    mig=MigBehaviour.PARENT,
    dcgm=("DEV_TOTAL_ENERGY_CONSUMPTION",),
    dcgm_note="/1000",
    note="NVML gives no energy or power per MIG instance; any split is an estimate.",
)

METRICS = (POWER, INSTANT, AVERAGE, MODULE, MEMORY, LIMIT, ENERGY)

"""Utilization as the driver averages it.

The driver answers none of it for a GPU in MIG mode, nor for a MIG instance: see the subject activity.
"""

from gpuscope.catalogue.metric import Kind, Level, Metric, MigBehaviour, Tier, Unit

__all__ = ["BUSY", "ENGINE", "MEMORY_CONTROLLER", "METRICS", "UTILIZATION"]

UTILIZATION = Metric(
    name="gpuscope_gpu_utilization_ratio",
    kind=Kind.GAUGE,
    level=Level.GPU,
    unit=Unit.RATIO,
    help="Share of the last sampling window in which at least one kernel ran.",
    tier=Tier.FAST,
    source="nvmlDeviceGetUtilizationRates.gpu",
    smi="utilization.gpu",
    mig=MigBehaviour.BLOCKED,
    dcgm=("DEV_GPU_UTIL",),
    dcgm46=("DEV_GPU_UTIL_RATIO",),
    dcgm_note="/100",
    high=1,
    note="One small kernel that never ends reads 1: it says busy, not well used. The driver averages over 1/6 s to 1 s. It reads high during an ECC scrub.",
)
MEMORY_CONTROLLER = Metric(
    name="gpuscope_gpu_memory_controller_utilization_ratio",
    kind=Kind.GAUGE,
    level=Level.GPU,
    unit=Unit.RATIO,
    help="Share of the last sampling window in which GPU memory was read or written; not how full it is.",
    tier=Tier.FAST,
    source="nvmlDeviceGetUtilizationRates.memory",
    smi="utilization.memory",
    mig=MigBehaviour.BLOCKED,
    dcgm=("DEV_MEM_COPY_UTIL",),
    dcgm_note="/100",
    high=1,
)
ENGINE = Metric(
    name="gpuscope_gpu_engine_utilization_ratio",
    kind=Kind.GAUGE,
    level=Level.GPU,
    extra=("engine",),
    unit=Unit.RATIO,
    help="Share of time in which a video engine was busy.",
    tier=Tier.FAST,
    source="nvmlDeviceGetEncoderUtilization, …DecoderUtilization, …JpgUtilization, …OfaUtilization",
    smi="utilization.encoder, utilization.decoder, utilization.jpeg, utilization.ofa",
    mig=MigBehaviour.BLOCKED,
    dcgm=("DEV_ENC_UTIL", "DEV_DEC_UTIL"),
    dcgm_labels=('engine="encoder"', 'engine="decoder"'),
    dcgm_note="/100",
    values=(("encoder", "decoder", "jpeg", "ofa"),),
    high=1,
)
BUSY = Metric(
    name="gpuscope_gpu_busy_seconds_total",
    kind=Kind.COUNTER,
    level=Level.GPU,
    unit=Unit.SECONDS,
    help="Time in which at least one kernel ran, integrated over the driver's own samples.",
    tier=Tier.FAST,
    source="nvmlDeviceGetSamples(GPU_UTILIZATION)",
    mig=MigBehaviour.BLOCKED,
    note="rate() gives the mean utilization of any range. Time that the driver did not sample counts as nothing.",
)

METRICS = (UTILIZATION, MEMORY_CONTROLLER, ENGINE, BUSY)

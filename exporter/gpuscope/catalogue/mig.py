"""MIG instances: what they are, and what NVML can tell of them."""

from gpuscope.catalogue.metric import Kind, Level, Metric, MigBehaviour, Tier

__all__ = [
    "ENGINES",
    "METRICS",
    "MIG_INFO",
    "MODE_ENABLED",
    "MODE_PENDING",
    "MULTIPROCESSORS",
    "SLICES",
    "UTILIZATION_SUPPORTED",
]

MIG_INFO = Metric(
    name="gpuscope_mig_info",
    kind=Kind.INFO,
    level=Level.MIG,
    extra=("ci", "mig_index"),
    help="Constant facts of a MIG instance, to be joined on mig_uuid.",
    tier=Tier.STATIC,
    source="nvmlDeviceGetMigDeviceHandleByIndex, …GpuInstanceId, …ComputeInstanceId, …UUID; the profile comes from the device name",
    mig=MigBehaviour.INSTANCE,
)
MODE_ENABLED = Metric(
    name="gpuscope_gpu_mig_mode_enabled",
    kind=Kind.GAUGE,
    level=Level.GPU,
    help="1 while MIG mode is on.",
    tier=Tier.SLOW,
    source="nvmlDeviceGetMigMode",
    smi="mig.mode.current",
    mig=MigBehaviour.PARENT,
    dcgm=("DEV_MIG_MODE",),
    high=1,
)
MODE_PENDING = Metric(
    name="gpuscope_gpu_mig_mode_pending",
    kind=Kind.GAUGE,
    level=Level.GPU,
    help="1 when MIG mode will be on after the next GPU reset.",
    tier=Tier.SLOW,
    source="nvmlDeviceGetMigMode",
    smi="mig.mode.pending",
    mig=MigBehaviour.PARENT,
    high=1,
)
UTILIZATION_SUPPORTED = Metric(
    name="gpuscope_gpu_mig_utilization_supported",
    kind=Kind.GAUGE,
    level=Level.GPU,
    help="1 when the GPU can tell the activity of its MIG instances (GPM, Hopper and newer). Present only while MIG is on.",
    tier=Tier.SLOW,
    source="nvmlGpmQueryDeviceSupport",
    mig=MigBehaviour.PARENT,
    high=1,
    note="A100 and A30 have no MIG utilization in NVML. Only DCGM profiling gives it there, as root with SYS_ADMIN.",
)
MULTIPROCESSORS = Metric(
    name="gpuscope_mig_multiprocessors",
    kind=Kind.GAUGE,
    level=Level.MIG,
    help="Streaming multiprocessors of the instance.",
    tier=Tier.STATIC,
    source="nvmlDeviceGetAttributes_v2",
    mig=MigBehaviour.INSTANCE,
    high=4096,
)
SLICES = Metric(
    name="gpuscope_mig_slices",
    kind=Kind.GAUGE,
    level=Level.MIG,
    extra=("kind",),
    help="Slices of the instance: gi, those of its GPU instance, and ci, those of its compute instance.",
    tier=Tier.STATIC,
    source="nvmlDeviceGetAttributes_v2",
    mig=MigBehaviour.INSTANCE,
    values=(("gi", "ci"),),
    high=16,
)
ENGINES = Metric(
    name="gpuscope_mig_engines",
    kind=Kind.GAUGE,
    level=Level.MIG,
    extra=("engine",),
    help="Engines that the instance owns or shares, by kind.",
    tier=Tier.STATIC,
    source="nvmlDeviceGetAttributes_v2",
    mig=MigBehaviour.INSTANCE,
    values=(("copy", "decoder", "encoder", "jpeg", "ofa"),),
    high=256,
)

METRICS = (MIG_INFO, MODE_ENABLED, MODE_PENDING, UTILIZATION_SUPPORTED, MULTIPROCESSORS, SLICES, ENGINES)

"""Activity of the video engines by GPM."""

from gpuscope.catalogue.metric import Kind, Level, Metric, MigBehaviour, Tier, Unit

__all__ = ["ENGINE_RATIO", "METRICS"]

ENGINE_RATIO = Metric(
    name="gpuscope_gpu_engine_active_ratio",
    kind=Kind.GAUGE,
    level=Level.GPU,
    extra=("engine", "instance"),
    unit=Unit.RATIO,
    help="Share of time in which one video engine instance was active, in the last window.",
    tier=Tier.ACTIVITY,
    source="nvmlGpmSampleGet, GPM metrics 30-37, 40-47, 50-51, 166-169",
    mig=MigBehaviour.PARENT,
    dcgm=("PROF_NVDEC0_ACTIVE", "PROF_NVJPG0_ACTIVE", "PROF_NVOFA0_ACTIVE"),
    high=1,
    note="NVML gives no engine activity per MIG slice.",
)

METRICS = (ENGINE_RATIO,)

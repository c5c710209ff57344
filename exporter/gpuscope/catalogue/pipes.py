"""Activity of the arithmetic pipes by GPM."""

from gpuscope.catalogue.metric import Kind, Level, Metric, MigBehaviour, Tier, Unit

__all__ = ["METRICS", "MIG_PIPE_RATIO", "MIG_PIPE_SECONDS", "PIPE_RATIO", "PIPE_SECONDS"]

PIPE_RATIO = Metric(
    name="gpuscope_gpu_pipe_active_ratio",
    kind=Kind.GAUGE,
    level=Level.GPU,
    extra=("pipe",),
    unit=Unit.RATIO,
    help="Share of cycles in which an arithmetic pipe was active, in the last window.",
    tier=Tier.ACTIVITY,
    source="nvmlGpmSampleGet, GPM metrics 4, 6-9, 11-13",
    mig=MigBehaviour.PARENT,
    dcgm=(
        "PROF_PIPE_FP64_ACTIVE",
        "PROF_PIPE_FP32_ACTIVE",
        "PROF_PIPE_FP16_ACTIVE",
        "PROF_PIPE_INT_ACTIVE",
        "PROF_PIPE_TENSOR_IMMA_ACTIVE",
        "PROF_PIPE_TENSOR_HMMA_ACTIVE",
        "PROF_PIPE_TENSOR_DFMA_ACTIVE",
    ),
    high=1,
    note="Weighted by clock cycles: a change of clocks shifts it. High SM activity is not the same as efficiency.",
)
PIPE_SECONDS = Metric(
    name="gpuscope_gpu_pipe_active_seconds_total",
    kind=Kind.COUNTER,
    level=Level.GPU,
    extra=("pipe",),
    unit=Unit.SECONDS,
    help="Share of cycles in which an arithmetic pipe was active, integrated over contiguous windows.",
    tier=Tier.ACTIVITY,
    source="Σ GPM metric × window",
    mig=MigBehaviour.PARENT,
)
MIG_PIPE_RATIO = Metric(
    name="gpuscope_mig_pipe_active_ratio",
    kind=Kind.GAUGE,
    level=Level.MIG,
    extra=("pipe",),
    unit=Unit.RATIO,
    help="Share of cycles in which an arithmetic pipe was active, in the last window.",
    tier=Tier.ACTIVITY,
    source="nvmlGpmMigSampleGet (GPU instance) or nvmlGpmSampleGet (compute instance), GPM metrics 4, 6-9, 11-13",
    mig=MigBehaviour.INSTANCE,
    dcgm=(
        "PROF_PIPE_FP64_ACTIVE",
        "PROF_PIPE_FP32_ACTIVE",
        "PROF_PIPE_FP16_ACTIVE",
        "PROF_PIPE_INT_ACTIVE",
        "PROF_PIPE_TENSOR_IMMA_ACTIVE",
        "PROF_PIPE_TENSOR_HMMA_ACTIVE",
        "PROF_PIPE_TENSOR_DFMA_ACTIVE",
    ),
    high=1,
    note="Weighted by clock cycles: a change of clocks shifts it. High SM activity is not the same as efficiency.",
)
MIG_PIPE_SECONDS = Metric(
    name="gpuscope_mig_pipe_active_seconds_total",
    kind=Kind.COUNTER,
    level=Level.MIG,
    extra=("pipe",),
    unit=Unit.SECONDS,
    help="Share of cycles in which an arithmetic pipe was active, integrated over contiguous windows.",
    tier=Tier.ACTIVITY,
    source="Σ GPM metric × window",
    mig=MigBehaviour.INSTANCE,
)

METRICS = (PIPE_RATIO, PIPE_SECONDS, MIG_PIPE_RATIO, MIG_PIPE_SECONDS)

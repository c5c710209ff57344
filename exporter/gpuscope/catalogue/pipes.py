"""Activity of the arithmetic pipes by GPM.

Hopper and newer.
"""

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
    dcgm46=(
        "PROF_FP64_UTIL_RATIO",
        "PROF_FP32_UTIL_RATIO",
        "PROF_FP16_UTIL_RATIO",
        "PROF_INT_UTIL_RATIO",
        "PROF_IMMA_UTIL_RATIO",
        "PROF_HMMA_UTIL_RATIO",
        "PROF_DFMA_UTIL_RATIO",
    ),
    dcgm_labels=(
        'pipe="fp64"',
        'pipe="fp32"',
        'pipe="fp16"',
        'pipe="int"',
        'pipe="tensor_imma"',
        'pipe="tensor_hmma"',
        'pipe="tensor_dfma"',
    ),
    values=(("int", "fp64", "fp32", "fp16", "tensor_dfma", "tensor_hmma", "tensor_dmma", "tensor_imma"),),
    high=1,
    default=False,
    note="Weighted by clock cycles: a change of clocks shifts it.",
)
PIPE_SECONDS = Metric(
    name="gpuscope_gpu_pipe_active_seconds_total",
    kind=Kind.COUNTER,
    level=Level.GPU,
    extra=("pipe",),
    unit=Unit.SECONDS,
    help="Seconds of activity of an arithmetic pipe: the active share of each window times its length, summed up.",
    tier=Tier.ACTIVITY,
    source="Σ GPM metric × window",
    mig=MigBehaviour.PARENT,
    values=(("int", "fp64", "fp32", "fp16", "tensor_dfma", "tensor_hmma", "tensor_dmma", "tensor_imma"),),
    default=False,
    note="rate() gives the exact mean of any range, also when scrapes were missed.",
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
    dcgm46=(
        "PROF_FP64_UTIL_RATIO",
        "PROF_FP32_UTIL_RATIO",
        "PROF_FP16_UTIL_RATIO",
        "PROF_INT_UTIL_RATIO",
        "PROF_IMMA_UTIL_RATIO",
        "PROF_HMMA_UTIL_RATIO",
        "PROF_DFMA_UTIL_RATIO",
    ),
    dcgm_labels=(
        'pipe="fp64"',
        'pipe="fp32"',
        'pipe="fp16"',
        'pipe="int"',
        'pipe="tensor_imma"',
        'pipe="tensor_hmma"',
        'pipe="tensor_dfma"',
    ),
    values=(("int", "fp64", "fp32", "fp16", "tensor_dfma", "tensor_hmma", "tensor_dmma", "tensor_imma"),),
    high=1,
    default=False,
    note="Weighted by clock cycles: a change of clocks shifts it.",
)
MIG_PIPE_SECONDS = Metric(
    name="gpuscope_mig_pipe_active_seconds_total",
    kind=Kind.COUNTER,
    level=Level.MIG,
    extra=("pipe",),
    unit=Unit.SECONDS,
    help="Seconds of activity of an arithmetic pipe: the active share of each window times its length, summed up.",
    tier=Tier.ACTIVITY,
    source="Σ GPM metric × window",
    mig=MigBehaviour.INSTANCE,
    values=(("int", "fp64", "fp32", "fp16", "tensor_dfma", "tensor_hmma", "tensor_dmma", "tensor_imma"),),
    default=False,
    note="rate() gives the exact mean of any range, also when scrapes were missed.",
)

METRICS = (PIPE_RATIO, PIPE_SECONDS, MIG_PIPE_RATIO, MIG_PIPE_SECONDS)

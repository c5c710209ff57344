"""Cycle counters that the GPU keeps itself, by GPM."""

from gpuscope.catalogue.metric import Kind, Level, Metric, MigBehaviour, Tier

__all__ = ["METRICS", "MIG_PIPE_CYCLES", "MIG_SM_CYCLES", "PIPE_CYCLES", "SM_CYCLES"]

SM_CYCLES = Metric(
    name="gpuscope_gpu_sm_cycles_total",
    kind=Kind.COUNTER,
    level=Level.GPU,
    extra=("state",),
    help="Multiprocessor cycles since the GPU was reset, elapsed and active.",
    tier=Tier.ACTIVITY,
    source="nvmlGpmSampleGet, GPM metrics 248, 249",
    mig=MigBehaviour.PARENT,
    dcgm46=("PROF_SM_CYCLES_ELAPSED_TOTAL", "PROF_SM_CYCLES_ACTIVE_TOTAL"),
    note="Driver 595 and newer.",
)
PIPE_CYCLES = Metric(
    name="gpuscope_gpu_pipe_cycles_total",
    kind=Kind.COUNTER,
    level=Level.GPU,
    extra=("pipe",),
    help="Active cycles of an arithmetic pipe since the GPU was reset.",
    tier=Tier.ACTIVITY,
    source="nvmlGpmSampleGet, GPM metrics 250-254, 257-260",
    mig=MigBehaviour.PARENT,
    note="Driver 595 and newer.",
)
MIG_SM_CYCLES = Metric(
    name="gpuscope_mig_sm_cycles_total",
    kind=Kind.COUNTER,
    level=Level.MIG,
    extra=("state",),
    help="Multiprocessor cycles since the GPU was reset, elapsed and active.",
    tier=Tier.ACTIVITY,
    source="nvmlGpmMigSampleGet (GPU instance) or nvmlGpmSampleGet (compute instance), GPM metrics 248, 249",
    mig=MigBehaviour.INSTANCE,
    dcgm46=("PROF_SM_CYCLES_ELAPSED_TOTAL", "PROF_SM_CYCLES_ACTIVE_TOTAL"),
    note="Driver 595 and newer.",
)
MIG_PIPE_CYCLES = Metric(
    name="gpuscope_mig_pipe_cycles_total",
    kind=Kind.COUNTER,
    level=Level.MIG,
    extra=("pipe",),
    help="Active cycles of an arithmetic pipe since the GPU was reset.",
    tier=Tier.ACTIVITY,
    source="nvmlGpmMigSampleGet (GPU instance) or nvmlGpmSampleGet (compute instance), GPM metrics 250-254, 257-260",
    mig=MigBehaviour.INSTANCE,
    note="Driver 595 and newer.",
)

METRICS = (SM_CYCLES, PIPE_CYCLES, MIG_SM_CYCLES, MIG_PIPE_CYCLES)

"""Cycle counters that the GPU keeps itself, by GPM.

Hopper and newer, with driver 595 and newer.
"""

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
    dcgm_labels=('state="elapsed"', 'state="active"'),
    values=(("elapsed", "active"),),
    default=False,
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
    dcgm46=(
        "PROF_MMA_CYCLES_ACTIVE_TOTAL",
        "PROF_DFMA_CYCLES_ACTIVE_TOTAL",
        "PROF_HMMA_CYCLES_ACTIVE_TOTAL",
        "PROF_DMMA_CYCLES_ACTIVE_TOTAL",
        "PROF_IMMA_CYCLES_ACTIVE_TOTAL",
        "PROF_INT_CYCLES_ACTIVE_TOTAL",
        "PROF_FP64_CYCLES_ACTIVE_TOTAL",
        "PROF_FP32_CYCLES_ACTIVE_TOTAL",
        "PROF_FP16_CYCLES_ACTIVE_TOTAL",
    ),
    dcgm_labels=(
        'pipe="tensor"',
        'pipe="tensor_dfma"',
        'pipe="tensor_hmma"',
        'pipe="tensor_dmma"',
        'pipe="tensor_imma"',
        'pipe="int"',
        'pipe="fp64"',
        'pipe="fp32"',
        'pipe="fp16"',
    ),
    values=(("tensor", "tensor_dfma", "tensor_hmma", "tensor_dmma", "tensor_imma", "int", "fp64", "fp32", "fp16"),),
    default=False,
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
    dcgm_labels=('state="elapsed"', 'state="active"'),
    values=(("elapsed", "active"),),
    default=False,
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
    dcgm46=(
        "PROF_MMA_CYCLES_ACTIVE_TOTAL",
        "PROF_DFMA_CYCLES_ACTIVE_TOTAL",
        "PROF_HMMA_CYCLES_ACTIVE_TOTAL",
        "PROF_DMMA_CYCLES_ACTIVE_TOTAL",
        "PROF_IMMA_CYCLES_ACTIVE_TOTAL",
        "PROF_INT_CYCLES_ACTIVE_TOTAL",
        "PROF_FP64_CYCLES_ACTIVE_TOTAL",
        "PROF_FP32_CYCLES_ACTIVE_TOTAL",
        "PROF_FP16_CYCLES_ACTIVE_TOTAL",
    ),
    dcgm_labels=(
        'pipe="tensor"',
        'pipe="tensor_dfma"',
        'pipe="tensor_hmma"',
        'pipe="tensor_dmma"',
        'pipe="tensor_imma"',
        'pipe="int"',
        'pipe="fp64"',
        'pipe="fp32"',
        'pipe="fp16"',
    ),
    values=(("tensor", "tensor_dfma", "tensor_hmma", "tensor_dmma", "tensor_imma", "int", "fp64", "fp32", "fp16"),),
    default=False,
    note="Driver 595 and newer.",
)

METRICS = (SM_CYCLES, PIPE_CYCLES, MIG_SM_CYCLES, MIG_PIPE_CYCLES)

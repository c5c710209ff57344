"""Activity of each video engine by GPM.

Hopper and newer.
"""

from gpuscope.catalogue.metric import Kind, Level, Metric, MigBehaviour, Tier, Unit

__all__ = ["ENGINE_RATIO", "METRICS"]

_DCGM = [(engine, number) for engine, count in (("nvdec", 8), ("nvjpg", 8), ("nvofa", 2)) for number in range(count)]

ENGINE_RATIO = Metric(
    name="gpuscope_gpu_engine_active_ratio",
    kind=Kind.GAUGE,
    level=Level.GPU,
    extra=("engine", "number"),
    unit=Unit.RATIO,
    help="Share of time in which one video engine was active, in the last window.",
    tier=Tier.ACTIVITY,
    source="nvmlGpmSampleGet, GPM metrics 30-37, 40-47, 50-51, 166-169",
    mig=MigBehaviour.PARENT,
    dcgm=tuple(f"PROF_{engine.upper()}{number}_ACTIVE" for engine, number in _DCGM),
    dcgm46=tuple(f"PROF_{engine.upper()}_UTIL_{number}_RATIO" for engine, number in _DCGM),
    dcgm_labels=tuple(f'engine="{engine}",number="{number}"' for engine, number in _DCGM),
    values=(("nvdec", "nvjpg", "nvofa", "nvenc"), ()),
    high=1,
    default=False,
    note="NVML gives no engine activity per MIG slice.",
)

METRICS = (ENGINE_RATIO,)

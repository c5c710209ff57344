"""What follows from what sources tell of a GPU: its health, its idleness, and what its instances add up to."""

from __future__ import annotations

from gpuscope.catalogue import activity, attribution, memory, scheduler
from gpuscope.catalogue.metric import Metric
from gpuscope_generator.normalized import gpu, mig, node
from gpuscope_generator.promql import (
    Gauge,
    Matcher,
    Vector,
    as_gauge,
    first_of,
    group_by,
    max_by,
    on,
    select,
    sum_by,
)
from gpuscope_generator.rules.model import Group, Recording, RuleFile, recording
from gpuscope_generator.rules.sources.agent import Agent
from gpuscope_generator.rules.sources.canonical import canonical, of_source
from gpuscope_generator.rules.sources.dcgm_reading import WHOLE, Dcgm
from gpuscope_generator.settings import Settings

__all__ = ["COMPUTE_SLICES", "IS_A30", "SLICES_OF_A30", "device_rules"]

COMPUTE_SLICES = 7
"""Compute slices of a GPU in MIG mode."""
SLICES_OF_A30 = 4
IS_A30 = Matcher("model", "=~", ".*A30.*")
_WHERE = ("cluster", "uuid")


def device_rules(settings: Settings) -> RuleFile:
    """Rules about GPUs that take several sources, or several series, together."""
    rules = (
        _healthy(),
        *_from_instances(settings),
        _allocated(settings),
        _idle(settings),
        _scheduled(settings),
    )
    return RuleFile(
        path="recording/devices.yaml",
        comment="What follows from normalized series of a GPU and of its MIG instances: health, idleness, and for a "
        "GPU in MIG mode the sum over its instances, weighted by their slices.",
        groups=(Group("gpuscope-normalize-devices", settings.intervals.normalize, rules),),
    )


def _healthy() -> Recording:
    asked = select(gpu.RECOVERY_ACTION, Matcher("action", "!=", "none"))
    troubled = first_of(
        *(
            max_by(sign, *gpu.GPU).compare("==", 1)
            for sign in (
                asked,
                select(gpu.REMAPPING_PENDING),
                select(gpu.REMAPPING_FAILED),
                select(gpu.FAULT),
            )
        )
    )
    up = select(gpu.UP)
    return recording(gpu.HEALTHY, up.unless(troubled, on=_WHERE).or_(up * 0))


def _weighted(value: Gauge) -> Vector:
    """Sum over the instances of a GPU, each counted by its slices, over the slices of the GPU."""
    total = sum_by(on(select(value), "*", select(mig.SLICES), mig.MIG), *gpu.GPU)
    of_a30 = total.and_(select(gpu.INFO, IS_A30), on=_WHERE) / SLICES_OF_A30
    return of_a30.or_(total / COMPUTE_SLICES)


def _otherwise(value: Vector, metric: Metric, settings: Settings) -> Vector:
    """Only of GPUs of which no source tells this as a whole."""
    agent = Agent(settings)
    told = Dcgm(settings, agent).reading(metric, only=WHOLE)
    return agent.yields(value, metric).unless(told, on=_WHERE)


def _from_instances(settings: Settings) -> tuple[Recording, ...]:
    agent = Agent(settings)
    compute = _otherwise(_weighted(mig.COMPUTE_ACTIVE), activity.GRAPHICS_RATIO, settings)
    from_agent = compute.and_(agent.knows(activity.MIG_GRAPHICS_RATIO), on=_WHERE)
    from_dcgm = agent.yields(compute, activity.MIG_GRAPHICS_RATIO)
    by_slices = (
        (gpu.SM_ACTIVE, mig.SM_ACTIVE, activity.SM_RATIO),
        (gpu.OCCUPANCY, mig.OCCUPANCY, activity.OCCUPANCY_RATIO),
        (gpu.TENSOR_ACTIVE, mig.TENSOR_ACTIVE, activity.TENSOR_RATIO),
        (gpu.DRAM_ACTIVE, mig.DRAM_ACTIVE, activity.DRAM_RATIO),
    )
    # Partitions of AMD may share one memory: what they have does not add up.
    separate = select(gpu.INFO, vendor="nvidia")
    summed = ((gpu.MEMORY_USED, mig.MEMORY_USED), (gpu.MEMORY_TOTAL, mig.MEMORY_TOTAL))
    return (
        recording(gpu.COMPUTE_ACTIVE, compute),
        recording(gpu.COMPUTE_SOURCE, group_by(from_agent, *gpu.GPU), source="gpuscope", method="mig"),
        recording(gpu.COMPUTE_SOURCE, group_by(from_dcgm, *gpu.GPU), source="dcgm", method="mig"),
        *(recording(target, _otherwise(_weighted(value), metric, settings)) for target, value, metric in by_slices),
        *(
            recording(
                target,
                _otherwise(sum_by(select(value), *gpu.GPU).and_(separate, on=_WHERE), memory.USED, settings),
            )
            for target, value in summed
        ),
    )


def _allocated(settings: Settings) -> Recording:
    agent = Agent(settings)
    whole = Dcgm(settings, agent).presence(partitioned=False)
    held = agent.yields(_weighted(mig.ALLOCATED), attribution.ALLOCATIONS, mig_uuid="")
    return recording(gpu.ALLOCATED, held.unless(whole, on=_WHERE))


def _idle(settings: Settings) -> Recording:
    """Of a GPU that nobody holds it is 0: it is free, and not idle."""
    quiet = select(gpu.COMPUTE_ACTIVE).compare("<", settings.thresholds.idle_ratio, as_bool=True)
    held = select(gpu.ALLOCATED).compare(">", 0, as_bool=True)
    return recording(gpu.IDLE, on(quiet, "*", held, gpu.GPU))


def _scheduled(settings: Settings) -> Recording:
    """GPUs that a scheduler gave out, as our collector asks it: the word of last resort on who is allocated."""
    given = of_source(as_gauge(scheduler.NODE_GPUS), settings, "collector", Matcher("kind", "=", "allocated"))
    named = canonical(given, settings, node_from=("exported_node",))
    return recording(node.GPUS, max_by(named, *node.NODE), state="scheduled")

"""MIG instances from our own agent, and the facts about them that any source needs."""

from __future__ import annotations

from gpuscope.catalogue import attribution, inventory, memory, mig
from gpuscope.catalogue.metric import Metric
from gpuscope_generator.normalized import gpu
from gpuscope_generator.normalized import mig as instances
from gpuscope_generator.promql import Matcher, Vector, avg_by, group_by, join, max_by, on, sum_by
from gpuscope_generator.rules.model import Recording, recording
from gpuscope_generator.rules.sources.agent import Agent
from gpuscope_generator.rules.sources.ownership import owners
from gpuscope_generator.rules.sources.readings import INSTANCE_READINGS

__all__ = ["native_instances"]

_DEVICE = (*instances.MIG, "mig_uuid")
"""A compute instance: several of one profile in one GPU instance are one row of ours."""
_IN_INSTANCE = Matcher("mig_uuid", "!=", "")
_WHERE = ("cluster", "node", "uuid", "mig_uuid")


def native_instances(agent: Agent) -> tuple[Recording, ...]:
    """Rules for MIG instances.

    Compute instances that carry one identity have one profile, thus one size: the mean of their activities is their
    activity, and the sum of their slices is what they hold.
    """

    def once(metric: Metric, **equal: str) -> Vector:
        return max_by(agent.named(agent.raw(metric, **equal)), *_DEVICE)

    def summed(metric: Metric) -> Vector:
        return sum_by(once(metric), *instances.MIG)

    info = agent.named(agent.raw(mig.MIG_INFO))
    models = max_by(agent.named(agent.raw(inventory.GPU_INFO)), *gpu.GPU, "model")
    with_model = join(group_by(info, *_DEVICE), models, on=gpu.GPU, take=("model",))
    total = on(summed(memory.MIG_TOTAL), "-", summed(memory.MIG_RESERVED), instances.MIG)
    return (
        recording(instances.INFO, with_model),
        recording(instances.SLICES, sum_by(once(mig.SLICES, kind="ci"), *instances.MIG)),
        *(recording(reading.target, avg_by(once(reading.metric), *instances.MIG)) for reading in INSTANCE_READINGS),
        recording(instances.MEMORY_USED, summed(memory.MIG_USED)),
        recording(instances.MEMORY_TOTAL, total),
        *_held(agent, info),
    )


def _held(agent: Agent, info: Vector) -> tuple[Recording, ...]:
    def placed(held: Vector, *extra: str) -> Vector:
        once = max_by(held, *gpu.GPU, "mig_uuid", *extra)
        return max_by(join(once, info, on=_WHERE, take=("gi", "profile")), *instances.MIG, *extra)

    shares = placed(agent.named(agent.raw(attribution.ALLOCATIONS, _IN_INSTANCE)))
    pods = placed(agent.of_pods(attribution.POD_ALLOCATION, _IN_INSTANCE), "namespace", "pod")
    jobs = placed(agent.named(agent.raw(attribution.JOB_ALLOCATION, _IN_INSTANCE)), "job_id")
    return (
        recording(instances.ALLOCATED, shares.compare(">", 0, as_bool=True)),
        recording(instances.OWNER, owners(pods, jobs, agent.settings, instances.MIG)),
    )

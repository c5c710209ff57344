"""MIG instances from dcgm-exporter, which knows them by number and profile, and not by their UUID."""

from __future__ import annotations

from gpuscope.catalogue import attribution, memory, mig
from gpuscope.catalogue.metric import Metric
from gpuscope_generator.external.dcgm import BLANK_INT32, divisor, fields
from gpuscope_generator.normalized import mig as instances
from gpuscope_generator.normalized import source
from gpuscope_generator.promql import Matcher, Vector, first_of, group_by, max_by, max_over_time, on, select
from gpuscope_generator.rules.model import Recording, recording
from gpuscope_generator.rules.sources.dcgm_reading import INSTANCE, SOURCE, Dcgm
from gpuscope_generator.rules.sources.labels import first_label, labelled
from gpuscope_generator.rules.sources.ownership import owners
from gpuscope_generator.rules.sources.readings import INSTANCE_READINGS

__all__ = ["dcgm_instances"]

SLICES = (1, 2, 3, 4, 7)
"""Compute slices that a profile can have; its name begins with them: ``3g.40gb``, or ``1c.3g.40gb``."""


def dcgm_instances(dcgm: Dcgm) -> tuple[Recording, ...]:
    """Rules for MIG instances, of GPUs of which our agent tells none."""
    used = _value(dcgm, memory.MIG_USED)
    free = _value(dcgm, memory.MIG_FREE)
    seen = _placed(dcgm.agent.yields(dcgm.presence(INSTANCE), mig.MIG_INFO))
    slices = first_of(
        *(
            group_by(_placed(dcgm.presence(INSTANCE, Matcher("GPU_I_PROFILE", "=~", f"{n}[cg][.].*"))), *instances.MIG)
            * n
            for n in SLICES
        )
    )
    return (
        recording(instances.INFO, group_by(labelled(seen, mig_uuid=""), *instances.MIG, "mig_uuid", "model")),
        recording(instances.SLICES, dcgm.agent.yields(slices, mig.SLICES)),
        *(
            recording(reading.target, dcgm.agent.yields(_value(dcgm, reading.metric), reading.metric))
            for reading in INSTANCE_READINGS
        ),
        recording(instances.MEMORY_USED, dcgm.agent.yields(used, memory.MIG_USED)),
        recording(instances.MEMORY_TOTAL, dcgm.agent.yields(on(used, "+", free, instances.MIG), memory.MIG_TOTAL)),
        *_owners(dcgm),
    )


def _placed(vector: Vector) -> Vector:
    return first_label(first_label(vector, "gi", "GPU_I_ID"), "profile", "GPU_I_PROFILE")


def _value(dcgm: Dcgm, metric: Metric) -> Vector:
    raw = (dcgm.level(series, BLANK_INT32, INSTANCE) for field in fields(metric) for series in field.series)
    value = max_by(_placed(dcgm.named(first_of(*raw))), *instances.MIG)
    by = divisor(metric)
    return value * round(1 / by) if by < 1 else value


def _owners(dcgm: Dcgm) -> tuple[Recording, ...]:
    agent = dcgm.agent
    identity = instances.MIG
    pods = agent.yields(_placed(dcgm.pods(INSTANCE)), attribution.ALLOCATIONS)
    jobs = agent.yields(_placed(dcgm.jobs(INSTANCE)), attribution.ALLOCATIONS)
    seen = group_by(agent.yields(_placed(dcgm.presence(INSTANCE)), attribution.ALLOCATIONS), *identity)
    attributed = max_over_time(select(source.ATTRIBUTES, source=SOURCE), "1h")
    held = seen.and_(select(instances.OWNER), on=identity)
    return (
        recording(instances.OWNER, owners(pods, jobs, dcgm.settings, identity)),
        recording(instances.ALLOCATED, held.or_((seen * 0).and_(attributed, on=("cluster",)))),
    )

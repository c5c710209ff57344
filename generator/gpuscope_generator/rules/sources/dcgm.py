"""dcgm-exporter: units, labels, blanks, and copies of a shared GPU, all turned into ours."""

from __future__ import annotations

from gpuscope.catalogue import (
    activity,
    attribution,
    inventory,
    memory,
    mig,
    nvlink,
    nvlink_links,
    pcie,
    recovery,
    remapping,
    temperature,
    utilization,
)
from gpuscope.catalogue.metric import Metric
from gpuscope_generator.external.dcgm import BLANK, fields
from gpuscope_generator.normalized import gpu, source
from gpuscope_generator.promql import Vector, first_of, group_by, max_by, max_over_time, on, select, sum_by
from gpuscope_generator.rules.model import Recording, RuleFile, beside_each_other, recording
from gpuscope_generator.rules.sources.agent import Agent
from gpuscope_generator.rules.sources.dcgm_events import dcgm_events
from gpuscope_generator.rules.sources.dcgm_mig import dcgm_instances
from gpuscope_generator.rules.sources.dcgm_reading import SOURCE, WHOLE, Dcgm
from gpuscope_generator.rules.sources.labels import labelled
from gpuscope_generator.rules.sources.ownership import owners
from gpuscope_generator.rules.sources.readings import PARTITIONED_READINGS, READINGS
from gpuscope_generator.settings import Settings

__all__ = ["dcgm_rules"]

ATTRIBUTION_MEMORY = "1h"
"""How long a cluster of which nothing is held any more still counts as one whose owners are known."""


def dcgm_rules(settings: Settings) -> RuleFile:
    """Rules that make normalized series of what dcgm-exporter publishes, except where our agent tells the same."""
    agent = Agent(settings)
    dcgm = Dcgm(settings, agent)
    states = (
        *_state(dcgm),
        *(
            recording(reading.target, dcgm.reading(reading.metric, *reading.extra, equal=dict(reading.equal)))
            for reading in READINGS
        ),
        *(
            recording(reading.target, dcgm.reading(reading.metric, equal=dict(reading.equal), only=WHOLE))
            for reading in PARTITIONED_READINGS
        ),
        *_computed(dcgm),
    )
    parts = {
        "": states,
        "-events": (*_traffic(dcgm), *dcgm_events(dcgm)),
        "-owners": _owners(dcgm),
        "-instances": dcgm_instances(dcgm),
    }
    return RuleFile(
        path="recording/dcgm.yaml",
        comment="From dcgm-exporter, with field names before and since DCGM 4.6, to normalized series of GPUs and "
        "MIG instances. Where the gpuscope agent tells the same of a GPU, it counts and this does not.",
        groups=beside_each_other("gpuscope-normalize-dcgm", settings.intervals.normalize, parts),
    )


def _state(dcgm: Dcgm) -> tuple[Recording, ...]:
    agent = dcgm.agent
    seen = dcgm.presence()
    mode = dcgm.reading(mig.MODE_ENABLED)
    split = agent.yields(dcgm.presence(partitioned=True), mig.MODE_ENABLED)
    # The driver answers no utilization of a GPU in MIG mode: where there is one, the mode is off.
    answered = dcgm.reading(utilization.UTILIZATION, only=WHOLE, yields_to=(mig.MODE_ENABLED,)) * 0
    return (
        recording(gpu.INFO, group_by(agent.yields(seen, inventory.GPU_INFO), *gpu.GPU, "model"), vendor="nvidia"),
        recording(gpu.UP, group_by(agent.yields(seen, inventory.GPU_UP), *gpu.GPU)),
        recording(gpu.MIG_MODE, first_of(mode, group_by(split, *gpu.GPU), answered)),
        recording(gpu.FAULT, dcgm.reading(remapping.UNREPAIRABLE), fault="memory_unrepairable"),
        recording(gpu.RECOVERY_ACTION, _actions(dcgm)),
    )


def _actions(dcgm: Dcgm) -> Vector:
    code = dcgm.reading(recovery.RECOVERY_ACTION, yields_to=())
    actions = recovery.RECOVERY_ACTION.states
    each = (labelled(code.compare("==", number, as_bool=True), action=action) for number, action in enumerate(actions))
    return dcgm.agent.yields(first_of(*each), recovery.RECOVERY_ACTION)


def _computed(dcgm: Dcgm) -> tuple[Recording, ...]:
    agent = dcgm.agent
    told = (activity.GRAPHICS_RATIO, utilization.UTILIZATION)
    engine = dcgm.reading(activity.GRAPHICS_RATIO, only=WHOLE, yields_to=told)
    busy = dcgm.reading(utilization.UTILIZATION, only=WHOLE, yields_to=told).unless(engine)
    used = dcgm.reading(memory.USED, only=WHOLE, yields_to=(memory.TOTAL,))
    free = dcgm.reading(memory.FREE, only=WHOLE, yields_to=(memory.TOTAL,))
    margin = dcgm.reading(temperature.HEADROOM)
    slowdown = dcgm.reading(
        temperature.THRESHOLD, equal={"threshold": "slowdown"}, yields_to=(temperature.HEADROOM, temperature.THRESHOLD)
    )
    now = dcgm.reading(temperature.TEMPERATURE, equal={"sensor": "gpu"}, yields_to=(temperature.HEADROOM,))
    return (
        recording(gpu.COMPUTE_ACTIVE, first_of(engine, busy)),
        recording(gpu.COMPUTE_SOURCE, group_by(engine, *gpu.GPU), source=SOURCE, method="engine"),
        recording(gpu.COMPUTE_SOURCE, group_by(busy, *gpu.GPU), source=SOURCE, method="utilization"),
        # FB_TOTAL is in no default CSV file; used and free are the total without what the driver reserves.
        recording(gpu.MEMORY_TOTAL, on(used, "+", free, gpu.GPU)),
        recording(gpu.HEADROOM, first_of(margin, agent.yields(on(slowdown, "-", now, gpu.GPU), temperature.HEADROOM))),
    )


def _traffic(dcgm: Dcgm) -> tuple[Recording, ...]:
    return (
        recording(gpu.PCIE_BYTES, _speed(dcgm, pcie.BYTES)),
        recording(gpu.NVLINK_BYTES, first_of(_speed(dcgm, nvlink.BYTES), _speed_of_links(dcgm))),
    )


def _speed(dcgm: Dcgm, metric: Metric) -> Vector:
    """Counters rated, and fields that are rates already as they are; the directionless NVLink total is neither."""
    by_direction: dict[str, list[Vector]] = {}
    for field in fields(metric):
        for series in field.series if "direction" in field.labels else ():
            is_rate = series.name.startswith("DCGM_FI_PROF_") and not series.name.endswith("_TOTAL")
            value = dcgm.level(series, BLANK) if is_rate else dcgm.rated(series, BLANK)
            by_direction.setdefault(field.labels["direction"], []).append(value)
    found = (
        labelled(max_by(dcgm.named(first_of(*values)), *gpu.GPU), direction=direction)
        for direction, values in by_direction.items()
    )
    return dcgm.agent.yields(first_of(*found), metric)


def _speed_of_links(dcgm: Dcgm) -> Vector:
    found = []
    for field in fields(nvlink_links.LINK_BYTES):
        raw = (dcgm.level(series, BLANK) for series in field.series)
        links = max_by(dcgm.named(first_of(*raw)), *gpu.GPU, "nvlink")
        found.append(labelled(sum_by(links, *gpu.GPU), **field.labels))
    return dcgm.agent.yields(first_of(*found), nvlink.BYTES)


def _owners(dcgm: Dcgm) -> tuple[Recording, ...]:
    agent = dcgm.agent
    pods = agent.yields(dcgm.pods(), attribution.ALLOCATIONS)
    jobs = agent.yields(dcgm.jobs(), attribution.ALLOCATIONS)
    attributed = select(source.ATTRIBUTES, source=SOURCE)
    whole = group_by(agent.yields(dcgm.presence(partitioned=False), attribution.ALLOCATIONS), *gpu.GPU)
    free = (whole * 0).and_(max_over_time(attributed, ATTRIBUTION_MEMORY), on=("cluster",))
    held = whole.and_(select(gpu.OWNER), on=gpu.GPU)
    return (
        recording(gpu.OWNER, owners(pods, jobs, dcgm.settings, gpu.GPU)),
        recording(
            source.ATTRIBUTES,
            group_by(group_by(dcgm.pods(), "cluster").or_(group_by(dcgm.jobs(), "cluster")), "cluster"),
            source=SOURCE,
        ),
        recording(gpu.ALLOCATED, held.or_(free)),
    )

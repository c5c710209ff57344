"""Our own agent: its series need their node, and little else."""

from __future__ import annotations

from gpuscope.catalogue import (
    activity,
    attribution,
    clocks,
    inventory,
    memory,
    mig,
    nvlink,
    pcie,
    remapping,
    temperature,
    utilization,
    xid,
)
from gpuscope.catalogue import agent as itself
from gpuscope.catalogue.metric import Metric
from gpuscope_generator.normalized import fault, gpu, node
from gpuscope_generator.promql import (
    Gauge,
    Matcher,
    Selector,
    Vector,
    as_gauge,
    avg_over_time,
    clamp,
    first_of,
    group_by,
    max_by,
    on,
    rate,
    sum_by,
)
from gpuscope_generator.rules.model import Recording, RuleFile, beside_each_other, recording
from gpuscope_generator.rules.sources.agent import SOURCE, Agent
from gpuscope_generator.rules.sources.canonical import of_source
from gpuscope_generator.rules.sources.events import risen
from gpuscope_generator.rules.sources.native_mig import native_instances
from gpuscope_generator.rules.sources.ownership import owners
from gpuscope_generator.rules.sources.readings import PARTITIONED_READINGS, READINGS, RECOVERY
from gpuscope_generator.settings import Settings

__all__ = ["SOURCE", "native_rules"]

_HAS_SERIAL = Matcher("serial", "!=", "")
_NO_THROTTLING = Matcher("reason", "!~", "idle|applications_clocks_setting|display_clocks_setting")


def native_rules(settings: Settings) -> RuleFile:
    """Rules that make normalized series of what the agent publishes."""
    agent = Agent(settings)
    states = (
        *_state(agent),
        *(
            recording(reading.target, agent.by_gpu(reading.metric, *reading.extra, **reading.equal))
            for reading in (*READINGS, RECOVERY, *PARTITIONED_READINGS)
        ),
        *_computed(agent),
    )
    parts = {
        "": states,
        "-events": (*_traffic(agent), *_events(agent)),
        "-owners": _owners(agent),
        "-instances": native_instances(agent),
    }
    return RuleFile(
        path="recording/gpuscope.yaml",
        comment="From the gpuscope agent to normalized series of GPUs and MIG instances.",
        groups=beside_each_other("gpuscope-normalize-gpuscope", settings.intervals.normalize, parts),
    )


def _state(agent: Agent) -> tuple[Recording, ...]:
    models = agent.named(agent.raw(inventory.GPU_INFO))
    return (
        recording(gpu.INFO, group_by(models, *gpu.GPU, "model"), vendor="nvidia"),
        recording(gpu.SERIAL, group_by(agent.named(agent.raw(inventory.GPU_INFO, _HAS_SERIAL)), *gpu.GPU, "serial")),
        recording(gpu.UP, agent.by_gpu(inventory.GPU_UP)),
        recording(gpu.MIG_MODE, agent.by_gpu(mig.MODE_ENABLED)),
        recording(gpu.FAULT, agent.by_gpu(remapping.UNREPAIRABLE), fault="memory_unrepairable"),
        recording(node.GPUS, max_by(agent.named(agent.raw(inventory.GPUS_EXPECTED)), *node.NODE), state="installed"),
        recording(fault.LOST, group_by(agent.named(agent.raw(inventory.GPU_FAILURE_INFO, reason="lost")), *gpu.GPU)),
        recording(fault.STUCK, agent.by_gpu(itself.WORKER_STUCK).compare("==", 1)),
        recording(fault.DRIVER_UP, max_by(agent.named(agent.raw(itself.UP)), *node.NODE)),
    )


def _computed(agent: Agent) -> tuple[Recording, ...]:
    engine = agent.by_gpu(activity.GRAPHICS_RATIO)
    # The driver answers no utilization of a GPU in MIG mode; an old sample of before is none of it.
    in_mig = agent.knows(mig.MODE_ENABLED).compare("==", 1)
    busy = agent.by_gpu(utilization.UTILIZATION).unless(in_mig, on=("cluster", "uuid"))
    utilized = agent.yields(busy, activity.GRAPHICS_RATIO)
    slowdown = agent.by_gpu(temperature.THRESHOLD, threshold="slowdown")
    left = on(slowdown, "-", agent.by_gpu(temperature.TEMPERATURE, sensor="gpu"), gpu.GPU)
    return (
        recording(gpu.COMPUTE_ACTIVE, first_of(engine, utilized)),
        recording(gpu.COMPUTE_SOURCE, group_by(engine, *gpu.GPU), source=SOURCE, method="engine"),
        recording(gpu.COMPUTE_SOURCE, group_by(utilized, *gpu.GPU), source=SOURCE, method="utilization"),
        recording(gpu.MEMORY_TOTAL, on(agent.by_gpu(memory.TOTAL), "-", agent.by_gpu(memory.RESERVED), gpu.GPU)),
        recording(gpu.HEADROOM, first_of(agent.by_gpu(temperature.HEADROOM), left)),
    )


def _traffic(agent: Agent) -> tuple[Recording, ...]:
    def speed(metric: Metric) -> Vector:
        return max_by(agent.named(rate(agent.counter(metric), "5m")), *gpu.GPU, "direction")

    return (
        recording(gpu.PCIE_BYTES, speed(pcie.BYTES)),
        recording(gpu.NVLINK_BYTES, speed(nvlink.BYTES)),
        recording(gpu.NVLINK_LINKS, agent.by_gpu(nvlink.LINKS, "state")),
    )


def _events(agent: Agent) -> tuple[Recording, ...]:
    held = max_by(agent.named(rate(agent.counter(clocks.EVENT_SECONDS), "5m")), *gpu.GPU, "reason")
    active: Selector[Gauge] = of_source(as_gauge(clocks.EVENT_ACTIVE), agent.settings, SOURCE, _NO_THROTTLING)
    # Drivers that keep no time of their own: the share of samples in which the reason was there.
    sampled = agent.yields(agent.named(avg_over_time(active, "5m")), clocks.EVENT_SECONDS)
    return (
        recording(gpu.THROTTLED, clamp(held.or_(max_by(sampled, *gpu.GPU, "reason")), high=1)),
        *_xids(agent),
    )


def _xids(agent: Agent) -> tuple[Recording, ...]:
    def by_code(found: Vector) -> Vector:
        return sum_by(max_by(agent.named(found), *gpu.GPU, "xid", "gi", "ci"), *gpu.GPU, "xid")

    counted = agent.counter(xid.XID_ERRORS)
    # Many codes are counted from 0 on, and nearly all of them never happen: of an hour one 0 for each GPU is enough.
    happened = counted.compare(">", 0).or_(agent.counter(xid.XID_ERRORS, xid=gpu.XID_WITNESS))
    return (
        recording(gpu.XID_ERRORS, by_code(counted)),
        recording(gpu.XID_ERRORS_HOURLY, by_code(risen(counted, "1h", happened))),
    )


def _owners(agent: Agent) -> tuple[Recording, ...]:
    pods = agent.of_pods(attribution.POD_ALLOCATION)
    jobs = agent.named(agent.raw(attribution.JOB_ALLOCATION))
    shares = agent.by_gpu(attribution.ALLOCATIONS, mig_uuid="")
    return (
        recording(gpu.ALLOCATED, clamp(shares, high=1)),
        recording(gpu.OWNER, owners(pods, jobs, agent.settings, gpu.GPU)),
    )

"""NVLink, its fabric and PCIe: what is not as it should be, and how many links a GPU should have."""

from __future__ import annotations

from gpuscope.catalogue import fabric, pcie, xid
from gpuscope.catalogue.metric import Metric
from gpuscope_generator.normalized import fault, gpu
from gpuscope_generator.normalized.gpu import GPU
from gpuscope_generator.normalized.node import NODE
from gpuscope_generator.promql import (
    Counter,
    Matcher,
    Selector,
    Vector,
    count_by,
    first_of,
    group_by,
    increase,
    join,
    label_replace,
    max_by,
    on,
    ratio,
    resampled,
    select,
    sum_by,
)
from gpuscope_generator.rules.model import Group, Recording, RuleFile, recording
from gpuscope_generator.rules.sources.agent import Agent
from gpuscope_generator.rules.sources.dcgm_reading import Dcgm
from gpuscope_generator.rules.sources.labels import labelled
from gpuscope_generator.settings import Settings

__all__ = ["interconnect_rules"]

_NO_FAULT = Matcher("type", "!~", "effective|symbol|recovery|recovery_ok|vl15_dropped")
"""Symbol errors are what NVLink's error correction is for; a recovery that succeeded is no fault by itself."""
_FAULTY = Matcher("condition", "=~", "degraded_bandwidth|route_unhealthy|access_timeout_recovery")
_MISFIT = Matcher("reason", "!=", "none")
_COMPLETED, _NOT_STARTED = 3, 1
_OF_DCGM = {"in_progress": 2, "registration_failed": 4}
"""DCGM's status of the fabric manager; 0 is a GPU without a fabric, and what lies above 4 DCGM does not know."""
_WORKING = 0.1
"""Activity from which on a GPU that works keeps its PCIe link at full speed."""


def interconnect_rules(settings: Settings) -> RuleFile:
    """Rules about links between GPUs, and from GPUs to the host."""
    agent = Agent(settings)
    dcgm = Dcgm(settings, agent)
    return RuleFile(
        path="recording/interconnect.yaml",
        comment="From the gpuscope agent and dcgm-exporter to what is wrong with NVLink, its fabric and PCIe. Of links "
        "that are well nothing is recorded but how many a GPU should have.",
        groups=(
            Group(
                "gpuscope-normalize-interconnect",
                settings.intervals.normalize,
                (*_fabric(agent, dcgm), _switches(agent), _pcie(agent, dcgm)),
            ),
            Group("gpuscope-interconnect-errors", settings.intervals.aggregate, _errors()),
            Group("gpuscope-interconnect-expected", settings.intervals.slow, (_expected(),)),
        ),
    )


def _fabric(agent: Agent, dcgm: Dcgm) -> tuple[Recording, ...]:
    code = dcgm.reading(fabric.STATE)

    def in_state(name: str, number: int) -> Vector:
        own = group_by(agent.named(agent.raw(fabric.STATE, state=name)).compare("==", 1), *GPU)
        return first_of(own, group_by(code.compare("==", number), *GPU))

    def told(metric: Metric, *conditions: Matcher) -> Vector:
        return group_by(agent.named(agent.raw(metric, *conditions)).compare("==", 1), *GPU)

    failed = group_by(agent.named(agent.raw(fabric.STATUS)).compare("!=", 0), *GPU)
    faulty = group_by(agent.named(agent.raw(fabric.HEALTH, _FAULTY)).compare("==", 1), *GPU, "condition")
    found = first_of(
        labelled(_awaited(in_state("not_started", _NOT_STARTED)), condition="not_started"),
        labelled(in_state("in_progress", _OF_DCGM["in_progress"]), condition="in_progress"),
        labelled(
            first_of(failed, group_by(code.compare("==", _OF_DCGM["registration_failed"]), *GPU)),
            condition="registration_failed",
        ),
        faulty,
        labelled(told(fabric.MISCONFIGURATION, _MISFIT), condition="misconfigured"),
        labelled(told(fabric.SUMMARY, Matcher("health", "=", "unhealthy")), condition="unhealthy"),
    )
    return (
        recording(fault.FABRIC_MEMBERS, count_by(in_state("completed", _COMPLETED), *NODE)),
        recording(fault.FABRIC, found),
    )


def _awaited(waiting: Vector) -> Vector:
    """GPUs that have not begun to register, where they should: others of their model have, or their node had.

    Where nothing runs that they could register with, as on single boards of some clouds, the driver says the same.
    """
    models = group_by(select(gpu.INFO), *GPU, "model")
    members = select(fault.FABRIC_MEMBERS)
    used = group_by(models.and_(members, on=NODE), "cluster", "model")
    by_model = models.and_(used, on=("cluster", "model"))
    before = resampled("max_over_time", members, "1d", "1h")
    return first_of(waiting.and_(by_model, on=GPU), waiting.and_(before, on=NODE))


def _switches(agent: Agent) -> Recording:
    """A code appears with its first event: it counts where the agent was there ten minutes ago."""
    fatal = agent.counter(xid.SXID_ERRORS, severity="fatal")

    def by_code(found: Vector) -> Vector:
        return max_by(agent.named(found), *NODE, "pci_bus_id", "sxid")

    now, before = by_code(fatal), by_code(fatal.offset("10m"))
    new = now.unless(before).and_(select(fault.DRIVER_UP).offset("10m"), on=NODE)
    again = by_code(increase(fatal, "10m")).compare(">", 0)
    events = first_of(new.compare(">", 0), (now - before).compare(">", 0), again)
    return recording(fault.SWITCH_FAULTS, sum_by(events, *NODE))


def _pcie(agent: Agent, dcgm: Dcgm) -> Recording:
    def share(metric: Metric) -> Vector:
        def read(state: str) -> Vector:
            return first_of(agent.by_gpu(metric, state=state), dcgm.reading(metric, equal={"state": state}))

        return ratio(read("current"), read("max")).compare("<", 1)

    working = select(gpu.COMPUTE_ACTIVE).compare(">=", _WORKING)
    found = first_of(
        labelled(share(pcie.WIDTH), what="width"),
        labelled(share(pcie.GENERATION).and_(working, on=GPU), what="generation"),
    )
    return recording(fault.PCIE_DEGRADED, found)


def _errors() -> tuple[Recording, ...]:
    """Two samples a counter are read; one that began anew tells nothing for a quarter of an hour."""

    def gained(counter: Selector[Counter]) -> Vector:
        return sum_by((counter - counter.offset("15m")).compare(">", 0), *GPU)

    return (
        recording(fault.LINK_ERRORS, gained(select(gpu.NVLINK_ERRORS, _NO_FAULT)), interconnect="nvlink"),
        recording(fault.LINK_ERRORS, gained(select(gpu.PCIE_REPLAYS)), interconnect="pcie"),
    )


def _expected() -> Recording:
    """What the GPU had, or what others of its model on the node have now if it has any."""
    up = select(gpu.NVLINK_LINKS, state="up").compare(">", 0)
    before = max_by(resampled("max_over_time", up, "7d", "1h"), *GPU)
    with_model = join(max_by(up, *GPU), select(gpu.INFO), on=GPU, take=("model",))
    most = max_by(with_model, *NODE, "model")
    peers = max_by(on(with_model * 0, "+", most, (*NODE, "model"), many="left"), *GPU)
    both = label_replace(before, "of", "itself", "", "").or_(label_replace(peers, "of", "peers", "", ""))
    return recording(fault.LINKS_EXPECTED, max_by(both, *GPU))

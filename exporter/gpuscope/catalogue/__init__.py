"""Every metric that gpuscope publishes, by subject: the single source of truth."""

from collections.abc import Mapping

from gpuscope.catalogue import (
    activity,
    agent,
    attribution,
    c2c,
    clocks,
    confidential,
    cycles,
    ecc,
    engines,
    fabric,
    filesystem,
    inventory,
    lustre,
    memory,
    mig,
    nvlink,
    nvlink_links,
    pcie,
    pcie_details,
    pipes,
    power,
    processes,
    recovery,
    remapping,
    scheduler,
    temperature,
    training,
    utilization,
    vgpu,
    xid,
)
from gpuscope.catalogue.metric import Metric

__all__ = ["ALWAYS_ON", "CLUSTER_METRICS", "CLUSTER_SUBJECTS", "DEFAULT_OFF", "METRICS", "SUBJECTS", "by_name"]

SUBJECTS: Mapping[str, tuple[Metric, ...]] = {
    "inventory": inventory.METRICS,
    "mig": mig.METRICS,
    "memory": memory.METRICS,
    "utilization": utilization.METRICS,
    "activity": activity.METRICS,
    "pipes": pipes.METRICS,
    "cycles": cycles.METRICS,
    "engines": engines.METRICS,
    "power": power.METRICS,
    "temperature": temperature.METRICS,
    "clocks": clocks.METRICS,
    "xid": xid.METRICS,
    "recovery": recovery.METRICS,
    "ecc": ecc.METRICS,
    "remapping": remapping.METRICS,
    "pcie": pcie.METRICS,
    "pcie_details": pcie_details.METRICS,
    "nvlink": nvlink.METRICS,
    "nvlink_links": nvlink_links.METRICS,
    "fabric": fabric.METRICS,
    "c2c": c2c.METRICS,
    "confidential": confidential.METRICS,
    "vgpu": vgpu.METRICS,
    "processes": processes.METRICS,
    "attribution": attribution.METRICS,
    "filesystem": filesystem.METRICS,
    "lustre": lustre.METRICS,
    "agent": agent.METRICS,
}
"""Metrics by subject, which is also the name of the collector."""

METRICS: tuple[Metric, ...] = tuple(metric for metrics in SUBJECTS.values() for metric in metrics)
"""All metrics, in the order of the documentation and of the exposition."""

DEFAULT_OFF: frozenset[str] = frozenset({"pipes", "cycles", "engines", "nvlink_links", "pcie_details"})
"""Subjects that are published only when a flag asks for them."""

ALWAYS_ON: frozenset[str] = frozenset({"inventory", "agent"})
"""Subjects that cannot be switched off."""

CLUSTER_SUBJECTS: Mapping[str, tuple[Metric, ...]] = {
    "training": training.METRICS,
    "scheduler": scheduler.METRICS,
}
"""What the collector of a cluster publishes, by subject."""

CLUSTER_METRICS: tuple[Metric, ...] = tuple(metric for metrics in CLUSTER_SUBJECTS.values() for metric in metrics)
"""All metrics of the collector, in the order of the documentation and of the exposition."""

_BY_NAME = {metric.name: metric for metric in (*METRICS, *CLUSTER_METRICS)}


def by_name(name: str) -> Metric:
    """Looks a metric up.

    Raises:
        KeyError: no such metric.
    """
    return _BY_NAME[name]

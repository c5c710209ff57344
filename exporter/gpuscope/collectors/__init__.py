"""Readers of one subject each: NVML readings of one GPU to catalogued samples."""

from gpuscope.collectors import (
    activity,
    c2c,
    clocks,
    confidential,
    cycles,
    ecc,
    engines,
    fabric,
    inventory,
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
    temperature,
    utilization,
    vgpu,
)
from gpuscope.collectors.collector import Collector

__all__ = ["COLLECTORS", "Collector"]

COLLECTORS: tuple[Collector, ...] = (
    inventory.COLLECTOR,
    mig.COLLECTOR,
    memory.COLLECTOR,
    utilization.COLLECTOR,
    activity.COLLECTOR,
    pipes.COLLECTOR,
    cycles.COLLECTOR,
    engines.COLLECTOR,
    power.COLLECTOR,
    temperature.COLLECTOR,
    clocks.COLLECTOR,
    recovery.COLLECTOR,
    ecc.COLLECTOR,
    remapping.COLLECTOR,
    pcie.COLLECTOR,
    pcie_details.COLLECTOR,
    nvlink.COLLECTOR,
    nvlink_links.COLLECTOR,
    fabric.COLLECTOR,
    c2c.COLLECTOR,
    confidential.COLLECTOR,
    vgpu.COLLECTOR,
    processes.COLLECTOR,
)
"""Every collector of a GPU, in the order of the catalogue. Faults (xid) and the agent publish by other ways."""

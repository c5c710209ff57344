"""Processes on GPUs and MIG instances.

Output::

    gpuscope_gpu_processes{gpu="0",uuid="GPU-…",type="compute"} 1
    gpuscope_process_visibility 1
"""

import math
import os
import time
from pathlib import Path

from gpuscope.catalogue import processes as m
from gpuscope.catalogue.metric import Sample, Tier
from gpuscope.collectors.collector import Collector
from gpuscope.collectors.sink import Sink
from gpuscope.nvml import structs
from gpuscope.nvml.gpu import Gpu
from gpuscope.nvml.processes import PROCESS_TYPES, Process, ProcessList, running_processes
from gpuscope.nvml.values import plain

__all__ = ["COLLECTOR", "processes_visible", "visibility"]

_INIT_PID_NAMESPACE = "pid:[4026531836]"
"""The kernel gives the first PID namespace this number; see include/linux/proc_ns.h."""


def processes_visible(procfs: Path) -> bool | None:
    """Whether this process lives in the host's PID namespace; ``None`` when that cannot be read.

    Elsewhere the driver's process lists are empty with SUCCESS, which is not the same as "no process".
    """
    try:
        return os.readlink(procfs / "self/ns/pid") == _INIT_PID_NAMESPACE
    except OSError:
        return None


def visibility(procfs: Path) -> tuple[Sample, ...]:
    """Whether process lists can be trusted, and why not."""
    seen = processes_visible(procfs)
    if seen:
        return (Sample(m.VISIBILITY, (), 1.0),)
    reason = "unreadable" if seen is None else "pid_namespace"
    return Sample(m.VISIBILITY, (), 0.0), Sample(m.VISIBILITY_FAILURE, (reason,), 1.0)


def _processes(gpu: Gpu, out: Sink) -> None:
    everything: list[Process] | None = []
    for kind in PROCESS_TYPES:
        found = running_processes(gpu, kind)
        if found is None:
            everything = None
            continue
        if everything is not None:
            everything += found
        # An empty list proves nothing where the namespace hides processes; a list with entries does.
        if not found and not gpu.processes_visible:
            continue
        out.gpu(m.PROCESSES, len(found), kind)
        for device in gpu.mig:
            who = device.instance
            count = sum(process.gi == who.gi and process.ci in {who.ci, None} for process in found)
            out.mig(who, m.MIG_PROCESSES, count, kind)
    at = time.clock_gettime(time.CLOCK_BOOTTIME)
    gpu.listed = None if everything is None else ProcessList(at, tuple(everything), _used(gpu))


def _used(gpu: Gpu) -> dict[str, int]:
    """Memory in use by each device, read after the lists, so that what a program takes in between is no excess."""
    used: dict[str, int] = {}
    for uuid, handle in ((gpu.uuid, gpu), *((device.instance.uuid, device) for device in gpu.mig)):
        memory = handle.ask("nvmlDeviceGetMemoryInfo", structs.MEMORY_V2)
        if memory is not None and math.isfinite(value := plain(memory.used)):
            used[uuid] = int(value)
    return used


COLLECTOR = Collector("processes", {Tier.PROCESSES: _processes})

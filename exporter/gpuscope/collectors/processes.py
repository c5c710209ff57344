"""Processes on GPUs and MIG instances.

Output::

    gpuscope_gpu_processes{gpu="0",uuid="GPU-…",type="compute"} 1
    gpuscope_process_visibility 1
"""

import os
from pathlib import Path

from gpuscope.catalogue import processes as m
from gpuscope.catalogue.metric import Sample, Tier
from gpuscope.collectors.collector import Collector
from gpuscope.collectors.sink import Sink
from gpuscope.nvml.gpu import Gpu
from gpuscope.nvml.processes import PROCESS_TYPES, running_processes

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
    """The sample that says whether process counts can be trusted."""
    seen = processes_visible(procfs)
    return () if seen is None else (Sample(m.VISIBILITY, (), float(seen)),)


def _processes(gpu: Gpu, out: Sink) -> None:
    for kind in PROCESS_TYPES:
        found = running_processes(gpu, kind)
        # An empty list proves nothing where the namespace hides processes; a list with entries does.
        if found is None or (not found and not gpu.processes_visible):
            continue
        out.gpu(m.PROCESSES, len(found), kind)
        for device in gpu.mig:
            who = device.instance
            count = sum(process.gi == who.gi and process.ci in {who.ci, None} for process in found)
            out.mig(who, m.MIG_PROCESSES, count, kind)


COLLECTOR = Collector("processes", {Tier.PROCESSES: _processes})

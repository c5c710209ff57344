"""Lists of processes on a GPU, checked before they are believed.

Early R535 drivers return a longer struct from ``…RunningProcesses_v3`` than the binding expects, so that pids and
instance ids are scrambled. Such a list is dropped whole and counted.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from gpuscope.nvml.handle import Handle
from gpuscope.nvml.values import plain

__all__ = ["PROCESS_TYPES", "Process", "ProcessList", "running_processes"]

PROCESS_TYPES = ("compute", "graphics", "mps")

_CALLS = {
    "compute": "nvmlDeviceGetComputeRunningProcesses_v3",
    "graphics": "nvmlDeviceGetGraphicsRunningProcesses_v3",
    "mps": "nvmlDeviceGetMPSComputeRunningProcesses_v3",
}
_NO_INSTANCE = 0xFFFFFFFF
_MAX_PID = 1 << 22
_MAX_INSTANCE = 64


@dataclass(frozen=True, slots=True)
class Process:
    """One process on a GPU.

    Attributes:
        pid: process id as seen from the agent's PID namespace.
        used_bytes: GPU memory, ``None`` when the driver does not tell.
        gi: GPU instance id, ``None`` on a GPU without MIG.
        ci: compute instance id, ``None`` on a GPU without MIG.
    """

    pid: int
    used_bytes: int | None
    gi: int | None
    ci: int | None


@dataclass(frozen=True, slots=True)
class ProcessList:
    """All processes of one GPU at one moment.

    Attributes:
        at: when the driver had answered, in seconds of ``CLOCK_BOOTTIME``.
        processes: of every type; one may stand in several.
        used: UUID of the GPU or of a MIG device -> bytes in use, read right after; absent where unknown.
    """

    at: float
    processes: tuple[Process, ...]
    used: Mapping[str, int]


def running_processes(handle: Handle, kind: str) -> list[Process] | None:
    """Processes of a physical GPU (never ask its MIG devices too: that counts twice).

    Args:
        handle: the physical GPU.
        kind: one of ``PROCESS_TYPES``.

    Returns:
        ``None`` when the list is not available or not believable.

    Raises:
        DeviceLost: the GPU is gone.
        NvmlUnavailable: the driver is gone.
    """
    call = _CALLS[kind]
    found = handle.ask(call)
    if found is None:
        return None
    processes: list[Process] = []
    for entry in found:
        gi, ci = getattr(entry, "gpuInstanceId", _NO_INSTANCE), getattr(entry, "computeInstanceId", _NO_INSTANCE)
        if not 0 < entry.pid <= _MAX_PID or not _instance(gi) or not _instance(ci):
            handle.ledger.errors[call, "implausible"] += 1
            return None
        used = entry.usedGpuMemory
        known = used is not None and plain(used) == used
        processes.append(
            Process(
                pid=entry.pid,
                used_bytes=used if known else None,
                gi=None if gi == _NO_INSTANCE else gi,
                ci=None if ci == _NO_INSTANCE else ci,
            )
        )
    return processes


def _instance(number: int) -> bool:
    return number == _NO_INSTANCE or 0 <= number < _MAX_INSTANCE

"""Process lists of the simulated driver."""

import ctypes
import struct

from gpuscope.simulate.device import SimGpu
from gpuscope.simulate.event_set import NO_INSTANCE
from gpuscope.simulate.mig import SimMig
from gpuscope.simulate.node import Node
from gpuscope.simulate.status import INSUFFICIENT_SIZE, NOT_FOUND, NOT_SUPPORTED, Status, put, read, version
from gpuscope.simulate.table import Entry, either, getter, mig_off, physical
from gpuscope.simulate.utilization import percent

__all__ = ["FUNCTIONS"]

_V1, _V2, _EARLY_V3 = "I4xQ", "I4xQII", "I4xQIIQ"
_EARLY_535 = ((535,), (535, 98, 1))
_UTILIZATION_V1 = 0x01000018


def _listing(layout: str, kind: str, *, third: bool) -> Entry:
    @either
    def call(node: Node, gpu: SimGpu, instance: SimMig | None, count: int, buffer: int | None) -> int:
        found = [entry for entry in gpu.processes() if instance is None or entry.instance is instance]
        if kind != "compute":
            found = []
        room = read(count, "I")[0]
        put(count, "I", len(found))
        if not found:
            return 0
        if not buffer or room < len(found):
            raise Status(INSUFFICIENT_SIZE)
        values: list[int] = []
        # Early R535 drivers fill 32 bytes an entry where the binding reads 24.
        early = third and _EARLY_535[0] <= node.driver < _EARLY_535[1]
        for pid, used, owner, _ in found:
            values += (pid, used)
            if layout == _V2:
                values += (owner.gi, owner.ci) if owner else (NO_INSTANCE, NO_INSTANCE)
            if early:
                values.append(0)
        return _put_limited(
            buffer, (_EARLY_V3 if early else layout) * len(found), room * struct.calcsize(layout), values
        )

    return "ppp", call


def _put_limited(buffer: int, layout: str, size: int, values: list[int]) -> int:
    """Writes like ``put``, but never past ``size`` bytes: the real driver would, and crash its client."""
    data = struct.pack(layout, *values)[:size]
    ctypes.memmove(buffer, data, len(data))
    return 0


def _samples(gpu: SimGpu, last_us: int) -> list[tuple[int, int, int, int]]:
    """(microseconds, pid, SM percent, memory percent) newer than ``last_us``."""
    if gpu.mig_mode:
        raise Status(NOT_SUPPORTED)
    found = gpu.processes()
    stamp = int(gpu.now * 1e6)
    if not found or stamp <= last_us:
        raise Status(NOT_FOUND)
    parts = max(1, len(gpu.tenants))
    return [(stamp, one.pid, percent(gpu.load.graphics / parts), percent(gpu.load.dram / parts)) for one in found]


@physical
def _utilization(_node: Node, gpu: SimGpu, buffer: int | None, count: int, last_us: int) -> int:
    found = _samples(gpu, last_us)
    room = read(count, "I")[0]
    put(count, "I", len(found))
    if not buffer or room < len(found):
        raise Status(INSUFFICIENT_SIZE)
    values = (value for stamp, pid, sm, memory in found for value in (pid, stamp, sm, memory, 0, 0))
    return put(buffer, "I4xQIIII" * len(found), *values)


@physical
def _utilization_info(_node: Node, gpu: SimGpu, pointer: int) -> int:
    version(pointer, _UTILIZATION_V1)
    room, last_us, buffer = read(pointer + 4, "=IQQ")
    found = _samples(gpu, last_us)
    put(pointer + 4, "I", len(found))
    if not buffer or room < len(found):
        raise Status(INSUFFICIENT_SIZE)
    values = (value for stamp, pid, sm, memory in found for value in (stamp, pid, sm, memory, 0, 0, 0, 0))
    return put(buffer, "QIIIIIII4x" * len(found), *values)


@physical
def _no_sessions(_node: Node, _gpu: SimGpu, count: int, _buffer: int | None) -> int:
    return put(count, "I", 0)


_NAMES = {"Compute": "compute", "Graphics": "graphics", "MPSCompute": "mps"}

FUNCTIONS: dict[str, Entry] = {
    "nvmlDeviceGetProcessUtilization": ("pppq", _utilization),
    "nvmlDeviceGetProcessesUtilizationInfo": ("pp", _utilization_info),
    "nvmlDeviceGetAccountingMode": getter("I", lambda gpu: 0, when=mig_off),
    "nvmlDeviceGetAccountingBufferSize": getter("I", lambda gpu: 4000, when=mig_off),
    "nvmlDeviceGetEncoderSessions": ("ppp", _no_sessions),
    "nvmlDeviceGetFBCSessions": ("ppp", _no_sessions),
    **{
        f"nvmlDeviceGet{name}RunningProcesses{suffix}": _listing(layout, kind, third=suffix == "_v3")
        for name, kind in _NAMES.items()
        for suffix, layout in (("", _V1), ("_v2", _V2), ("_v3", _V2))
    },
}

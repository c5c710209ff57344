"""Event sets and process lists of the simulated driver."""

import ctypes
import struct
import time
from typing import Any

from gpuscope.simulate.device import SimGpu, SimMig
from gpuscope.simulate.node import EventSet, Node
from gpuscope.simulate.status import (
    ARGUMENT,
    INSUFFICIENT_SIZE,
    NOT_SUPPORTED,
    TIMEOUT,
    UNINITIALIZED,
    Status,
    put,
    read,
)
from gpuscope.simulate.table import Entry, either, physical

__all__ = ["FUNCTIONS"]

_NO_INSTANCE = 0xFFFFFFFF
_SUPPORTED_EVENTS = 0x1 | 0x2 | 0x8 | 0x100 | 0x200 | 0x400 | 0x800 | 0x1000 | 0x2000 | 0x4000
_RECOVERY_EVENT = 0x8000


def _create(node: Node, pointer: int) -> int:
    if not node.initialized:
        raise Status(UNINITIALIZED)
    node.next_handle += 0x10
    handle = 0x60000000 + node.next_handle
    node.event_sets[handle] = EventSet()
    return put(pointer, "P", handle)


def _free(node: Node, handle: int) -> int:
    node.event_sets.pop(handle, None)
    return 0


@physical
def _supported(node: Node, _gpu: SimGpu, pointer: int) -> int:
    return put(pointer, "Q", _SUPPORTED_EVENTS | (_RECOVERY_EVENT if node.driver >= (580,) else 0))


@physical
def _register(node: Node, gpu: SimGpu, mask: int, handle: int) -> int:
    events = node.event_sets.get(handle)
    if events is None:
        raise Status(ARGUMENT)
    events.masks[node.handle_of(gpu)] = mask
    return 0


def _wait(node: Node, handle: int, pointer: int, timeout_ms: int) -> int:
    end = time.monotonic() + timeout_ms / 1000
    while True:
        node.tick()
        events = node.event_sets.get(handle)
        if events is None or not node.initialized:
            raise Status(UNINITIALIZED)
        left = end - time.monotonic()
        until_next = node.seconds_to_next()
        found = events.pop(max(0.0, left if until_next is None else min(left, until_next + 0.001)))
        if found is not None:
            device, kind, data, gi, ci = found
            return put(pointer, "PQQII", device, kind, data, gi, ci)
        if left <= 0:
            raise Status(TIMEOUT)


def _listing(layout: str, kind: str) -> Any:
    @either
    def call(node: Node, gpu: SimGpu, instance: SimMig | None, count: int, buffer: int | None) -> int:
        found = (
            [entry for entry in gpu.processes() if instance is None or entry[2] is instance]
            if kind == "compute"
            else []
        )
        room = read(count, "I")[0]
        put(count, "I", len(found))
        if not found:
            return 0
        if not buffer or room < len(found):
            raise Status(INSUFFICIENT_SIZE)
        # Early R535 drivers fill 32 bytes an entry where the binding reads 24.
        early = layout == "I4xQII" and (535,) <= node.driver < (535, 98, 1)
        entry_layout = "I4xQIIQ" if early else layout
        values: list[int] = []
        for pid, used, owner in found:
            values += (pid, used)
            if layout != "I4xQ":
                values += (owner.gi, owner.ci) if owner else (_NO_INSTANCE, _NO_INSTANCE)
            if early:
                values.append(0)
        data_room = room * (24 if layout == "I4xQII" else 16)
        return put_limited(buffer, entry_layout * len(found), data_room, *values)

    return call


def put_limited(buffer: int, layout: str, room: int, *values: int) -> int:
    """Writes like ``put``, but never past ``room`` bytes: the real driver would, and crash its client."""
    data = struct.pack(layout, *values)[:room]
    ctypes.memmove(buffer, data, len(data))
    return 0


@physical
def _process_utilization(node: Node, gpu: SimGpu, buffer: int | None, count: int, _last: int) -> int:
    if gpu.mig_mode:
        raise Status(NOT_SUPPORTED)
    found = gpu.processes()
    room = read(count, "I")[0]
    put(count, "I", len(found))
    if not buffer or room < len(found):
        raise Status(INSUFFICIENT_SIZE)
    stamp = int(node.clock.now() * 1e6)
    busy, dram = round(100 * gpu.load.graphics), round(100 * gpu.load.dram)
    for place, (pid, _, _) in enumerate(found):
        put(buffer + 32 * place, "I4xQIIII", pid, stamp, busy, dram, 0, 0)
    return 0


_NAMES = {"Compute": "compute", "Graphics": "graphics", "MPSCompute": "mps"}

FUNCTIONS: dict[str, Entry] = {
    "nvmlEventSetCreate": ("p", _create),
    "nvmlEventSetFree": ("p", _free),
    "nvmlDeviceGetSupportedEventTypes": ("pp", _supported),
    "nvmlDeviceRegisterEvents": ("pqp", _register),
    "nvmlEventSetWait": ("ppu", _wait),
    "nvmlEventSetWait_v2": ("ppu", _wait),
    "nvmlDeviceGetProcessUtilization": ("pppq", _process_utilization),
    **{
        f"nvmlDeviceGet{name}RunningProcesses{suffix}": ("ppp", _listing(layout, kind))
        for name, kind in _NAMES.items()
        for suffix, layout in (("", "I4xQ"), ("_v2", "I4xQII"), ("_v3", "I4xQII"))
    },
}

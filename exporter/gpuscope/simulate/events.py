"""Event functions of the simulated driver."""

import time

from gpuscope.simulate.device import SimGpu
from gpuscope.simulate.event_set import EventSet
from gpuscope.simulate.node import Node
from gpuscope.simulate.status import ARGUMENT, NOT_SUPPORTED, TIMEOUT, UNINITIALIZED, Status, put
from gpuscope.simulate.table import Entry, physical, system

__all__ = ["FUNCTIONS"]

_ECC, _XID, _MIG_CHANGE, _RAS, _RECOVERY_ACTION = 0x3, 0x8, 0x100, 0x7E00, 0x8000
_POLL_S = 0.05


@system
def _create(node: Node, pointer: int) -> int:
    handle = node.new_handle()
    node.event_sets[handle] = EventSet()
    return put(pointer, "P", handle)


def _free(node: Node, handle: int) -> int:
    events = node.event_sets.pop(handle, None)
    if events is None:
        raise Status(ARGUMENT)
    events.close()
    return 0


def _types(node: Node, gpu: SimGpu) -> int:
    mask = _XID | _RAS | (_ECC if gpu.model.ecc else 0) | (_MIG_CHANGE if gpu.model.profiles else 0)
    return mask | (_RECOVERY_ACTION if node.driver >= (580,) else 0)


@physical
def _supported(node: Node, gpu: SimGpu, pointer: int) -> int:
    return put(pointer, "Q", _types(node, gpu))


@physical
def _register(node: Node, gpu: SimGpu, mask: int, handle: int) -> int:
    events = node.event_sets.get(handle)
    if events is None:
        raise Status(ARGUMENT)
    if mask & ~_types(node, gpu):
        raise Status(NOT_SUPPORTED)
    events.register(node.handle_of(gpu), mask)
    return 0


def _wait(node: Node, handle: int, pointer: int, timeout_ms: int) -> int:
    end = time.monotonic() + timeout_ms / 1000
    while True:
        node.tick()
        if not node.initialized:
            raise Status(UNINITIALIZED)
        events = node.event_sets.get(handle)
        if events is None:
            raise Status(ARGUMENT)
        left = end - time.monotonic()
        until_next = node.seconds_to_next()
        # The story goes on while nobody calls: wake up for its next event.
        wait = left if until_next is None else min(left, max(until_next, _POLL_S))
        event = events.pop(max(0.0, wait))
        if event is not None:
            return put(pointer, "PQQII", event.handle, event.type, event.data, event.gi, event.ci)
        if left <= 0:
            raise Status(TIMEOUT)


FUNCTIONS: dict[str, Entry] = {
    "nvmlEventSetCreate": ("p", _create),
    "nvmlEventSetFree": ("p", _free),
    "nvmlDeviceGetSupportedEventTypes": ("pp", _supported),
    "nvmlDeviceRegisterEvents": ("pqp", _register),
    "nvmlEventSetWait": ("ppu", _wait),
    "nvmlEventSetWait_v2": ("ppu", _wait),
}

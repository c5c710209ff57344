"""NVML event sets: what a program registered for, and what waits to be fetched."""

import threading
from collections import deque
from dataclasses import dataclass

from gpuscope.simulate.status import UNINITIALIZED, Status

__all__ = ["NO_INSTANCE", "EventSet", "NvmlEvent"]

NO_INSTANCE = 0xFFFFFFFF
"""GPU instance and compute instance id of an event that concerns the whole GPU."""


@dataclass(frozen=True, slots=True)
class NvmlEvent:
    """An nvmlEventData_t: handle of the GPU, bit of the type, data such as the XID, instance ids."""

    handle: int
    type: int
    data: int
    gi: int = NO_INSTANCE
    ci: int = NO_INSTANCE


class EventSet:
    """An nvmlEventSet_t."""

    def __init__(self) -> None:
        self._masks: dict[int, int] = {}
        self._queue: deque[NvmlEvent] = deque()
        self._changed = threading.Condition()
        self._code = 0

    def register(self, handle: int, mask: int) -> None:
        """Adds event types of one GPU."""
        with self._changed:
            self._masks[handle] = self._masks.get(handle, 0) | mask

    def push(self, event: NvmlEvent) -> None:
        """Queues an event if its GPU was registered for its type."""
        with self._changed:
            if self._masks.get(event.handle, 0) & event.type:
                self._queue.append(event)
                self._changed.notify_all()

    def close(self, code: int = UNINITIALIZED) -> None:
        """Wakes waiters with a return code; later waits get it too."""
        with self._changed:
            self._code = code
            self._changed.notify_all()

    def pop(self, timeout_s: float) -> NvmlEvent | None:
        """Waits for the next event; ``None`` when there is none in time.

        Raises:
            Status: the driver went away.
        """
        with self._changed:
            if not self._queue and not self._code:
                self._changed.wait(timeout_s)
            if self._code:
                raise Status(self._code)
            return self._queue.popleft() if self._queue else None

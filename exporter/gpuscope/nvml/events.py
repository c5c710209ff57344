"""The NVML event thread: XIDs, ECC storms, recovery actions and MIG changes, as the driver reports them."""

import logging
import threading
import time
from collections.abc import Callable
from ctypes import c_void_p, cast
from dataclasses import dataclass
from typing import Any

import pynvml

from gpuscope.nvml.library import Session, code_name

__all__ = ["MIG_CONFIG_CHANGE", "EventWatcher", "NvmlEvent"]

log = logging.getLogger(__name__)

_XID = 0x8
MIG_CONFIG_CHANGE = "mig_config_change"
_TYPES = {
    0x100: MIG_CONFIG_CHANGE,
    0x200: "sbe_storm",
    0x400: "dram_retirement",
    0x800: "dram_retirement_failure",
    0x1000: "poison",
    0x2000: "fatal_poison",
    0x4000: "gpu_unavailable",
    0x8000: "recovery_action",
}
_NO_INSTANCE = 0xFFFFFFFF
_WAIT_MS = 1000
_BACKOFF_S = (1.0, 2.0, 5.0, 15.0, 30.0)


@dataclass(frozen=True, slots=True)
class NvmlEvent:
    """One event: ``xid`` is set for XIDs, else ``type`` names it. ``time`` is unix seconds."""

    uuid: str
    time: float
    type: str
    xid: int | None = None
    gi: int | None = None
    ci: int | None = None


class EventWatcher:
    """Waits for events of all GPUs in a thread of its own, and starts over when the driver interrupts it.

    Args:
        session: the running session.
        count: number of GPUs.
        deliver: called in the watcher's thread for each event.
        now: unix seconds.

    Attributes:
        up: whether events are being received now.
        restarts: how often the event set had to be made anew.
        types: event types that each GPU supports, by uuid.
    """

    def __init__(
        self, session: Session, count: int, deliver: Callable[[NvmlEvent], None], now: Callable[[], float] = time.time
    ) -> None:
        self._session = session
        self._count = count
        self._deliver = deliver
        self._now = now
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="nvml-events", daemon=True)
        self.up = False
        self.restarts = 0
        self.types: dict[str, tuple[str, ...]] = {}

    def start(self) -> None:
        """Starts the thread."""
        self._thread.start()

    def stop(self, timeout_s: float = 1.5) -> bool:
        """Asks the thread to end and waits; false when it hangs inside the driver."""
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _run(self) -> None:
        failures = 0
        while not self._stop.is_set():
            try:
                if self._watch():
                    failures = 0
            except pynvml.NVMLError as error:
                log.warning("NVML events interrupted: %s", code_name(error.value))
            self.up = False
            if self._stop.wait(_BACKOFF_S[min(failures, len(_BACKOFF_S) - 1)]):
                return
            failures += 1
            self.restarts += 1

    def _watch(self) -> bool:
        """One life of an event set; true when it delivered or waited successfully at least once."""
        events = pynvml.nvmlEventSetCreate()
        worked = False
        try:
            names = self._register(events)
            if not names:
                return False
            self.up = True
            while not self._stop.is_set():
                try:
                    data = pynvml.nvmlEventSetWait_v2(events, _WAIT_MS)
                except pynvml.NVMLError as error:
                    if error.value != pynvml.NVML_ERROR_TIMEOUT:
                        raise
                else:
                    self._dispatch(data, names)
                worked = True
        finally:
            if self._session.running:
                pynvml.nvmlEventSetFree(events)
        return worked

    def _register(self, events: Any) -> dict[int, str]:
        names: dict[int, str] = {}
        for index in range(self._count):
            try:
                handle = pynvml.nvmlDeviceGetHandleByIndex(index)
                uuid = pynvml.nvmlDeviceGetUUID(handle)
                mask = pynvml.nvmlDeviceGetSupportedEventTypes(handle) & (_XID | sum(_TYPES))
                pynvml.nvmlDeviceRegisterEvents(handle, mask, events)
            except pynvml.NVMLError as error:
                log.info("no NVML events from GPU %d: %s", index, code_name(error.value))
                continue
            text = uuid.decode() if isinstance(uuid, bytes) else uuid
            names[cast(handle, c_void_p).value or 0] = text
            self.types[text] = tuple(name for bit, name in _TYPES.items() if mask & bit)
        return names

    def _dispatch(self, data: Any, names: dict[int, str]) -> None:
        uuid = names.get(cast(data.device, c_void_p).value or 0)
        if uuid is None:
            return
        xid = int(data.eventData) if data.eventType == _XID else None
        name = "xid" if xid is not None else _TYPES.get(data.eventType)
        if name is not None:
            gi, ci = (None if part == _NO_INSTANCE else part for part in (data.gpuInstanceId, data.computeInstanceId))
            self._deliver(NvmlEvent(uuid, self._now(), name, xid, gi, ci))

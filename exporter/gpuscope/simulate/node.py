"""A simulated machine: its GPUs, its driver, its kernel log, and the story that a scenario tells."""

import threading
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gpuscope.simulate.clock import Clock
from gpuscope.simulate.device import SimGpu, SimMig
from gpuscope.simulate.kernel_log import KernelLog
from gpuscope.simulate.scenario import EVENTS, Scenario, mig_plans
from gpuscope.simulate.status import ARGUMENT, LOST, NOT_LOADED, RESET_REQUIRED, UNINITIALIZED, Status

__all__ = ["Node"]

_NO_INSTANCE = 0xFFFFFFFF
_XID, _MIG_CHANGE = 0x8, 0x100


class Node:
    """State shared by all simulated NVML functions.

    Args:
        scenario: machine and story.
        clock: simulated time.
        seed: name of the machine.
        kernel_log: file that gets NVRM lines, or ``None``.
    """

    def __init__(self, scenario: Scenario, clock: Clock, seed: str, kernel_log: Path | None) -> None:
        self.scenario = scenario
        self.clock = clock
        self.start = clock.now()
        self.version = str(scenario.driver["version"])
        self.present = bool(scenario.driver["present"])
        self.mismatch = False
        self.initialized = False
        self.blank = scenario.blank_sentinels
        self.gpus = [SimGpu(index, plan, seed, self.start) for index, plan in enumerate(scenario.gpus)]
        self.log = KernelLog(kernel_log, self.start)
        self.event_sets: dict[int, EventSet] = {}
        self.gpm_samples: dict[int, dict[str, float] | None] = {}
        self.next_handle = 0x7000
        self._handles: dict[int, tuple[SimGpu, SimMig | None]] = {}
        self._pending = deque(scenario.events)
        self._story = threading.RLock()

    @property
    def driver(self) -> tuple[int, ...]:
        """Driver version as numbers."""
        return tuple(int(part) for part in self.version.split("."))

    def handle_of(self, gpu: SimGpu, instance: SimMig | None = None) -> int:
        """The nvmlDevice_t of a device; a MIG device's is reused by its successor, as on hardware."""
        handle = 0x1000 * (gpu.index + 1) + (0x10 * (instance.index + 1) if instance else 0)
        self._handles[handle] = (gpu, instance)
        return handle

    def find(self, handle: int | None) -> tuple[SimGpu, SimMig | None]:
        """The device behind a handle, brought up to now; blocks while the GPU's calls are wedged.

        Raises:
            Status: not initialised, unknown handle, or the GPU is lost.
        """
        self.tick()
        if not self.initialized:
            raise Status(UNINITIALIZED)
        try:
            gpu, instance = self._handles[handle or 0]
        except KeyError:
            raise Status(ARGUMENT) from None
        wedged = gpu.wedged
        if wedged is not None:
            while not wedged.wait(0.2 / max(1.0, self.clock.speed)):
                self.tick()
        if gpu.lost:
            raise Status(gpu.lost)
        if instance is not None and instance not in gpu.mig:
            raise Status(ARGUMENT)
        with gpu.lock:
            gpu.advance(self.clock.now())
        return gpu, instance

    def tick(self) -> None:
        """Lets happen what is due."""
        if self._pending and self._pending[0].at <= self.clock.now() - self.start:
            with self._story:
                while self._pending and self._pending[0].at <= self.clock.now() - self.start:
                    event = self._pending.popleft()
                    self.happen(event.kind, dict(event.arguments))

    def seconds_to_next(self) -> float | None:
        """Real seconds until the next event of the story."""
        if not self._pending:
            return None
        return max(0.0, (self._pending[0].at - (self.clock.now() - self.start)) / self.clock.speed)

    def happen(self, kind: str, arguments: dict[str, Any]) -> None:
        """Makes something happen now; kinds and arguments are those of scenario events.

        Raises:
            ValueError: an unknown kind or argument.
        """
        if kind not in EVENTS or set(arguments) - set(EVENTS[kind]):
            raise ValueError(f"{kind} {arguments}: known are {EVENTS}")
        number = arguments.pop("gpu", None)
        target = self.gpus[number] if number is not None else None
        if target is not None and target.wedged is None:
            with target.lock:
                target.advance(self.clock.now())
        action: Callable[..., None] = getattr(self, f"_{kind}")
        with self._story:
            if target is not None:
                action(target, **arguments)
            else:
                action(**arguments)

    def emit(self, gpu: SimGpu, kind: int, data: int, gi: int = _NO_INSTANCE, ci: int = _NO_INSTANCE) -> None:
        """Queues an event for every event set that registered for it."""
        for events in list(self.event_sets.values()):
            events.push(self.handle_of(gpu), kind, data, gi, ci)

    def close(self) -> None:
        """Lets every blocked call go."""
        for gpu in self.gpus:
            self._unwedge(gpu)
        for events in list(self.event_sets.values()):
            events.close()
        self.log.close()

    def _lost(self, gpu: SimGpu) -> None:
        gpu.lost = LOST

    def _reset_required(self, gpu: SimGpu) -> None:
        gpu.lost = RESET_REQUIRED

    def _recovered(self, gpu: SimGpu) -> None:
        gpu.lost = 0
        gpu.recovery_action = 0

    def _wedge(self, gpu: SimGpu) -> None:
        gpu.wedged = threading.Event()

    def _unwedge(self, gpu: SimGpu) -> None:
        wedged, gpu.wedged = gpu.wedged, None
        if wedged is not None:
            wedged.set()

    def _xid(
        self, gpu: SimGpu, code: int, gi: int | None = None, ci: int | None = None, times: int = 1, message: str = ""
    ) -> None:
        self.log.xid(self.clock.now(), gpu.bus, code, gi, message, times)
        # The driver collapses a burst into one event; the log keeps every line.
        self.emit(gpu, _XID, code, _NO_INSTANCE if gi is None else gi, _NO_INSTANCE if ci is None else ci)

    def _sxid(self, switch: int = 0, code: int = 0, fatal: bool = False, message: str = "") -> None:
        self.log.sxid(self.clock.now(), switch, code, fatal, message)

    def _heat(self, gpu: SimGpu, celsius: float) -> None:
        gpu.heat = celsius

    def _power_brake(self, gpu: SimGpu, active: bool) -> None:
        gpu.brake = active

    def _row_remap(self, gpu: SimGpu, rows: int = 0, pending: bool = False, failed: bool = False) -> None:
        gpu.rows = [gpu.rows[0], gpu.rows[1] + rows, int(pending), int(failed)]

    def _ecc(self, gpu: SimGpu, corrected: int = 0, uncorrected: int = 0, rate: float | None = None) -> None:
        for severity, count in (("corrected", corrected), ("uncorrected", uncorrected)):
            gpu.ecc[severity] += count
            gpu.lifetime[severity] += count
        if rate is not None:
            gpu.ecc_rate = rate

    def _recovery_action(self, gpu: SimGpu, action: int) -> None:
        gpu.recovery_action = action
        self.emit(gpu, 0x8000, action)

    def _nvml_event(self, gpu: SimGpu, type: int) -> None:  # noqa: A002 - the scenario's word
        self.emit(gpu, type, 0)

    def _mig(self, gpu: SimGpu, instances: list[Any]) -> None:
        gpu.partition(mig_plans(instances, lambda path, why: ValueError(f"{path}: {why}")))
        self.emit(gpu, _MIG_CHANGE, 0)

    def _job(self, gpu: SimGpu, kind: str) -> None:
        gpu.kind = kind

    def _driver_unloaded(self) -> None:
        self.initialized = False
        self.present = False
        self._interrupt()

    def _driver_mismatch(self) -> None:
        self.present = True
        self.initialized = False
        self.mismatch = True

    def _driver_loaded(self, version: str) -> None:
        self.version = version
        self.mismatch = False
        self.present = True
        self.initialized = False
        for gpu in self.gpus:
            with gpu.lock:
                gpu.advance(self.clock.now())
                gpu.reset_counters()
        self._interrupt()

    def _interrupt(self) -> None:
        for events in list(self.event_sets.values()):
            events.close(NOT_LOADED)


class EventSet:
    """An nvmlEventSet_t: what was registered, and what waits to be fetched."""

    def __init__(self) -> None:
        self.masks: dict[int, int] = {}
        self._queue: deque[tuple[int, int, int, int, int]] = deque()
        self._changed = threading.Condition()
        self._code = 0

    def push(self, handle: int, kind: int, data: int, gi: int, ci: int) -> None:
        """Queues an event if its device was registered for its kind."""
        with self._changed:
            if self.masks.get(handle, 0) & kind:
                self._queue.append((handle, kind, data, gi, ci))
                self._changed.notify_all()

    def close(self, code: int = UNINITIALIZED) -> None:
        """Wakes waiters with a return code."""
        with self._changed:
            self._code = code
            self._changed.notify_all()

    def pop(self, timeout_s: float) -> tuple[int, int, int, int, int] | None:
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

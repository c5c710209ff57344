"""A simulated machine: its GPUs, its driver, its kernel log, and the story that a scenario tells."""

import heapq
import itertools
import threading
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from gpuscope.simulate.clock import Clock
from gpuscope.simulate.device import SimGpu
from gpuscope.simulate.event_set import NO_INSTANCE, EventSet, NvmlEvent
from gpuscope.simulate.happening import check
from gpuscope.simulate.kernel_log import KernelLog
from gpuscope.simulate.mig import SimMig
from gpuscope.simulate.scenario import Scenario
from gpuscope.simulate.status import ARGUMENT, UNINITIALIZED, Status
from gpuscope.simulate.story import ACTIONS
from gpuscope.simulate.tenancy import Run, Tenancy

__all__ = ["Kubelet", "Node"]

_WEDGE_POLL_S = 0.2


class Kubelet(Protocol):
    """The part of a kubelet look-alike that a story needs; the whole is imported with pods only."""

    def go_away(self, away: bool) -> None: ...

    def exhaust(self, calls: int) -> None: ...


class Node:
    """State shared by all simulated NVML functions.

    Args:
        scenario: machine and story.
        clock: simulated time.
        seed: name of the machine.
        kernel_log: file that gets NVRM lines, or ``None``.

    Attributes:
        present: whether the kernel module is loaded.
        installed: whether the library is on the machine.
        mismatch: whether library and kernel module have different versions.
        sessions: how often NVML was initialised and not shut down.
        moment: simulated time of what happens now.
        hanging_mounts: mount points of file systems that do not answer.
        kubelet: what the story does with kubelet happens to this one.
        watchers: called after pods, jobs or MIG devices have changed.
    """

    def __init__(self, scenario: Scenario, clock: Clock, seed: str, kernel_log: Path | None) -> None:
        self.scenario = scenario
        self.clock = clock
        now = clock.now()
        # Machines of one cluster share its story, although each comes a little later.
        self.start = self.moment = now if scenario.began is None else min(now, float(scenario.began))
        self.version = str(scenario.driver["version"])
        self.present = self.installed = bool(scenario.driver["present"])
        self.mismatch = False
        self.sessions = 0
        self.blank = scenario.blank_sentinels
        self.gpus = [SimGpu(index, plan, seed, self.start) for index, plan in enumerate(scenario.gpus)]
        self.log = KernelLog(kernel_log, self.start)
        self.event_sets: dict[int, EventSet] = {}
        self.gpm_samples: dict[int, dict[str, float] | None] = {}
        self.calling = threading.local()
        self.hanging_mounts: set[str] = set()
        self._next_handle = 0x7000
        self._handles: dict[int, tuple[SimGpu, SimMig | None]] = {}
        self.kubelet: Kubelet | None = None
        self.watchers: list[Callable[[], None]] = []
        # (seconds after the start, order among what is due at once, number, what happens then)
        self._pending: list[tuple[float, int, int, Callable[[float], None]]] = []
        self._numbers = itertools.count()
        self._story = threading.RLock()
        self._changes = 0
        for event in scenario.events:
            self._later(event.at, 1, partial(self._let_happen, event.kind, event.arguments))
        self._tenancy = Tenancy(scenario, self.gpus, seed, self.start, clock.now, self._later)

    @property
    def driver(self) -> tuple[int, ...]:
        """Driver version as numbers."""
        return tuple(int(part) for part in self.version.split("."))

    @property
    def initialized(self) -> bool:
        """Whether NVML answers."""
        return self.sessions > 0

    def call_name(self) -> str:
        """The NVML function that this thread is in."""
        return getattr(self.calling, "name", "")

    def new_handle(self) -> int:
        """A handle for something that is not a device."""
        with self._story:
            self._next_handle += 0x10
            return 0x60000000 + self._next_handle

    def handle_of(self, gpu: SimGpu, instance: SimMig | None = None) -> int:
        """The nvmlDevice_t of a device; a MIG device's is reused by its successor, as on hardware."""
        handle = 0x1000 * (gpu.index + 1) + (0x10 * (instance.index + 1) if instance else 0)
        self._handles[handle] = (gpu, instance)
        return handle

    def find(self, handle: int | None) -> tuple[SimGpu, SimMig | None]:
        """The device behind a handle; blocks while the GPU's calls are wedged.

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
        if wedged is not None and (not gpu.wedged_calls or self.call_name() in gpu.wedged_calls):
            while not wedged.wait(_WEDGE_POLL_S / max(1.0, self.clock.speed)):
                self.tick()
        if gpu.lost:
            raise Status(gpu.lost)
        if instance is not None and instance not in gpu.mig:
            raise Status(ARGUMENT)
        return gpu, instance

    def tick(self) -> None:
        """Lets happen what is due."""
        if not self._due():
            return
        with self._story:
            before = self._version()
            while self._due():
                at, _, _, happening = heapq.heappop(self._pending)
                happening(self.start + at)
            self._tell(before)

    def runs(self) -> tuple[Run, ...]:
        """The pods and jobs that run now."""
        with self._story:
            self.tick()
            return tuple(self._tenancy.runs)

    def _later(self, at: float, order: int, happening: Callable[[float], None]) -> None:
        heapq.heappush(self._pending, (at, order, next(self._numbers), happening))

    def _version(self) -> tuple[int, int]:
        return self._tenancy.version, self._changes

    def _tell(self, before: tuple[int, int]) -> None:
        if self._version() != before:
            for watcher in self.watchers:
                watcher()

    def _due(self) -> bool:
        try:
            return self._pending[0][0] <= self.clock.now() - self.start
        except IndexError:
            return False

    def seconds_to_next(self) -> float | None:
        """Real seconds until something happens."""
        try:
            at = self._pending[0][0]
        except IndexError:
            return None
        return max(0.0, (at - (self.clock.now() - self.start)) / self.clock.speed)

    def happen(self, kind: str, arguments: dict[str, Any]) -> None:
        """Makes something happen now; kinds and arguments are those of scenario events.

        Raises:
            ValueError: an unknown kind or argument.
        """
        check(kind, arguments, self.scenario.gpus)
        self.tick()
        with self._story:
            before = self._version()
            self._let_happen(kind, arguments, self.clock.now())
            self._tell(before)

    def _let_happen(self, kind: str, given: Mapping[str, Any], when: float) -> None:
        self.moment = when
        action, arguments = ACTIONS[kind], dict(given)
        if "gpu" not in arguments:
            action(self, **arguments)
            return
        gpu = self.gpus[arguments.pop("gpu")]
        with gpu.lock:
            gpu.advance(when)
            action(self, gpu, **arguments)
            gpu.changed()
        if kind == "mig":
            self._changes += 1
            self._tenancy.end_on(gpu.index, when)

    def emit(self, gpu: SimGpu, kind: int, data: int = 0, gi: int = NO_INSTANCE, ci: int = NO_INSTANCE) -> None:
        """Queues an event for every event set that registered for it."""
        event = NvmlEvent(self.handle_of(gpu), kind, data, gi, ci)
        for events in list(self.event_sets.values()):
            events.push(event)

    def interrupt(self, code: int) -> None:
        """Ends the wait of every event set with a return code."""
        for events in list(self.event_sets.values()):
            events.close(code)

    def close(self) -> None:
        """Lets every blocked call go and closes the kernel log."""
        self._pending.clear()
        for gpu in self.gpus:
            gpu.unwedge()
        self.interrupt(UNINITIALIZED)
        self.log.close()

"""The life of the NVML session: start, watch, end, start anew; and the workers that live in it."""

import logging
import os
import threading
import time
from collections.abc import Callable
from dataclasses import replace

from gpuscope.catalogue.metric import Sample, Tier
from gpuscope.catalogue.xid import EVENT_WATCHER_RESTARTS, EVENT_WATCHER_UP
from gpuscope.collectors import COLLECTORS, confidential, processes
from gpuscope.errors import NvmlUnavailable
from gpuscope.nvml.events import MIG_CONFIG_CHANGE, EventWatcher, NvmlEvent
from gpuscope.nvml.gpu import Gpu
from gpuscope.nvml.identity import DriverStatus
from gpuscope.nvml.ledger import Ledger, total
from gpuscope.nvml.library import Session
from gpuscope.sampling.options import SamplingOptions
from gpuscope.sampling.publisher import FaultSource, Publisher, Situation
from gpuscope.sampling.rendering import Rendering, plain
from gpuscope.sampling.snapshot import Snapshot
from gpuscope.sampling.worker import Worker

__all__ = ["Supervisor"]

log = logging.getLogger(__name__)

_BACKOFF_S = (1.0, 2.0, 5.0, 10.0, 15.0, 30.0)
_RECOUNT_S = 30.0
_STOP_S = 1.0


class Supervisor:
    """Samples all GPUs of this machine.

    Args:
        options: settings.
        faults: the fault ledger; gets NVML's events through ``deliver``.
        deliver: called for each NVML event, in the event thread.
        open_library: stands for the driver's library; ``None`` for the real one.
        rendering: turns the readings of the GPUs into text.
    """

    def __init__(
        self,
        options: SamplingOptions,
        faults: FaultSource,
        deliver: Callable[[NvmlEvent], None],
        open_library: Callable[[], object] | None = None,
        rendering: Rendering = plain,
    ) -> None:
        self._options = options
        self._deliver = deliver
        self._session = Session(open_library)
        self._driver = DriverStatus(
            ok=False, reason="starting", message="the agent has just started", since=time.time(),
            simulated=options.simulated,
        )  # fmt: skip
        self._workers: tuple[Worker, ...] = ()
        self._watcher: EventWatcher | None = None
        self._watcher_restarts = 0
        self._retired = Ledger()
        self._kept: dict[str, Gpu] = {}
        self._count: int | None = None
        self._most = 0
        self._node: tuple[Sample, ...] = ()
        self._stop = threading.Event()
        self._attention = threading.Event()
        self._released = False
        self._failed: NvmlUnavailable | None = None
        self._rebuild = False
        self._thread = threading.Thread(target=self._run, name="supervisor", daemon=True)
        self.publisher = Publisher(options, self._situation, faults, rendering)

    def start(self) -> None:
        """Starts sampling; returns at once."""
        self.publisher.start()
        self._thread.start()

    def stop(self) -> None:
        """Ends sampling within two seconds, also when the driver hangs."""
        self._stop.set()
        self._attention.set()
        self.publisher.stop()
        if self._thread.ident is not None:
            self._thread.join(_STOP_S + 0.3)

    def snapshot(self) -> Snapshot:
        """What is known now."""
        return self.publisher.snapshot

    def alive(self) -> tuple[bool, str]:
        """Watchdog: whether the agent itself still works, and what hangs if not. Says nothing about the driver."""
        age = self.publisher.heartbeat_age_s()
        limit = 3 * self._options.intervals[Tier.FAST] + 10
        return (True, "") if age < limit else (False, f"no snapshot for {age:.0f} s")

    def stuck_for_s(self) -> float:
        """Seconds for which the longest of the running NVML cycles has been past its deadline; 0 when none is."""
        now = time.monotonic()
        stuck = [worker.busy_since for worker in self._workers if worker.stuck(now)]
        return max((now - began for began in stuck if began is not None), default=0.0)

    def release(self) -> None:
        """Ends the NVML session and closes its device files, so that a GPU reset or a MIG change is not blocked."""
        self._released = True
        self._attention.set()

    def resume(self) -> None:
        """Starts sampling again after ``release``."""
        self._released = False
        self._attention.set()

    @property
    def released(self) -> bool:
        """Whether the driver was let go on request."""
        return self._released

    def reconfigure(self, options: SamplingOptions) -> None:
        """Puts new settings in force; the last snapshot stays until the first cycle under them is done."""
        self._options = options
        self.publisher.options = options
        self.publisher.hold()
        self._rebuild = True
        self._attention.set()

    def _situation(self) -> Situation:
        watcher = self._watcher
        restarts = self._watcher_restarts + (watcher.restarts if watcher else 0)
        samples = (
            *self._node,
            *processes.visibility(self._options.procfs),
            Sample(EVENT_WATCHER_UP, (), float(watcher is not None and watcher.up)),
            Sample(EVENT_WATCHER_RESTARTS, (), float(restarts)),
        )
        return Situation(self._driver, self._workers, self._count, self._expected(), samples, self._retired)

    def _expected(self) -> int | None:
        if self._options.expected_gpus is not None:
            return self._options.expected_gpus
        try:
            listed = len(os.listdir(self._options.procfs / "driver/nvidia/gpus"))
        except OSError:
            listed = 0
        return max(self._most, listed) or None

    def _run(self) -> None:
        failures = 0
        while not self._stop.is_set():
            self._attention.clear()
            if self._released:
                self._set_driver("released", "the driver was released on request; SIGUSR2 takes it up again")
                self._attention.wait()
                continue
            try:
                self._session.start(may_unload=not self._hanging())
                count = self._session.count()
            except NvmlUnavailable as error:
                self._session.stop()
                self._set_driver(error.reason, str(error))
                self._attention.wait(_BACKOFF_S[min(failures, len(_BACKOFF_S) - 1)])
                failures += 1
                continue
            failures = 0
            self._open(count)
            self._watch()
            self._close()

    def _open(self, count: int) -> None:
        self._count, self._most = count, max(self._most, count)
        self._failed, self._rebuild = None, False
        self._driver = DriverStatus(
            ok=True,
            since=self._driver.since if self._driver.ok else time.time(),
            driver_version=self._session.driver_version,
            cuda_version=self._session.cuda_version,
            nvml_version=self._session.nvml_version,
            kernel_module=self._kernel_module(),
            simulated=self._options.simulated,
        )
        log.info("driver %s, %d GPUs", self._session.driver_version, count)
        self._node = confidential.node_samples(self._session) if "confidential" in self._options.collectors else ()
        collectors = [one for one in COLLECTORS if one.name in self._options.collectors]
        visible = processes.processes_visible(self._options.procfs) is not False
        hanging = {worker.index: worker for worker in self._hanging()}
        self._workers = tuple(
            hanging.get(index)
            or Worker(
                index,
                self._session,
                collectors=collectors,
                intervals=self._options.intervals,
                deadline_s=self._options.deadline_s,
                processes_visible=visible,
                published=self.publisher.notify,
                driver_failed=self._driver_failed,
                earlier=self._kept,
            )
            for index in range(count)
        )
        for worker in self._workers:
            if worker.index not in hanging:
                worker.start()
        self._watcher = EventWatcher(self._session, count, self._event)
        self._watcher.start()

    def _watch(self) -> None:
        while not (self._stop.is_set() or self._released or self._failed or self._rebuild):
            if self._attention.wait(_RECOUNT_S):
                self._attention.clear()
                continue
            try:
                count = self._session.count()
            except NvmlUnavailable as error:
                self._failed = error
            else:
                if count != self._count:
                    log.warning("the driver lists %d GPUs now, before it were %d", count, self._count)
                    return

    def _close(self) -> None:
        if self._failed is not None:
            log.warning("driver lost: %s", self._failed)
            self._set_driver(self._failed.reason, str(self._failed))
        end = time.monotonic() + _STOP_S
        for worker in self._workers:
            worker.ask_stop()
        watcher, self._watcher = self._watcher, None
        if watcher is not None:
            watcher.stop(max(0.1, end - time.monotonic()))
            self._watcher_restarts += watcher.restarts
        for worker in self._workers:
            if worker.join(max(0.05, end - time.monotonic())):
                self._retired = total([self._retired, worker.ledger])
                self._retired.unsupported.clear()
                worker.ledger = Ledger()
            self._kept.update(worker.known)
        if not self._hanging() or not self._stop.is_set():
            self._session.stop()

    def _hanging(self) -> list[Worker]:
        return [worker for worker in self._workers if worker.busy_since is not None and not worker.join(0)]

    def _driver_failed(self, error: NvmlUnavailable) -> None:
        self._failed = error
        self._attention.set()

    def _event(self, event: NvmlEvent) -> None:
        if event.type == MIG_CONFIG_CHANGE:
            for worker in self._workers:
                identity = worker.state.identity
                if identity is not None and identity.uuid == event.uuid:
                    worker.mig_changed()
        self._deliver(event)
        self.publisher.notify()

    def _set_driver(self, reason: str, message: str) -> None:
        if self._driver.ok or self._driver.reason != reason:
            log.warning("driver not available (%s): %s", reason, message)
            self._driver = DriverStatus(
                ok=False, reason=reason, message=message, since=time.time(), simulated=self._options.simulated
            )
        else:
            self._driver = replace(self._driver, message=message)
        self._count = None
        self.publisher.notify()

    def _kernel_module(self) -> str:
        try:
            text = (self._options.procfs / "driver/nvidia/version").read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""
        return "open" if "Open Kernel Module" in text else "proprietary"

"""The thread of one GPU: samples it on time, and stands alone when its driver call hangs."""

import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from gpuscope.catalogue.metric import Sample, Tier
from gpuscope.collectors.collector import Collector
from gpuscope.errors import DeviceError, DeviceLost, NvmlUnavailable
from gpuscope.nvml.gpu import Gpu, open_gpu
from gpuscope.nvml.identity import GpuIdentity, MigInstance
from gpuscope.nvml.ledger import Ledger
from gpuscope.nvml.library import Session
from gpuscope.nvml.processes import ProcessList
from gpuscope.sampling.sampler import TIERS, CollectorRun, GpuSampler, Readings

__all__ = ["Worker", "WorkerState"]

log = logging.getLogger(__name__)

_MIG_POLL_S = 30.0
_REOPEN_S = (5.0, 10.0, 30.0)
_FIRST_WINDOW_S = 1.0


@dataclass(frozen=True, slots=True)
class WorkerState:
    """What a worker last knew; replaced whole after every cycle.

    Attributes:
        identity: the GPU, ``None`` while it could never be opened.
        up: the last cycle succeeded.
        reason: why not: ``lost``, ``reset_required``, ``driver`` or ``error``.
        since: unix time of the last change of ``up``.
        sampled: unix time of the last fast cycle that succeeded.
        mig_enabled: MIG mode, ``None`` where unknown.
        mig: MIG instances.
        samples: readings.
        readings: the same by collector and tier, with their finished lines.
        durations: seconds of the last cycle, per tier.
        succeeded: unix time of the last cycle that succeeded, per tier.
        runs: how each collector's last run went.
        listed: the GPU's processes, ``None`` where they are not known.
    """

    identity: GpuIdentity | None = None
    up: bool = False
    reason: str = ""
    since: float = 0.0
    sampled: float | None = None
    mig_enabled: bool | None = None
    mig: tuple[MigInstance, ...] = ()
    samples: tuple[Sample, ...] = ()
    readings: Mapping[tuple[str, Tier], Readings] = field(default_factory=dict)
    durations: Mapping[Tier, float] = field(default_factory=dict)
    succeeded: Mapping[Tier, float] = field(default_factory=dict)
    runs: Mapping[str, CollectorRun] = field(default_factory=dict)
    listed: ProcessList | None = None


class Worker:
    """Samples one GPU in a thread of its own.

    Args:
        index: NVML index.
        session: the running session.
        collectors: what to run.
        intervals: seconds between cycles, per tier.
        deadline_s: a cycle longer than this does not count.
        processes_visible: whether an empty process list proves anything.
        published: called after every cycle.
        driver_failed: called with the error when the driver as a whole is gone.
        earlier: the worker of the same GPU in an earlier session, whose counters go on.

    Attributes:
        ledger: account of this GPU's NVML calls.
        state: what was last known.
        busy_since: monotonic time at which the running cycle began, ``None`` while idle.
        skipped: cycles that did not count, by (tier, reason).
    """

    def __init__(
        self,
        index: int,
        session: Session,
        *,
        collectors: Sequence[Collector],
        intervals: Mapping[Tier, float],
        deadline_s: float,
        processes_visible: bool,
        published: Callable[[], None],
        driver_failed: Callable[[NvmlUnavailable], None],
        earlier: "Mapping[str, Gpu] | None" = None,
    ) -> None:
        self.index = index
        self.ledger = Ledger()
        self.state = WorkerState(since=time.time())
        self.busy_since: float | None = None
        self.skipped: dict[tuple[Tier, str], int] = {}
        self.sampler: GpuSampler | None = None
        self._session = session
        self._collectors = collectors
        self._intervals = dict(intervals)
        self._deadline_s = deadline_s
        self._processes_visible = processes_visible
        self._published = published
        self._driver_failed = driver_failed
        self._earlier = earlier or {}
        self._wake = threading.Event()
        self._stop = False
        self._look_for_mig = True
        self._due: dict[Tier, float] = dict.fromkeys(TIERS, 0.0)
        self._mig_due = 0.0
        self._reopen = 0
        self._reopen_due = 0.0
        self._thread = threading.Thread(target=self._run, name=f"gpu-{index}", daemon=True)

    def start(self) -> None:
        """Starts the thread."""
        self._thread.start()

    def ask_stop(self) -> None:
        """Asks the thread to end after the running cycle."""
        self._stop = True
        self._wake.set()

    def join(self, timeout_s: float) -> bool:
        """Waits for the thread; false when it still hangs inside the driver."""
        if self._thread.ident is not None:
            self._thread.join(timeout_s)
        return not self._thread.is_alive()

    @property
    def known(self) -> "Mapping[str, Gpu]":
        """UUID -> the GPU with its counters, also after it went down; for a worker of a later session."""
        sampler = self.sampler
        return self._earlier if sampler is None else {sampler.gpu.uuid: sampler.gpu}

    def mig_changed(self) -> None:
        """Makes the worker look for MIG changes at once."""
        self._look_for_mig = True
        self._wake.set()

    def stuck(self, now: float) -> bool:
        """Whether the running cycle is past its deadline (``now`` is monotonic seconds)."""
        began = self.busy_since
        return began is not None and now - began > self._deadline_s

    def _run(self) -> None:
        while not self._stop:
            now = time.monotonic()
            due = [tier for tier in TIERS if self._due[tier] <= now]
            if due and now >= self._reopen_due:
                self._turn(due, now)
            upcoming = max(min(self._due.values()), self._reopen_due)
            self._wake.wait(max(0.0, upcoming - time.monotonic()))
            self._wake.clear()
        if self.sampler is not None:
            self.sampler.gpu.close_windows()

    def _turn(self, due: list[Tier], now: float) -> None:
        self.busy_since = now
        try:
            self._cycle(due, now)
        except DeviceLost as error:
            self._down("reset_required" if error.code == "reset_required" else "lost", due)
        except NvmlUnavailable as error:
            self._down("driver", due)
            if not self._stop:
                self._driver_failed(error)
        except DeviceError as error:
            log.warning("GPU %d cannot be opened: %s", self.index, error)
            self._down("error", due)
        finally:
            self.busy_since = None
        self._published()

    def _cycle(self, due: list[Tier], began: float) -> None:
        sampler = self.sampler or self._open()
        if self._look_for_mig or began >= self._mig_due:
            self._look_for_mig = False
            self._mig_due = began + _MIG_POLL_S
            if sampler.refresh_mig():
                due = list(TIERS)
        durations = dict(self.state.durations)
        for tier in due:
            started = time.monotonic()
            sampler.cycle((tier,))
            durations[tier] = time.monotonic() - started
        ended = time.monotonic()
        if ended - began > self._deadline_s:
            # What was read before the driver hung is old by now; the next cycle reads everything anew.
            sampler.readings = {}
            self._skip(due, "timeout")
            self._due = dict.fromkeys(TIERS, 0.0)
            return
        self._reopen = 0
        self._schedule(due, began)
        wall = time.time()
        gpu = sampler.gpu
        self.state = WorkerState(
            identity=gpu.identity,
            up=True,
            since=self.state.since if self.state.up else wall,
            sampled=wall if Tier.FAST in due else self.state.sampled,
            mig_enabled=gpu.mig_enabled,
            mig=tuple(device.instance for device in gpu.mig),
            samples=sampler.samples(),
            readings=sampler.readings,
            durations=durations,
            succeeded={**self.state.succeeded, **dict.fromkeys(due, wall)},
            runs={name: replace(run) for name, run in sampler.runs.items()},
            listed=gpu.listed,
        )

    def _open(self) -> GpuSampler:
        known = self.state.identity
        gpu = open_gpu(self._session, self.index, self.ledger, uuid=known.uuid if known else "")
        gpu.processes_visible = self._processes_visible
        if gpu.uuid in self._earlier:
            gpu.adopt(self._earlier[gpu.uuid])
        self.state = replace(self.state, identity=gpu.identity)
        self.sampler = GpuSampler(gpu, self._collectors)
        self._look_for_mig = True
        return self.sampler

    def _schedule(self, done: Iterable[Tier], began: float) -> None:
        for tier in done:
            interval = self._intervals.get(tier, float("inf"))
            if self._due[tier] == 0.0 and tier is Tier.ACTIVITY:
                interval = min(interval, _FIRST_WINDOW_S)  # so that the first window closes soon
            elif self._due[tier] == 0.0 and tier is Tier.SLOW:
                interval *= 1 + self.index % 8 / 8  # spread, so that slow calls of all GPUs do not meet
            # From the planned time on, not from the actual one: so the GPUs stay in step with each other.
            planned = self._due[tier]
            self._due[tier] = (planned if planned and began - planned < interval else began) + interval

    def _down(self, reason: str, due: Iterable[Tier]) -> None:
        state = self.state
        self.state = WorkerState(
            identity=state.identity,
            reason=reason,
            since=time.time() if state.up or state.reason != reason else state.since,
            sampled=state.sampled,
            durations=state.durations,
            succeeded=state.succeeded,
        )
        self._skip(due, reason)
        if self.sampler is not None:
            self._earlier = {self.sampler.gpu.uuid: self.sampler.gpu}
            self.sampler.gpu.close_windows()
            self.sampler = None
        self._reopen_due = time.monotonic() + _REOPEN_S[min(self._reopen, len(_REOPEN_S) - 1)]
        self._reopen += 1
        self._due = dict.fromkeys(TIERS, 0.0)

    def _skip(self, due: Iterable[Tier], reason: str) -> None:
        for tier in due:
            self.skipped[tier, reason] = self.skipped.get((tier, reason), 0) + 1

"""Puts what the workers know into one immutable snapshot. Never touches NVML, so it cannot hang with it."""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from gpuscope.attribution.allocation import Allocation
from gpuscope.attribution.look import Look
from gpuscope.attribution.states import StateSeconds
from gpuscope.catalogue import METRICS, inventory
from gpuscope.catalogue import agent as m
from gpuscope.catalogue.metric import Sample, Tier
from gpuscope.collectors.inventory import facts
from gpuscope.collectors.sink import Sink
from gpuscope.faults.fault import Fault
from gpuscope.nvml.identity import DriverStatus, GpuIdentity
from gpuscope.nvml.ledger import Ledger, total
from gpuscope.sampling import account
from gpuscope.sampling.exposition import Exposition, render_blocks
from gpuscope.sampling.looks import look
from gpuscope.sampling.node_source import NodeSource
from gpuscope.sampling.options import SamplingOptions
from gpuscope.sampling.process import process_text
from gpuscope.sampling.rendering import Device, Rendering, plain
from gpuscope.sampling.snapshot import GpuStatus, Snapshot
from gpuscope.sampling.worker import Worker, WorkerState

__all__ = ["FaultSource", "Publisher", "Situation"]

log = logging.getLogger(__name__)

_GRACE_S = 0.2
_HOLD_S = 15.0
_FULL_CYCLE = (Tier.STATIC, Tier.FAST, Tier.ACTIVITY, Tier.PROCESSES, Tier.SLOW)


class FaultSource(Protocol):
    """What the publisher needs of the fault ledger."""

    def known_gpus(self, identities: Sequence[GpuIdentity]) -> None:
        """Tells which GPUs exist."""

    def samples(self, identity: GpuIdentity) -> tuple[Sample, ...]:
        """Fault series of one GPU."""

    def node_samples(self) -> tuple[Sample, ...]:
        """Fault series without a GPU."""

    def recent(self) -> tuple[Fault, ...]:
        """The last faults, newest first."""


@dataclass(frozen=True, slots=True)
class Situation:
    """What the supervisor knows: driver, workers, and facts of the whole machine."""

    driver: DriverStatus
    workers: tuple[Worker, ...] = ()
    count: int | None = None
    expected: int | None = None
    samples: tuple[Sample, ...] = ()
    retired: Ledger = field(default_factory=Ledger)


class Publisher:
    """Makes snapshots, when a worker finished a cycle and at least once per fast interval.

    Args:
        options: settings.
        situation: returns the present ``Situation``.
        faults: the fault ledger.
        rendering: turns the readings of the GPUs into text.

    Attributes:
        looks: the GPUs of the last snapshot, as attribution sees them.
        snapshot: what is known; replaced whole.
    """

    def __init__(
        self,
        options: SamplingOptions,
        situation: Callable[[], Situation],
        faults: FaultSource,
        rendering: Rendering = plain,
    ) -> None:
        self.options = options
        self._rendering = rendering
        self._situation = situation
        self._faults = faults
        self._known: dict[str, WorkerState] = {}
        self._down_since: dict[str, tuple[str, float]] = {}
        self._skipped: dict[tuple[Tier, str], int] = {}
        self._extra: tuple[Sample, ...] = ()
        self._sources: Sequence[NodeSource] = ()
        self._broken: dict[str, int] = {}
        self._allocation: Callable[[], Allocation] = Allocation
        self._states = StateSeconds()
        self.looks: Sequence[Look] = ()
        self._hold_until = 0.0
        self._outgoing: tuple[Worker, ...] = ()
        self._changed = threading.Event()
        self._stop = threading.Event()
        self._beat = time.monotonic()
        self._thread = threading.Thread(target=self._run, name="publisher", daemon=True)
        self.snapshot = self.publish()

    def start(self) -> None:
        """Starts the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Ends the thread."""
        self._stop.set()
        self._changed.set()
        if self._thread.ident is not None:
            self._thread.join(1.0)

    def notify(self) -> None:
        """Says that there is something new."""
        self._changed.set()

    def set_extra(self, samples: tuple[Sample, ...]) -> None:
        """Sets the samples of the agent's owner: configuration reloads and the like."""
        self._extra = samples
        self._changed.set()

    def attach(self, sources: Sequence[NodeSource], allocation: Callable[[], Allocation] = Allocation) -> None:
        """Adds what is known beside NVML.

        Args:
            sources: subjects of the whole machine; those whose collector is off are left out.
            allocation: gives who holds which GPU now.
        """
        self._sources, self._allocation = sources, allocation

    def hold(self) -> None:
        """Keeps the present snapshot until new workers have read everything once, so that no GPU seems to go away."""
        self._outgoing = self._situation().workers
        self._hold_until = time.monotonic() + _HOLD_S

    def heartbeat_age_s(self) -> float:
        """Seconds since the last sign of life."""
        return time.monotonic() - self._beat

    def publish(self) -> Snapshot:
        """Builds the snapshot of this moment and puts it in force."""
        situation = self._situation()
        now = time.monotonic()
        gpus = self._gpus(situation, now)
        self._faults.known_gpus([gpu.status.identity for gpu in gpus])
        ready = self._ready(situation)
        allocation, states = self._attribute(situation, gpus, now)
        node = [*self._node_samples(situation, ready), *states]
        rendered = self._rendering(self.options, situation.driver, gpus, node)
        blocks = [*rendered.blocks, render_blocks(node)]
        count = 1 + rendered.foreign_series + sum(body.count("\n") for source in blocks for body in source.values())
        series = Sample(m.SERIES, (), float(count))
        node.append(series)
        classic, openmetrics = (own + more for own, more in zip(process_text(), rendered.foreign, strict=True))
        exposition = Exposition([*blocks, render_blocks([series])], METRICS, (classic, openmetrics))
        self.snapshot = Snapshot(
            version=self.options.version,
            node=self.options.node,
            created=time.time(),
            ready=ready,
            driver=situation.driver,
            expected_gpus=situation.expected,
            gpus=tuple(gpu.status for gpu in gpus),
            node_samples=tuple(node),
            faults=self._faults.recent(),
            exposition=exposition,
            allocation=allocation,
            allocation_states=self._states.now,
        )
        return self.snapshot

    def _attribute(
        self, situation: Situation, gpus: Sequence[Device], now: float
    ) -> tuple[Allocation, tuple[Sample, ...]]:
        looks = [look(gpu.status, situation.driver) for gpu in gpus]
        # A GPU that was not looked at yet would make its holders' devices unknown ones.
        if all(_looked_at(worker, now) for worker in situation.workers):
            self.looks = looks
        if "attribution" not in self.options.collectors:
            self._states = StateSeconds()
            return Allocation(), ()
        allocation = self._allocation()
        self._states.busy_from = self.options.busy_from
        return allocation, self._states.advance(now, looks, allocation)

    def _run(self) -> None:
        while not self._stop.is_set():
            self._changed.wait(self.options.intervals[Tier.FAST])
            self._stop.wait(_GRACE_S)  # the other GPUs of this tick are nearly done: one snapshot for all
            self._changed.clear()
            try:
                if not self._holding():
                    self.publish()
            except Exception:  # the boundary: a broken snapshot must not end publishing
                log.exception("snapshot failed")
            self._beat = time.monotonic()

    def _holding(self) -> bool:
        now = time.monotonic()
        if now >= self._hold_until:
            return False
        situation = self._situation()
        new = situation.workers is not self._outgoing
        if not situation.driver.ok or (new and all(_settled(worker, now) for worker in situation.workers)):
            self._hold_until = 0.0
        return self._hold_until > now

    def _gpus(self, situation: Situation, now: float) -> list[Device]:
        found: dict[str, Device] = {}
        for worker in situation.workers:
            state = worker.state
            identity = state.identity or GpuIdentity(worker.index, "", "")
            stuck = worker.stuck(now)
            up = state.up and not stuck and situation.driver.ok
            reason = "" if up else self._reason(situation, state, stuck)
            if not up and not reason:
                continue  # not yet sampled for the first time
            found[identity.uuid or str(worker.index)] = self._gpu(identity, state, up, reason, stuck)
            if identity.uuid:
                self._known[identity.uuid] = state
        # Right after the driver came back nobody knows yet which GPUs are there; that makes none of them lost.
        settled = situation.driver.ok and all(_looked_at(worker, now) for worker in situation.workers)
        for uuid, state in self._known.items():
            if uuid not in found and state.identity is not None:
                reason = "lost" if settled else "driver"
                found[uuid] = self._gpu(state.identity, state, False, reason, False)
        return sorted(found.values(), key=lambda gpu: (gpu.status.identity.index, gpu.status.identity.uuid))

    @staticmethod
    def _reason(situation: Situation, state: WorkerState, stuck: bool) -> str:
        if stuck:
            return "timeout"
        return "driver" if not situation.driver.ok else state.reason

    def _gpu(self, identity: GpuIdentity, state: WorkerState, up: bool, reason: str, stuck: bool) -> Device:
        sink = Sink(identity, Ledger())
        if not up and identity.uuid:
            facts(identity, sink)
        sink.gpu(inventory.GPU_UP, up)
        if reason:
            sink.gpu(inventory.GPU_FAILURE_INFO, 1, reason)
        sink.gpu(m.WORKER_STUCK, stuck)
        own = (*sink.samples, *self._faults.samples(identity))
        readings = state.samples if up else ()
        status = GpuStatus(
            identity=identity,
            up=up,
            reason=reason,
            since=self._since(identity.uuid, state, up, reason),
            sampled=state.sampled,
            mig_enabled=state.mig_enabled if up else None,
            mig=state.mig if up else (),
            samples=(*own, *readings),
            listed=state.listed if up else None,
        )
        return Device(status, own, state.readings if up else {})

    def _since(self, uuid: str, state: WorkerState, up: bool, reason: str) -> float:
        if up:
            self._down_since.pop(uuid, None)
            return state.since
        if self._down_since.get(uuid, ("", 0.0))[0] != reason:
            self._down_since[uuid] = (reason, time.time())
        return self._down_since[uuid][1]

    @staticmethod
    def _ready(situation: Situation) -> bool:
        if not situation.driver.ok or situation.count is None:
            return False
        wanted = set(_FULL_CYCLE)
        return all(
            worker.state.reason or wanted <= set(worker.state.succeeded) or worker.stuck(time.monotonic())
            for worker in situation.workers
        )

    def _node_samples(self, situation: Situation, ready: bool) -> list[Sample]:
        now = time.monotonic()
        states = [worker.state for worker in situation.workers]
        # A GPU whose call hangs is not up: that its cycles are late is told by its own series.
        awake = [worker.state for worker in situation.workers if not worker.stuck(now)]
        skipped: dict[tuple[Tier, str], int] = dict(self._skipped)
        for worker in situation.workers:
            for key, count in dict(worker.skipped).items():
                skipped[key] = skipped.get(key, 0) + count
        ledger = total([situation.retired, *(worker.ledger for worker in situation.workers)])
        samples = account.build_samples(self.options)
        samples += account.driver_samples(situation.driver, ready=ready)
        if situation.count is not None:
            samples.append(Sample(inventory.GPUS, (), float(situation.count)))
        if situation.expected is not None:
            samples.append(Sample(inventory.GPUS_EXPECTED, (), float(situation.expected)))
        samples += situation.samples
        samples += account.cycle_samples(awake, skipped)
        samples += account.collector_samples(states)
        samples += account.call_samples(ledger)
        samples += self._faults.node_samples()
        samples += self._extra
        for source in self._sources:
            if source.name in self.options.collectors:
                samples += self._samples_of(source)
        return samples

    def _samples_of(self, source: NodeSource) -> tuple[Sample, ...]:
        try:
            found = source.samples()
        except Exception:  # the boundary: one broken subject costs its own series
            count = self._broken[source.name] = self._broken.get(source.name, 0) + 1
            if count in {1, 10, 100} or count % 1000 == 0:
                log.exception("%s gave no series", source.name)
            return ()
        return found


def _looked_at(worker: Worker, now: float) -> bool:
    """Whether a worker has read its GPU once or cannot; one that hangs in its first cycle holds up no other."""
    return worker.state.up or bool(worker.state.reason) or worker.stuck(now)


def _settled(worker: Worker, now: float) -> bool:
    """Whether a worker is down, or has read all tiers and closed its first GPM window."""
    state = worker.state
    if state.reason or worker.stuck(now):
        return True
    # Static facts are read once, in the first cycle; the window closes in a later one.
    return state.succeeded.get(Tier.ACTIVITY, 0.0) > state.succeeded.get(Tier.STATIC, float("inf"))

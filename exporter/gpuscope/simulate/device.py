"""State of a simulated GPU: load, counters and faults, advanced lazily as time goes by."""

import math
import threading
import uuid
from collections import deque
from collections.abc import Iterable, Iterator

from gpuscope.simulate import mig
from gpuscope.simulate.activity import RATIOS, Load, load_at
from gpuscope.simulate.mig import SimMig
from gpuscope.simulate.model import MODELS, GpuModel
from gpuscope.simulate.physics import (
    REASON_BRAKE,
    REASON_HW_THERMAL,
    REASON_POWER_CAP,
    REASON_SW_THERMAL,
    approach,
    operating_point,
    settled,
)
from gpuscope.simulate.scenario import GpuPlan, MigPlan
from gpuscope.simulate.tenant import SimProcess, Tenant, tenants_load

__all__ = ["SimGpu"]

_CELL_S = 1.0
_MAX_CELLS = 240
_HISTORY = 20
_THROTTLE = {
    "power_cap": REASON_POWER_CAP,
    "sw_thermal": REASON_SW_THERMAL,
    "hw_thermal": REASON_HW_THERMAL,
    "brake": REASON_BRAKE,
}
_BUSES = (0x1B, 0x43, 0x52, 0x61, 0x9D, 0xC3, 0xD1, 0xDF)


class SimGpu:
    """One simulated GPU. Every access happens under ``lock``, after ``advance``.

    Time is cut into cells of one second on a fixed grid. Within a cell the load is constant, so counters are exact
    integrals of what the gauges show, however often and whenever somebody looks.

    Args:
        index: NVML index.
        plan: model and load.
        seed: name of the machine; UUIDs and serial numbers follow from it.
        start: simulated time of the scenario's start.

    Attributes:
        now: simulated time that the state stands for.
        kind: curve of what runs on the whole GPU while nobody holds it.
        tenants: who holds the whole GPU.
        history: (end of cell, graphics ratio) of the last cells.
    """

    def __init__(self, index: int, plan: GpuPlan, seed: str, start: float) -> None:
        self.index = index
        self.plan = plan
        self.model: GpuModel = MODELS[plan.model]
        self.seed = f"{seed}/{index}"
        self.uuid = f"GPU-{uuid.uuid5(uuid.NAMESPACE_OID, self.seed)}"
        self.serial = str(1650000000000 + uuid.uuid5(uuid.NAMESPACE_URL, self.seed).int % 10**9)
        self.bus = _BUSES[index % 8] + index // 8
        # Minor numbers follow the order of probing, not the order of NVML.
        self.minor = index ^ 1 if index < 6 else index
        self.lock = threading.Lock()
        self.start = start
        self.now = start
        self.kind = plan.job
        self.tenants: list[Tenant] = []
        self.lost = 0
        self.wedged: threading.Event | None = None
        self.wedged_calls: frozenset[str] = frozenset()
        self.mig_mode = plan.mig is not None
        self.mig: list[SimMig] = []
        self._generation = 0
        self.heat = 0.0
        self.brake = False
        self.rows = [0, 0, 0, 0]
        self.repair = [0, 0]
        self.ecc_rate = 0.0
        self.recovery_action = 0
        self.history: deque[tuple[float, float]] = deque(maxlen=_HISTORY)
        self.lifetime = {"corrected": 12.0 + index, "uncorrected": 0.0, "sram": 0.0}
        self._cell = 0
        self._cell_end = start + _CELL_S
        self._flows: list[tuple[dict[str, float], str, float]] = []
        self.reset_counters()
        self.partition(plan.mig or ())
        # The machine has been at work for a while: it is warm.
        self.temperature = 0.0
        self.warm_up()

    def warm_up(self) -> None:
        """Takes the temperature that the load of now leads to."""
        self._enter()
        self.temperature = settled(self.model, self.power)
        self._enter()

    def reset_counters(self) -> None:
        """What a reload of the driver sets to zero."""
        self.integrals = dict.fromkeys(RATIOS, 0.0)
        self.totals = dict.fromkeys(("energy_j", "elapsed_cycles", "active_cycles", "decoder"), 0.0)
        self.pcie = {"tx": 4096.0, "rx": 4096.0}
        self.nvlink = {"tx": 0.0, "rx": 0.0}
        self.nvlink_errors: dict[tuple[str, int], int] = {}
        self.c2c = {"tx": 0.0, "rx": 0.0}
        self.event_ns = dict.fromkeys(("power_cap", "sync_boost", "sw_thermal", "hw_thermal", "brake"), 0.0)
        self.ecc = {"corrected": 0.0, "uncorrected": 0.0, "sram": 0.0}
        self.pcie_replays = 0
        for instance in self.mig:
            instance.sram_errors = 0.0

    @property
    def energy_j(self) -> float:
        """Joules since the driver was loaded."""
        return self.totals["energy_j"]

    def partition(self, plans: Iterable[MigPlan], *, mode: bool | None = None) -> None:
        """Cuts the GPU into MIG devices; an empty plan makes it whole again. Instance ids are reused.

        Args:
            plans: the devices.
            mode: MIG mode, where it does not follow from the plan: on without any instance.
        """
        self._generation += 1
        self.mig = mig.cut(self.model, plans, f"{self.seed}/{self._generation}")
        self.mig_mode = bool(self.mig) if mode is None else mode

    def advance(self, now: float) -> None:
        """Moves loads, physics and counters on to ``now``; over a long gap with coarser steps."""
        cells = (now - self.now) / _CELL_S
        stride = math.ceil(cells / _MAX_CELLS) if cells > _MAX_CELLS else 1
        while self.now < now:
            if self.now >= self._cell_end:
                self.history.append((self._cell_end, self.load.graphics))
                self._cell = round((self._cell_end - self.start) / _CELL_S)
                self._cell_end = self.start + (self._cell + stride) * _CELL_S
                self._enter()
            until = min(now, self._cell_end)
            self._accrue(until - self.now)
            self.now = until

    def unwedge(self) -> None:
        """Lets calls that hang go on."""
        wedged, self.wedged = self.wedged, None
        if wedged is not None:
            wedged.set()

    def changed(self) -> None:
        """Works out the rest of the current cell anew after something happened."""
        self._enter()

    def _accrue(self, dt: float) -> None:
        for store, key, rate in self._flows:
            store[key] += rate * dt
        self.temperature = approach(self.temperature, self._target, dt)

    def _enter(self) -> None:
        middle = self._middle = (self.start + self._cell * _CELL_S + self._cell_end) / 2 - self.start
        for instance in self.mig:
            instance.load = self._load(instance, middle, instance.uuid)
        self.load = self._mig_load() if self.mig_mode else self._load(self, middle, self.plan.job_name)
        point = operating_point(self.model, self.load, self.temperature, brake=self.brake)
        self.power, self.clock, self.reasons = point.power, point.clock, point.reasons
        self._target = settled(self.model, self.power, self.heat)
        self._flows = [flow for flow in self._rates() if flow[2]]

    def _load(self, device: "SimGpu | SimMig", middle: float, job_name: str) -> Load:
        if device.tenants:
            return tenants_load(device.tenants, middle, device.uuid, self.plan.replicas)
        return load_at(device.kind, middle, device.uuid, job_name)

    @property
    def doing(self) -> str:
        """Curve of what runs on the whole GPU; ``idle`` when that is more than one thing."""
        if len(self.tenants) > 1:
            return "idle"
        return self.tenants[0].kind if self.tenants else self.kind

    def _rates(self) -> Iterator[tuple[dict[str, float], str, float]]:
        load, cycles = self.load, self.clock * 1e6 * self.model.sms
        yield self.totals, "energy_j", self.power
        yield self.totals, "elapsed_cycles", cycles
        yield self.totals, "active_cycles", cycles * load.sm
        yield self.totals, "decoder", load.decoder
        yield self.pcie, "tx", load.pcie_tx + 2e4
        yield self.pcie, "rx", load.pcie_rx + 2e4
        for direction in ("tx", "rx"):
            yield self.nvlink, direction, load.nvlink
            yield self.c2c, direction, load.pcie_rx * 4
        for name, bit in _THROTTLE.items():
            yield self.event_ns, name, 1e9 if self.reasons & bit else 0.0
        for store in (self.ecc, self.lifetime):
            yield store, "corrected", self.ecc_rate
        for name in RATIOS:
            yield self.integrals, name, getattr(load, name)
            for instance in self.mig:
                yield instance.integrals, name, getattr(instance.load, name)

    def _mig_load(self) -> Load:
        parts = [(instance.share, instance.load) for instance in self.mig]
        names = (*RATIOS, "pcie_tx", "pcie_rx")
        return Load(**{name: sum(share * getattr(load, name) for share, load in parts) for name in names})

    def used_memory(self, instance: SimMig | None = None) -> int:
        """Bytes held by processes: of the GPU, or of one GPU instance."""
        if instance is not None:
            peers = [peer for peer in self.mig if peer.gi == instance.gi]
            share = sum(peer.load.memory * peer.ci_slices / peer.slices for peer in peers)
            return int(instance.memory * min(share, 0.97))
        if self.mig_mode:
            firsts = {peer.gi: peer for peer in reversed(self.mig)}
            return sum(self.used_memory(peer) for peer in firsts.values())
        return int((self.model.memory - self.model.reserved) * min(self.load.memory, 0.97))

    def processes(self) -> list[SimProcess]:
        """The compute processes."""
        if self.lost:
            return []
        if self.mig_mode:
            return [
                process
                for place, peer in enumerate(self.mig)
                for process in self._processes(peer, int(self._held(peer) * 0.96), self.pid_of(place))
            ]
        if not self.load.memory:
            return []
        shared = self.plan.replicas > 1 or len(self.tenants) > 1
        if shared and self.tenants:
            return self._processes(None, int(self.used_memory() * 0.98), self.pid_of())
        first = self.tenants[0].pid if self.tenants else self.pid_of()
        small = 310 << 20
        kind = self.doing
        return [
            SimProcess(first, int(self.used_memory() * 0.98) - small, None, kind),
            SimProcess(first + 3, small, None, kind),
        ]

    def pid_of(self, place: int = -1) -> int:
        """Number of the first process that the GPU, or one of its MIG devices, has when the machine starts."""
        return 20000 + 17 * self.index if place < 0 else 21000 + 100 * self.index + place

    def _processes(self, instance: SimMig | None, used: int, pid: int) -> list[SimProcess]:
        """One process of each tenant, in proportion to what each does with memory."""
        device = instance or self
        if not device.tenants:
            return [SimProcess(pid, used, instance, device.kind)] if device.load.memory else []
        parts = [tenant.load(self._middle, f"{device.uuid}/{tenant.pid}").memory for tenant in device.tenants]
        return [
            SimProcess(tenant.pid, int(used * part / sum(parts)), instance, tenant.kind)
            for tenant, part in zip(device.tenants, parts, strict=True)
            if part
        ]

    @staticmethod
    def _held(instance: SimMig) -> float:
        """Bytes that a compute instance holds of its GPU instance's memory."""
        return instance.memory * min(instance.load.memory * instance.ci_slices / instance.slices, 0.97)

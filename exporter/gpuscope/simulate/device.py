"""State of a simulated GPU: load, physics, counters and faults, advanced lazily as time goes by."""

import math
import threading
import uuid
from dataclasses import dataclass, field

from gpuscope.simulate.activity import Load, load_at
from gpuscope.simulate.model import GIB, MODELS, GpuModel
from gpuscope.simulate.scenario import GpuPlan, MigPlan

__all__ = ["RATIOS", "SimGpu", "SimMig"]

RATIOS = ("graphics", "sm", "occupancy", "tensor", "dram")
_AMBIENT_C = 31.0
_C_PER_WATT = 0.062
_LAG_S = 25.0
_MAX_STEPS = 240
REASON_IDLE, REASON_POWER_CAP, REASON_SW_THERMAL, REASON_HW_THERMAL, REASON_BRAKE = 0x1, 0x4, 0x20, 0x40, 0x80
_HW_SLOWDOWN = 0x8


@dataclass(slots=True, eq=False)
class SimMig:
    """A MIG device. ``slices`` belong to its GPU instance, ``ci_slices`` to it; ``integrals`` are ratio-seconds."""

    uuid: str
    index: int
    gi: int
    ci: int
    plan: MigPlan
    slices: int
    ci_slices: int
    memory: int
    integrals: dict[str, float] = field(default_factory=lambda: dict.fromkeys(RATIOS, 0.0))
    load: Load = field(default_factory=Load)

    @property
    def profile(self) -> str:
        """Name of the slice as the driver writes it."""
        return self.plan.profile if self.plan.ci is None else f"{self.plan.ci}c.{self.plan.profile}"


class SimGpu:
    """One simulated GPU. Every access happens under ``lock``, after ``advance``.

    Args:
        index: NVML index.
        plan: model and load.
        seed: name of the machine; UUIDs and serial numbers follow from it.
        start: simulated time of the scenario's start.
    """

    def __init__(self, index: int, plan: GpuPlan, seed: str, start: float) -> None:
        self.index = index
        self.plan = plan
        self.model: GpuModel = MODELS[plan.model]
        self.seed = f"{seed}/{index}"
        self.uuid = f"GPU-{uuid.uuid5(uuid.NAMESPACE_OID, self.seed)}"
        self.serial = str(1650000000000 + uuid.uuid5(uuid.NAMESPACE_URL, self.seed).int % 10**9)
        self.bus = (0x1B, 0x43, 0x52, 0x61, 0x9D, 0xC3, 0xD1, 0xDF)[index % 8] + index // 8
        # Minor numbers follow the order of probing, not the order of NVML.
        self.minor = index ^ 1 if index < 6 else index
        self.lock = threading.Lock()
        self.start = start
        self.kind = plan.job
        self.lost = 0
        self.wedged: threading.Event | None = None
        self.mig_mode = plan.mig is not None
        self.mig: list[SimMig] = []
        self._generation = 0
        self.heat = 0.0
        self.brake = False
        self.rows = [0, 0, 0, 0]
        self.ecc_rate = 0.0
        self.recovery_action = 0
        self._now = start
        self.load = Load()
        self.temperature = _AMBIENT_C + self.model.power_idle * _C_PER_WATT
        self.power = self.model.power_idle
        self.clock = float(self.model.clock_idle)
        self.reasons = REASON_IDLE
        self.lifetime = {"corrected": 12.0 + index, "uncorrected": 0.0}
        self.reset_counters()
        if plan.mig is not None:
            self.partition(plan.mig)
        # The machine has been at work for a while: warm, but with its counters still at zero.
        self._step(start, 1e-6)
        self.temperature = _AMBIENT_C + self.power * _C_PER_WATT
        self.reset_counters()

    def reset_counters(self) -> None:
        """What a reload of the driver sets to zero."""
        self.integrals = dict.fromkeys(RATIOS, 0.0)
        self.energy_j = 0.0
        self.pcie = {"tx": 4096.0, "rx": 4096.0}
        self.nvlink = {"tx": 0.0, "rx": 0.0}
        self.c2c = {"tx": 0.0, "rx": 0.0}
        self.event_ns = dict.fromkeys(("power_cap", "sync_boost", "sw_thermal", "hw_thermal", "brake"), 0.0)
        self.ecc = {"corrected": 0.0, "uncorrected": 0.0}
        self.busy_s = 0.0
        self.active_cycles = 0.0
        self.elapsed_cycles = 0.0

    def partition(self, plans: tuple[MigPlan, ...]) -> None:
        """Cuts the GPU into MIG devices; an empty plan makes it whole again. Instance ids are reused."""
        self._generation += 1
        self.mig_mode = bool(plans)
        self.mig = []
        gi, ci = 0, 0
        for place, plan in enumerate(plans):
            if plan.same_gi:
                ci += 1
            else:
                # Ids are sparse, as on hardware: the whole-GPU instance would be 0.
                gi, ci = (1 if gi == 0 else gi + (2 if gi % 4 == 2 else 1)), 0
            slices = int(plan.profile.split("g.")[0])
            gigabytes = int(plan.profile.split("g.")[1].split("gb")[0])
            name = f"{self.seed}/{self._generation}/{place}"
            self.mig.append(
                SimMig(
                    uuid=f"MIG-{uuid.uuid5(uuid.NAMESPACE_OID, name)}",
                    index=place if place < 2 else place + 1,
                    gi=gi,
                    ci=ci,
                    plan=plan,
                    slices=slices,
                    ci_slices=plan.ci or slices,
                    memory=int(gigabytes * GIB * 0.985),
                )
            )

    def advance(self, now: float) -> None:
        """Moves loads, physics and counters on to ``now``, in steps of at most a second while that is affordable."""
        gap = now - self._now
        if gap <= 0:
            return
        steps = min(max(1, math.ceil(gap)), _MAX_STEPS)
        for _ in range(steps):
            self._step(self._now + gap / steps / 2, gap / steps)
            self._now += gap / steps
        self._now = now

    def _step(self, middle: float, dt: float) -> None:
        t = middle - self.start
        load = self.load = self._load(t)
        model = self.model
        for name in RATIOS:
            self.integrals[name] += getattr(load, name) * dt
        want = model.power_idle + (model.power_limit - model.power_idle) * (
            0.18 * load.graphics + 0.42 * load.sm + 0.34 * load.tensor + 0.28 * load.dram
        )
        reasons = 0
        if load.graphics < 0.01:
            reasons |= REASON_IDLE
        if want > model.power_limit:
            reasons |= REASON_POWER_CAP
        if self.temperature >= model.slowdown:
            reasons |= REASON_HW_THERMAL | _HW_SLOWDOWN
        elif self.temperature >= model.slowdown - 3:
            reasons |= REASON_SW_THERMAL
        if self.brake:
            reasons |= REASON_BRAKE | _HW_SLOWDOWN
        self.reasons = reasons
        ceiling = float(model.clock_max)
        if reasons & REASON_POWER_CAP:
            ceiling *= 0.93
        if reasons & REASON_SW_THERMAL:
            ceiling *= 0.8
        if reasons & _HW_SLOWDOWN:
            ceiling *= 0.5
        self.clock = model.clock_idle if reasons & REASON_IDLE else ceiling
        drop = 0.62 if reasons & _HW_SLOWDOWN else 1.0
        self.power = max(model.power_idle, min(want, model.power_limit) * drop)
        target = _AMBIENT_C + self.power * _C_PER_WATT + self.heat
        self.temperature += (target - self.temperature) * (1 - math.exp(-dt / _LAG_S))
        self.energy_j += self.power * dt
        self.pcie["tx"] += (load.pcie_tx + 2e4) * dt
        self.pcie["rx"] += (load.pcie_rx + 2e4) * dt
        for direction in ("tx", "rx"):
            self.nvlink[direction] += load.nvlink * dt
            self.c2c[direction] += load.pcie_rx * 4 * dt
        for name, bit in (
            ("power_cap", REASON_POWER_CAP),
            ("sw_thermal", REASON_SW_THERMAL),
            ("hw_thermal", REASON_HW_THERMAL),
            ("brake", REASON_BRAKE),
        ):
            if reasons & bit:
                self.event_ns[name] += dt * 1e9
        self.busy_s += load.graphics * dt
        self.elapsed_cycles += self.clock * 1e6 * model.sms * dt
        self.active_cycles += self.clock * 1e6 * model.sms * load.sm * dt
        self.ecc["corrected"] += self.ecc_rate * dt
        self.lifetime["corrected"] += self.ecc_rate * dt
        for instance in self.mig:
            instance.load = load_at(instance.plan.job, t, instance.uuid, instance.uuid)
            for name in RATIOS:
                instance.integrals[name] += getattr(instance.load, name) * dt

    def _load(self, t: float) -> Load:
        if not self.mig_mode:
            return load_at(self.kind, t, self.uuid, self.plan.job_name)
        parts = [
            (instance.ci_slices / self.model.mig_slices, load_at(instance.plan.job, t, instance.uuid, instance.uuid))
            for instance in self.mig
        ]
        names = ("graphics", "sm", "occupancy", "tensor", "dram", "pcie_tx", "pcie_rx")
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

    def processes(self) -> list[tuple[int, int, SimMig | None]]:
        """(pid, bytes, MIG device) of the compute processes."""
        if self.lost:
            return []
        if self.mig_mode:
            return [
                (21000 + 100 * self.index + place, int(peer.memory * peer.load.memory * 0.96), peer)
                for place, peer in enumerate(self.mig)
                if peer.load.memory
            ]
        if not self.load.memory:
            return []
        first = 20000 + 17 * self.index
        small = 310 << 20
        return [(first, int(self.used_memory() * 0.98) - small, None), (first + 3, small, None)]

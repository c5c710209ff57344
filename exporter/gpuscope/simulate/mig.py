"""MIG devices of a simulated GPU: how a plan becomes GPU instances and compute instances with the driver's ids."""

import uuid
from collections.abc import Iterable
from dataclasses import dataclass, field

from gpuscope.simulate.activity import RATIOS, Load
from gpuscope.simulate.model import GIB, GpuModel
from gpuscope.simulate.scenario import MigPlan
from gpuscope.simulate.tenant import Tenant

__all__ = ["SimMig", "cut"]

# Ids as the driver gives them, by memory slices; a new layout uses the same ones again.
_IDS = {8: (0,), 4: (1, 2), 2: (3, 4, 5, 6), 1: tuple(range(7, 15))}
_USABLE = 0.985
_MAX_DEVICES = 7


@dataclass(slots=True, eq=False)
class SimMig:
    """A MIG device.

    Attributes:
        index: MIG device index; indexes have gaps.
        gi: GPU instance id.
        ci: compute instance id.
        slices: compute slices of the GPU instance.
        ci_slices: those of the compute instance.
        memory: bytes of the GPU instance.
        integrals: ratio-seconds by activity.
        kind: curve of what runs on it while nobody holds it.
        tenants: who holds it.
    """

    uuid: str
    index: int
    gi: int
    ci: int
    plan: MigPlan
    kind: str
    slices: int
    ci_slices: int
    memory: int
    integrals: dict[str, float] = field(default_factory=lambda: dict.fromkeys(RATIOS, 0.0))
    load: Load = field(default_factory=Load)
    sram_errors: float = 0.0
    tenants: list[Tenant] = field(default_factory=list)

    @property
    def profile(self) -> str:
        """Name of the slice as the driver writes it."""
        return self.plan.profile if self.plan.ci is None else f"{self.plan.ci}c.{self.plan.profile}"

    @property
    def share(self) -> float:
        """Share of the whole GPU's compute."""
        return self.ci_slices / 7


def cut(model: GpuModel, plans: Iterable[MigPlan], name: str) -> list[SimMig]:
    """Cuts a GPU.

    Args:
        model: the GPU's model.
        plans: the devices, compute instances of one GPU instance behind each other.
        name: what the UUIDs follow from.
    """
    ordered = list(plans)
    free = {size: list(ids) for size, ids in _IDS.items()}
    gi, ci = -1, 0
    found = []
    for place, plan in enumerate(ordered):
        if plan.same_gi:
            ci += 1
        else:
            gi, ci = free[plan.memory_slices].pop(0), 0
        gap = place >= 2 and len(ordered) < _MAX_DEVICES
        found.append(
            SimMig(
                uuid=f"MIG-{uuid.uuid5(uuid.NAMESPACE_OID, f'{name}/{place}')}",
                index=place + gap,
                gi=gi,
                ci=ci,
                plan=plan,
                kind=plan.job,
                slices=plan.slices,
                ci_slices=plan.ci or plan.slices,
                memory=int(min(plan.gigabytes * GIB, model.memory) * _USABLE),
            )
        )
    return found

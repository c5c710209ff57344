"""What holds a device of the simulated machine now, and what that does to the device's load."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, NamedTuple

from gpuscope.simulate.activity import Load, load_at

if TYPE_CHECKING:
    from gpuscope.simulate.mig import SimMig

__all__ = ["SimProcess", "Tenant", "tenants_load"]

_APPETITE = 1.5
_RATES = tuple(one.name for one in fields(Load) if one.name != "memory")


class SimProcess(NamedTuple):
    """A compute process: its number, bytes that it holds, MIG device, and the curve that it follows."""

    pid: int
    used: int
    instance: "SimMig | None"
    kind: str


@dataclass(slots=True, eq=False)
class Tenant:
    """A container or a job on one device.

    Attributes:
        kind: curve of its activity.
        job_name: whose phases it shares.
        pid: number of its process there; the only tenant of a whole GPU has another one, three further.
        replica: number of its share, ``None`` where the device is not cut into shares.
    """

    kind: str
    job_name: str
    pid: int
    replica: int | None = None

    def load(self, t: float, own: str) -> Load:
        """What it would do to the device, had it no company."""
        return load_at(self.kind, t, own, self.job_name)


def tenants_load(tenants: Sequence[Tenant], t: float, own: str, shares: int) -> Load:
    """Load of a device by those who hold it.

    Args:
        tenants: at least one.
        t: seconds since the scenario began.
        own: name of the device.
        shares: into how many shares it is cut; each tenant has a part of the memory, and work for a bit more than
            its part of the time.
    """
    if len(tenants) == 1 and shares == 1:
        return tenants[0].load(t, own)
    loads = [tenant.load(t, f"{own}/{tenant.pid}") for tenant in tenants]
    parts = max(shares, len(tenants))
    busy = sum(load.graphics for load in loads) * _APPETITE / parts
    # Together they cannot do more than one alone could: they take turns.
    scale = _APPETITE / parts / max(1.0, busy)
    rates = {name: sum(getattr(load, name) for load in loads) * scale for name in _RATES}
    return Load(**rates, memory=sum(load.memory for load in loads) / parts)

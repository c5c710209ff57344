"""What holds a device of the simulated machine now, and what that does to the device's load."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, NamedTuple

from gpuscope.simulate.activity import Load, load_at

if TYPE_CHECKING:
    from gpuscope.simulate.mig import SimMig

__all__ = ["SimProcess", "Tenant", "tenants_load"]

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
        pid: number of its process there; a whole GPU's only tenant has another one, three further.
        replica: number of its share, ``None`` where the device is not cut into shares.
    """

    kind: str
    job_name: str
    pid: int
    replica: int | None = None

    @property
    def pids(self) -> tuple[int, int]:
        """Numbers of all processes that it may have."""
        return self.pid, self.pid + 3

    def load(self, t: float, own: str) -> Load:
        """What it would do to the device, had it no company."""
        return load_at(self.kind, t, own, self.job_name)


def tenants_load(tenants: Sequence[Tenant], t: float, own: str, shares: int) -> Load:
    """Load of a device by those who hold it.

    Args:
        tenants: at least one.
        t: seconds since the scenario began.
        own: name of the device.
        shares: into how many shares it is cut; each tenant has so much less memory.
    """
    if len(tenants) == 1 and shares == 1:
        return tenants[0].load(t, own)
    loads = [tenant.load(t, f"{own}/{tenant.pid}") for tenant in tenants]
    # Together they cannot do more than one: in turns each has a part of the time.
    crowd = max(1.0, sum(load.graphics for load in loads))
    rates = {name: sum(getattr(load, name) for load in loads) / crowd for name in _RATES}
    return Load(**rates, memory=sum(load.memory for load in loads) / max(shares, len(tenants)))

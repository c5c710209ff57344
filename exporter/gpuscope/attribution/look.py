"""What one look at a GPU gave, as far as attribution needs it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gpuscope.nvml.identity import GpuIdentity, MigInstance
from gpuscope.nvml.processes import ProcessList

__all__ = ["Look"]


@dataclass(frozen=True, slots=True)
class Look:
    """One GPU.

    Attributes:
        identity: the GPU.
        up: whether it could be read; without that, everything below is without meaning.
        looked: false while nobody looks, as after the driver was released on request.
        mig_enabled: MIG mode; ``None`` where unknown.
        mig: its MIG devices.
        activity: UUID of the GPU or of a MIG device -> share of the time in which it did work, 0 to 1; absent where
            it is not known.
        asks_for_action: whether the driver asks for a recovery action.
        listed: its processes, as far as they were read.
    """

    identity: GpuIdentity
    up: bool
    looked: bool = True
    mig_enabled: bool | None = None
    mig: Sequence[MigInstance] = ()
    activity: Mapping[str, float] = field(default_factory=dict)
    asks_for_action: bool = False
    listed: ProcessList | None = None

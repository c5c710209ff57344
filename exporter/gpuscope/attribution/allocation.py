"""Who holds which device at one moment."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from gpuscope.attribution.devices import Devices

__all__ = ["Allocation", "Container", "Job", "Known", "PodHold"]


class Container(NamedTuple):
    """A container in a pod."""

    namespace: str
    pod: str
    container: str


@dataclass(frozen=True, slots=True)
class PodHold:
    """One device, or one share of it, that a container holds.

    Attributes:
        holder: the container.
        pod_uid: empty where nobody tells it.
        resource: as the pod asked for it, such as ``nvidia.com/gpu``; a ResourceClaim as ``<driver>/<claim>``; empty
            for a container that uses the device without having asked for it.
        replica: number of the share, where the device is shared.
    """

    holder: Container
    pod_uid: str = ""
    resource: str = ""
    replica: str = ""


@dataclass(frozen=True, slots=True)
class Job:
    """A Slurm job; ``user`` is empty where nobody tells it."""

    job_id: str
    user: str = ""


class Known(StrEnum):
    """What can be said of a device's allocation."""

    ALLOCATED = "allocated"
    UNALLOCATED = "unallocated"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Allocation:
    """Who holds what; immutable.

    Attributes:
        devices: all devices that it speaks of.
        pods: UUID of a device -> what containers hold of it.
        jobs: UUID of a device -> the jobs that hold it.
        in_use: UUIDs of devices that have a process, whoever owns it.
        complete: whether a device that is in none of these is known to be free; false while a source that should tell
            does not, or none does.
        doubtful: UUIDs of devices that somebody may hold who could not be told: a name that fits several of them, a
            job file that could not be used.
    """

    devices: Devices = field(default_factory=Devices)
    pods: Mapping[str, Sequence[PodHold]] = field(default_factory=dict)
    jobs: Mapping[str, Sequence[Job]] = field(default_factory=dict)
    in_use: frozenset[str] = frozenset()
    complete: bool = False
    doubtful: frozenset[str] = frozenset()

    def containers(self, uuid: str) -> tuple[Container, ...]:
        """The containers that hold a device, each once."""
        return tuple(dict.fromkeys(hold.holder for hold in self.pods.get(uuid, ())))

    def owner(self, device_uuid: str, /) -> Container | None:
        """The one container that holds a device; ``None`` when nobody, more than one, or a job does."""
        found = self.containers(device_uuid)
        return found[0] if len(found) == 1 and not self.jobs.get(device_uuid) else None

    def known(self, uuid: str) -> Known:
        """Whether a device is allocated.

        A GPU is while one of its MIG devices is, and free when all of them are. A MIG device is while somebody holds
        its GPU whole; where a process tells the GPU only, any of its MIG devices may be meant.
        """
        said = {self._known(one) for one in (uuid, *self.devices.parts(uuid))}
        whole = self.devices.whole(uuid)
        if whole and (self.pods.get(whole) or self.jobs.get(whole)):
            said.add(Known.ALLOCATED)
        elif whole and self._known(whole) is not Known.UNALLOCATED:
            said.add(Known.UNKNOWN)
        return next(one for one in (Known.ALLOCATED, Known.UNKNOWN, Known.UNALLOCATED) if one in said)

    def _known(self, uuid: str) -> Known:
        if self.pods.get(uuid) or self.jobs.get(uuid) or uuid in self.in_use:
            return Known.ALLOCATED
        # A GPU that hangs from the start has no UUID by which anybody could be found.
        return Known.UNALLOCATED if uuid and self.complete and uuid not in self.doubtful else Known.UNKNOWN

"""The GPUs and MIG devices of this machine, also while a GPU is lost; and which of them an id means."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from gpuscope.attribution.device_id import DeviceId, plain_profile
from gpuscope.attribution.look import Look
from gpuscope.nvml.identity import GpuIdentity, MigInstance

__all__ = ["Device", "Devices"]


@dataclass(frozen=True, slots=True)
class Device:
    """What can be allocated: a whole GPU, or one of its MIG devices."""

    gpu: GpuIdentity
    mig: MigInstance | None = None

    @property
    def uuid(self) -> str:
        """UUID of the MIG device, else of the GPU."""
        return self.mig.uuid if self.mig else self.gpu.uuid


class Devices:
    """All devices; replaced whole when something changed.

    Args:
        gpus: each GPU and its MIG devices.
        partitioned: UUIDs of the GPUs in MIG mode.

    Attributes:
        gpus: each GPU and its MIG devices, in the order of the index.
        partitioned: UUIDs of the GPUs in MIG mode.
    """

    def __init__(
        self,
        gpus: Mapping[GpuIdentity, Sequence[MigInstance]] | None = None,
        partitioned: Iterable[str] = (),
    ) -> None:
        self.partitioned = frozenset(partitioned)
        pairs = sorted((gpus or {}).items(), key=lambda pair: (pair[0].index, pair[0].uuid))
        self.gpus = {gpu: tuple(mig) for gpu, mig in pairs}
        self._by_uuid: dict[str, Device] = {}
        self._by_minor: dict[str, GpuIdentity] = {}
        for gpu, instances in self.gpus.items():
            self._by_uuid[gpu.uuid.lower()] = Device(gpu)
            self._by_minor[gpu.minor] = gpu
            for one in instances:
                self._by_uuid[one.uuid.lower()] = Device(gpu, one)

    def updated(self, looks: Iterable[Look]) -> "Devices":
        """The devices after a look. A GPU that could not be read keeps the MIG devices that it had."""
        gpus: dict[GpuIdentity, Sequence[MigInstance]] = {}
        partitioned: set[str] = set()
        before = {gpu.uuid: mig for gpu, mig in self.gpus.items()}
        for look in looks:
            uuid = look.identity.uuid
            if not uuid:
                continue
            gpus[look.identity] = tuple(look.mig) if look.up else before.get(uuid, ())
            if look.mig_enabled if look.up else uuid in self.partitioned:
                partitioned.add(uuid)
        same = gpus == self.gpus and partitioned == self.partitioned
        return self if same else Devices(gpus, partitioned)

    def all(self) -> Iterator[Device]:
        """Everything that can be held: GPUs, and MIG devices behind their GPU."""
        for gpu, instances in self.gpus.items():
            yield Device(gpu)
            for one in instances:
                yield Device(gpu, one)

    def by_uuid(self, uuid: str) -> Device | None:
        """The device with this UUID."""
        return self._by_uuid.get(uuid.lower())

    def parts(self, uuid: str) -> tuple[str, ...]:
        """UUIDs of the MIG devices of a GPU; none for a MIG device."""
        found = self.by_uuid(uuid)
        return () if found is None or found.mig else tuple(one.uuid for one in self.gpus[found.gpu])

    def whole(self, uuid: str) -> str:
        """UUID of the GPU of a MIG device; empty for anything else."""
        found = self.by_uuid(uuid)
        return found.gpu.uuid if found is not None and found.mig else ""

    def find(self, name: DeviceId) -> Device | str:
        """The device that an id means, or why there is none: ``unknown_device`` or ``ambiguous_device``."""
        if name.mig_uuid:
            return self.by_uuid(name.mig_uuid) or "unknown_device"
        whole = self.by_uuid(name.gpu_uuid) if name.gpu_uuid else self._of_minor(name.minor)
        if whole is None:
            return "unknown_device"
        gpu = whole.gpu
        if name.gi is None and not name.profile and name.slices is None:
            return Device(gpu)
        fits = self._fitting(gpu, name)
        if len(fits) == 1:
            return fits[0]
        return "ambiguous_device" if fits else "unknown_device"

    def candidates(self, name: DeviceId) -> tuple[Device, ...]:
        """The devices between which an id leaves the choice; none when it means one, or none."""
        whole = self.by_uuid(name.gpu_uuid) if name.gpu_uuid else self._of_minor(name.minor)
        fits = () if whole is None or name.mig_uuid else self._fitting(whole.gpu, name)
        return fits if len(fits) > 1 and self.find(name) == "ambiguous_device" else ()

    def _fitting(self, gpu: GpuIdentity, name: DeviceId) -> tuple[Device, ...]:
        return tuple(Device(gpu, one) for one in self.gpus[gpu] if _fits(one, name))

    def _of_minor(self, minor: int | None) -> Device | None:
        gpu = self._by_minor.get(str(minor))
        return None if gpu is None else Device(gpu)


def _fits(one: MigInstance, name: DeviceId) -> bool:
    if name.gi is not None:
        return one.gi == name.gi and name.ci in {None, one.ci}
    if name.profile:
        return plain_profile(one.profile) == name.profile
    return one.profile.startswith(f"{name.slices}g.")

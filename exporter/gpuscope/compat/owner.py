"""Who holds a device, when exactly one container does."""

from collections.abc import Iterable, Mapping
from typing import Protocol, TypeAlias

from gpuscope.attribution.allocation import Container
from gpuscope.catalogue import activity, memory
from gpuscope.catalogue.metric import Level, Metric
from gpuscope.nvml.identity import MigInstance

__all__ = ["NOBODY", "OF_GPU_INSTANCE", "Owner", "Owners", "device_owner", "instance_owners"]

Owner: TypeAlias = Container
"""A container in a pod."""

OF_GPU_INSTANCE: frozenset[Metric] = frozenset(
    {
        *(metric for metric in memory.METRICS if metric.level is Level.MIG),
        activity.MIG_DRAM_RATIO,
        activity.MIG_DRAM_SECONDS,
    }
)
"""Readings that belong to a GPU instance as a whole, and stand with the first of its compute instances."""


class Owners(Protocol):
    """The allocation of all devices at one moment."""

    def owner(self, device_uuid: str, /) -> tuple[str, str, str] | None:
        """Namespace, pod and name of the one container that holds a GPU or a MIG device.

        ``None`` when nobody or more than one does.
        """


class _Nobody:
    def owner(self, _device_uuid: str, /) -> None:
        pass


NOBODY: Owners = _Nobody()
"""Nothing is known about who holds what."""


def device_owner(owners: Owners, device_uuid: str) -> Owner | None:
    """The one container that holds a device."""
    found = owners.owner(device_uuid)
    return None if found is None else Owner(*found)


def instance_owners(owners: Owners, mig: Iterable[MigInstance]) -> Mapping[int, Owner | None]:
    """Holders of GPU instances, by GPU instance id.

    A GPU instance that was cut into several compute instances has a holder when all of them have the same one: its
    memory belongs to all of them together.
    """
    found: dict[int, set[Owner | None]] = {}
    for device in mig:
        found.setdefault(device.gi, set()).add(device_owner(owners, device.uuid))
    return {gi: next(iter(held)) if len(held) == 1 else None for gi, held in found.items()}

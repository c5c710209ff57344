"""The holder of a GPU or MIG instance as labels of its readings.

Only what exactly one container holds gets them, so that a sum over pods never exceeds the device. The agent's verdicts,
constant facts and the health of the hardware never get them: they outlive a pod, and a counter that changes its labels
together with the pod that it killed would hide the very fault from ``increase()``.
"""

from collections.abc import Container
from dataclasses import dataclass

from gpuscope.catalogue.metric import Kind, Level, Metric, Sample, Tier
from gpuscope.compat.owner import OF_GPU_INSTANCE, Owner, Owners, device_owner, instance_owners
from gpuscope.nvml.identity import MigInstance
from gpuscope.sampling.exposition import Blocks, escape_label, number_text, series_text
from gpuscope.sampling.rendering import Device
from gpuscope.sampling.sampler import Readings

__all__ = ["UNOWNED", "PodLabels"]

UNOWNED = frozenset({"inventory", "mig", "xid", "recovery", "ecc", "remapping", "fabric"})
"""Collectors whose readings never get the labels."""


@dataclass(frozen=True, slots=True)
class _Holders:
    """Holders of a GPU's parts; two of them are equal when every series has the same labels."""

    gpu: Owner | None
    devices: tuple[tuple[str, Owner | None], ...]
    instances: tuple[tuple[str, Owner | None], ...]

    @property
    def nobody(self) -> bool:
        return self.gpu is None and not any(owner for _, owner in self.devices)


class PodLabels:
    """Renders readings with the labels; each reading once, and anew when a holder changed."""

    def __init__(self) -> None:
        self._done: dict[tuple[str, str, Tier], tuple[Readings, _Holders, Blocks]] = {}

    def blocks(self, device: Device, owners: Owners) -> list[Blocks]:
        """The readings of a GPU and of its MIG instances."""
        uuid = device.status.identity.uuid
        holders = _holders(uuid, device.status.mig, owners)
        found: list[Blocks] = []
        for (collector, tier), readings in device.readings.items():
            if collector in UNOWNED or holders.nobody:
                self._done.pop((uuid, collector, tier), None)
                found.append(readings.blocks)
                continue
            done = self._done.get((uuid, collector, tier))
            if done is None or done[0] is not readings or done[1] != holders:
                done = (readings, holders, _render(readings.samples, holders))
                self._done[uuid, collector, tier] = done
            found.append(done[2])
        return found

    def keep(self, uuids: Container[str]) -> None:
        """Forgets all other GPUs."""
        self._done = {key: done for key, done in self._done.items() if key[0] in uuids}


def _holders(uuid: str, mig: tuple[MigInstance, ...], owners: Owners) -> _Holders:
    instances = instance_owners(owners, mig)
    return _Holders(
        device_owner(owners, uuid),
        tuple((device.uuid, device_owner(owners, device.uuid)) for device in mig),
        tuple((str(gi), owner) for gi, owner in instances.items()),
    )


def _suffix(owner: Owner | None) -> str:
    if owner is None:
        return ""
    pairs = zip(Owner._fields, owner, strict=True)
    return "".join(f',{name}="{escape_label(value)}"' for name, value in pairs)


def _render(samples: tuple[Sample, ...], holders: _Holders) -> Blocks:
    gpu = _suffix(holders.gpu)
    devices = {uuid: _suffix(owner) for uuid, owner in holders.devices}
    instances = {gi: _suffix(owner) for gi, owner in holders.instances}
    lines: dict[Metric, list[str]] = {}
    for metric, labels, value in samples:
        # What is remembered is the text without the holder: pods come and go, devices stay.
        text = series_text(metric.name, metric.labels, labels)
        suffix = ""
        if metric.kind is not Kind.INFO:
            if metric.level is Level.GPU:
                suffix = gpu
            elif metric in OF_GPU_INSTANCE:
                suffix = instances.get(labels[3], "")
            elif metric.level is Level.MIG:
                suffix = devices.get(labels[2], "")
        if suffix:
            text = f"{text[:-2]}{suffix}}} "
        lines.setdefault(metric, []).append(f"{text}{number_text(value)}\n")
    return {metric: "".join(parts) for metric, parts in lines.items()}

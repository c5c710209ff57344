"""GPU memory by owner: how much each pod and each job holds of a GPU or a MIG instance.

A sum is told whole or not at all:

- a process whose memory the driver does not tell makes its owner's sum absent, not smaller;
- a process whose owner cannot be read makes all sums of its device absent: it could belong to anyone;
- a process that is gone holds nothing any more and changes no sum;
- sums that are together more than the device has in use were not read at one time: the device has none this time;
- where the host's processes are not visible nothing is told.

Memory of programs that are neither in a pod nor in a job is told apart (``unowned``), never as a pod without a name: a
platform engineer looks for it by itself, and a sum over pods stays what pods hold.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from gpuscope.attribution.process_owner import Owner, Unknown
from gpuscope.nvml.identity import MigInstance
from gpuscope.nvml.processes import Process

__all__ = ["MemoryByOwner", "memory_by_owner"]

_Key = TypeVar("_Key")


@dataclass(frozen=True, slots=True)
class MemoryByOwner:
    """Who holds how much of one GPU.

    Attributes:
        held: (UUID of the GPU or of the MIG device, owner) -> bytes; ``None`` where the owner is known and the sum not.
        problems: what was left out, by reason: processes ``gone``, ``unreadable`` or of ``no_such_instance``, owners
            with ``memory_unknown`` or of an ``unnamed_pod``, devices whose sums are ``exceeds_device``.
    """

    held: Mapping[tuple[str, Owner], int | None] = field(default_factory=dict)
    problems: Counter[str] = field(default_factory=Counter)

    def pods(self) -> dict[tuple[str, str, str, str], int]:
        """(device, namespace, pod, container) -> bytes; a pod whose names are not known is left out."""
        sums = self._sums(lambda owner: (owner.namespace, owner.pod, owner.container) if owner.pod else None)
        return {(device, *names): used for (device, names), used in sums.items()}

    def jobs(self) -> dict[tuple[str, str], int]:
        """(device, job id) -> bytes."""
        return self._sums(lambda owner: owner.job_id or None)

    def unowned(self) -> dict[str, int]:
        """Device -> bytes of programs that are neither in a pod nor in a job; a device without any is absent."""
        sums = self._sums(lambda owner: None if owner.pod_uid or owner.job_id else "")
        return {device: used for (device, _), used in sums.items()}

    def holders(self) -> dict[str, tuple[Owner, ...]]:
        """Device -> the pods and jobs that have a process on it, whatever they use."""
        found: defaultdict[str, list[Owner]] = defaultdict(list)
        for device, owner in self.held:
            if owner.pod_uid or owner.job_id:
                found[device].append(owner)
        return {device: tuple(owners) for device, owners in found.items()}

    def _sums(self, key: Callable[[Owner], _Key | None]) -> dict[tuple[str, _Key], int]:
        sums: dict[tuple[str, _Key], int] = {}
        unknown: set[tuple[str, _Key]] = set()
        for (device, owner), used in self.held.items():
            name = key(owner)
            if name is None:
                continue
            if used is None:
                unknown.add((device, name))
            else:
                sums[device, name] = sums.get((device, name), 0) + used
        return {one: used for one, used in sums.items() if one not in unknown}


def memory_by_owner(
    processes: Iterable[Process],
    owner_of: Callable[[int], Owner | Unknown],
    *,
    gpu_uuid: str,
    instances: Sequence[MigInstance] = (),
    used: Mapping[str, int] | None = None,
    visible: bool | None,
) -> MemoryByOwner:
    """Sums what the processes of one GPU hold, by owner.

    Args:
        processes: all lists of the physical GPU together; a process that stands in several counts once.
        owner_of: pid -> owner, see ``ProcessOwners.find``.
        gpu_uuid: the device of processes that are in no MIG instance.
        instances: the GPU's MIG devices.
        used: UUID -> bytes in use of the GPU and of its MIG devices, as far as they are known; read after
            ``processes``, so that what a program takes in between is no excess.
        visible: whether the agent sees the host's processes; nothing is told unless it does. Elsewhere a pid can be
            another process.
    """
    if not visible:
        return MemoryByOwner()
    problems: Counter[str] = Counter()
    held: dict[tuple[str, Owner], int | None] = {}
    known: Counter[str] = Counter()
    unreadable: set[str] = set()
    for process in _distinct(processes):
        device = _device(process, gpu_uuid, instances)
        owner = owner_of(process.pid)
        if device is None:
            problems["no_such_instance"] += 1
        elif isinstance(owner, Unknown):
            problems[owner.value] += 1
            if owner is Unknown.UNREADABLE:
                unreadable.add(device)
        else:
            before = held.get((device, owner), 0)
            if process.used_bytes is None or before is None:
                held[device, owner] = None
            else:
                held[device, owner] = before + process.used_bytes
            if process.used_bytes is not None:
                known[device] += process.used_bytes
    excessive = _excessive(known, gpu_uuid, instances, used or {})
    problems["exceeds_device"] += len(excessive)
    held = {key: value for key, value in held.items() if key[0] not in unreadable | excessive}
    problems["memory_unknown"] += sum(value is None for value in held.values())
    problems["unnamed_pod"] += sum(bool(owner.pod_uid and not owner.pod) for _, owner in held)
    return MemoryByOwner(held, +problems)


def _distinct(processes: Iterable[Process]) -> Iterable[Process]:
    """One of each: a program that computes and draws stands in two lists with the same memory."""
    found: dict[tuple[int, int | None, int | None], Process] = {}
    for process in processes:
        key = (process.pid, process.gi, process.ci)
        other = found.get(key)
        if other is None or _more(process.used_bytes, other.used_bytes):
            found[key] = process
    return found.values()


def _more(used: int | None, other: int | None) -> bool:
    return used is not None and (other is None or used > other)


def _device(process: Process, gpu_uuid: str, instances: Sequence[MigInstance]) -> str | None:
    if process.gi is None:
        return gpu_uuid
    inside = [one.uuid for one in instances if one.gi == process.gi and process.ci in {one.ci, None}]
    return inside[0] if len(inside) == 1 else None


def _excessive(
    known: Mapping[str, int], gpu_uuid: str, instances: Sequence[MigInstance], used: Mapping[str, int]
) -> set[str]:
    """Devices whose processes hold more than the device has in use."""
    if gpu_uuid in used and sum(known.values()) > used[gpu_uuid]:
        return set(known)
    found: set[str] = set()
    # The compute instances of one GPU instance share its memory.
    for gi in {one.gi for one in instances}:
        devices = {one.uuid for one in instances if one.gi == gi}
        limits = [used[uuid] for uuid in devices if uuid in used]
        if limits and sum(known.get(uuid, 0) for uuid in devices) > max(limits):
            found |= devices & set(known)
    return found

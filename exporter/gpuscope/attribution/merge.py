"""Puts what the sources say about one machine together."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from gpuscope.attribution.allocation import Allocation, Container, Job, Known, PodHold
from gpuscope.attribution.devices import Devices
from gpuscope.attribution.process_memory import MemoryByOwner
from gpuscope.catalogue import attribution as m
from gpuscope.catalogue.metric import Metric, Sample

__all__ = ["merge", "samples"]


def merge(
    devices: Devices,
    asked: Mapping[str, Sequence[PodHold]],
    jobs: Mapping[str, Sequence[Job]],
    memory: Iterable[MemoryByOwner],
    *,
    in_use: frozenset[str],
    complete: bool,
    doubtful: frozenset[str] = frozenset(),
) -> Allocation:
    """Makes the allocation of this moment.

    Args:
        devices: all devices.
        asked: what kubelet says.
        jobs: what job files say.
        memory: what processes say; they add who uses a device without having asked for it, and pods' uids.
        in_use: see ``Allocation``.
        complete: see ``Allocation``.
        doubtful: see ``Allocation``.
    """
    pods = {uuid: list(held) for uuid, held in asked.items()}
    of_jobs: defaultdict[str, dict[str, Job]] = defaultdict(dict)
    for uuid, listed in jobs.items():
        of_jobs[uuid] = {job.job_id: job for job in listed}
    for found in memory:
        for device, owners in found.holders().items():
            # Those whose container is not known come last: it may be one that another process tells.
            for owner in sorted(owners, key=lambda one: not one.container):
                if owner.job_id:
                    known = of_jobs[device].get(owner.job_id)
                    if known is None or not known.user:
                        of_jobs[device][owner.job_id] = Job(owner.job_id, owner.user)
                if owner.pod:
                    who = Container(owner.namespace, owner.pod, owner.container)
                    _add(pods.setdefault(device, []), who, owner.pod_uid)
    return Allocation(
        devices=devices,
        pods={uuid: tuple(held) for uuid, held in pods.items()},
        jobs={uuid: tuple(listed.values()) for uuid, listed in of_jobs.items()},
        in_use=in_use,
        complete=complete,
        doubtful=doubtful,
    )


def _add(held: list[PodHold], who: Container, pod_uid: str) -> None:
    same_pod = [index for index, hold in enumerate(held) if hold.holder[:2] == who[:2]]
    for index in same_pod:
        hold = held[index]
        held[index] = PodHold(hold.holder, hold.pod_uid or pod_uid, hold.resource, hold.replica)
    # A process whose container is not known is that of the pod's container which asked for the device.
    named = {held[index].holder.container for index in same_pod}
    if not same_pod or (who.container and who.container not in named):
        held.append(PodHold(who, pod_uid))


def samples(allocation: Allocation, memory: Iterable[MemoryByOwner]) -> list[Sample]:
    """The series of an allocation."""
    found: list[Sample] = []
    labels: dict[str, tuple[str, str, str]] = {}
    for device in allocation.devices.all():
        uuid, gpu, mig = device.uuid, device.gpu, device.mig
        own = labels[uuid] = (str(gpu.index), gpu.uuid, mig.uuid if mig else "")
        for hold in allocation.pods.get(uuid, ()):
            who = (*hold.holder, hold.pod_uid, hold.resource, hold.replica)
            found.append(Sample(m.POD_ALLOCATION, (*own, *who), 1.0))
        gi = str(mig.gi) if mig else ""
        jobs = allocation.jobs.get(uuid, ())
        found += [Sample(m.JOB_ALLOCATION, (*own, gi, job.job_id, job.user), 1.0) for job in jobs]
        count = len(allocation.containers(uuid)) + len(jobs)
        whole = mig is None and gpu.uuid in allocation.devices.partitioned
        if count or (allocation.known(uuid) is Known.UNALLOCATED and not whole):
            found.append(Sample(m.ALLOCATIONS, own, float(count)))
    for one in memory:
        for (device_uuid, *names), used in one.pods().items():
            found += _memory(m.POD_MEMORY, labels.get(device_uuid), names, used)
        for (device_uuid, job_id), used in one.jobs().items():
            found += _memory(m.JOB_MEMORY, labels.get(device_uuid), [job_id], used)
        for device_uuid, used in one.unowned().items():
            found += _memory(m.UNOWNED_MEMORY, labels.get(device_uuid), [], used)
    return found


def _memory(metric: Metric, own: tuple[str, ...] | None, names: Sequence[str], used: int) -> list[Sample]:
    return [] if own is None else [Sample(metric, (*own, *names), float(used))]

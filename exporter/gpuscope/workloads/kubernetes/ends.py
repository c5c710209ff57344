"""How pods end: what interrupts a job, drawn from the pods that it has and had."""

from collections.abc import Iterator

import msgspec

from gpuscope.workloads.kubernetes.records import ContainerEnd, PodRecord

__all__ = ["PodEnd", "pod_ends"]


class PodEnd(msgspec.Struct, frozen=True, gc=False):
    """One end of a pod's work, by failure or by deletion.

    Attributes:
        key: pod uid and number of the run: the same end is told again and again.
        began: unix time at which this run began, as far as known.
        ended: unix time.
        failed: whether something in it failed; false for a pod that was just taken away.
        containers: how its containers ended.
    """

    key: tuple[str, int]
    pod: str
    node: str
    attempt: int | None
    scheduled: float | None
    began: float
    ended: float
    failed: bool
    containers: tuple[ContainerEnd, ...] = ()
    pod_reason: str = ""
    disruption: str = ""
    message: str = ""


_LAST = -1


def pod_ends(pod: PodRecord, now: float, *, gone: bool) -> Iterator[PodEnd]:
    """All ends that a pod tells of; a pod that succeeded, and one that runs for the first time, tells of none.

    Args:
        pod: its last known state.
        now: unix time that stands for an end whose time nobody said.
        gone: whether it was deleted.
    """
    begin = pod.scheduled or pod.created
    over = pod.phase == "Failed" or ((gone or pod.deleting is not None) and pod.phase != "Succeeded")
    final_run = max((end.run for end in pod.ends), default=_LAST) if over else None
    by_run: dict[int, list[ContainerEnd]] = {}
    for end in pod.ends:
        by_run.setdefault(end.run, []).append(end)
    for run, ends in sorted(by_run.items()):
        # In a pod that lives on, an end with a later run after it, or a failure that kubelet will try again.
        again = pod.running is not None or any(end.exit_code for end in ends)
        if run != final_run and again and pod.phase != "Succeeded":
            yield _end(pod, run, ends, begin, now, failed=True)
    if over:
        last = by_run.get(final_run, []) if final_run is not None else []
        failed = pod.phase == "Failed" or any(end.exit_code for end in last) or bool(pod.disruption)
        if last and pod.running is not None:
            # Its containers ran again when it was taken away.
            yield _end(pod, final_run or 0, last, begin, now, failed=True)
            last, failed = [], bool(pod.disruption)
        yield _end(pod, _LAST, last, begin, now, failed=failed)


def _end(
    pod: PodRecord, run: int, ends: list[ContainerEnd], begin: float, now: float, *, failed: bool
) -> PodEnd:  # fmt: skip
    final = run == _LAST
    told = [end.ended for end in ends if end.ended is not None]
    moments = told or [moment for moment in (pod.disrupted, pod.deleting) if final and moment is not None]
    starts = [end.started for end in ends if end.started is not None]
    return PodEnd(
        key=(pod.uid, run),
        pod=pod.name,
        node=pod.node,
        attempt=pod.attempt,
        scheduled=pod.scheduled,
        began=min(starts, default=(pod.running if final and pod.running is not None else begin)),
        ended=min(min(moments, default=now), now),
        failed=failed,
        containers=tuple(ends),
        pod_reason=pod.reason if final else "",
        disruption=pod.disruption if final else "",
        message=pod.message if final else "",
    )

"""From a pod or a part of a job up to the job that somebody submitted."""

from collections.abc import Iterable, Mapping

from gpuscope.workloads.kubernetes.records import Owner, PodRecord, WorkloadRecord
from gpuscope.workloads.kubernetes.resources import KIND_NAMES

__all__ = ["Owners"]

_DEPTH = 8


class Owners:
    """Who controls whom, among the workloads that are there or were until now.

    Args:
        workloads: by uid.
        parents: uid -> controller of workloads that went away earlier, parts of jobs that still are.
    """

    def __init__(self, workloads: Mapping[str, WorkloadRecord], parents: Mapping[str, Owner | None]) -> None:
        self._workloads = workloads
        self._parents = parents
        self._sets = {(one.namespace, one.name): one for one in workloads.values() if one.kind == "LeaderWorkerSet"}
        self._tops: dict[str, WorkloadRecord | None] = {}

    def top(self, workload: WorkloadRecord) -> WorkloadRecord | None:
        """The job that it is, or is a part of; ``None`` while its parent is of a watched kind and not to be seen."""
        return self._top(workload.uid)

    def top_of_pod(self, pod: PodRecord) -> WorkloadRecord | None:
        """The job of a pod; ``None`` for a pod of none."""
        if pod.set_name:
            found = self._sets.get((pod.namespace, pod.set_name))
            return None if found is None else self.top(found)
        return None if pod.owner is None else self._top(pod.owner.uid)

    def tops(self) -> Iterable[WorkloadRecord]:
        """All jobs."""
        return (one for one in self._workloads.values() if self.top(one) is one)

    def _top(self, uid: str) -> WorkloadRecord | None:
        if uid not in self._tops:
            self._tops[uid] = self._walk(uid)
        return self._tops[uid]

    def _walk(self, uid: str) -> WorkloadRecord | None:
        for _ in range(_DEPTH):
            found = self._workloads.get(uid)
            owner = found.owner if found is not None else self._parents.get(uid)
            if found is not None and (owner is None or owner.kind not in KIND_NAMES):
                return found
            if owner is None:
                return None
            uid = owner.uid
        return None

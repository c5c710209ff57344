"""From what is known of objects to the jobs, nodes and pods of one moment."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

import msgspec

from gpuscope.workloads.kubernetes.history import History
from gpuscope.workloads.kubernetes.job_view import JobView
from gpuscope.workloads.kubernetes.lifecycle import since_of, state_of, why_of
from gpuscope.workloads.kubernetes.owners import Owners
from gpuscope.workloads.kubernetes.records import (
    ClaimRecord,
    NodeRecord,
    Owner,
    PodRecord,
    PullRecord,
    QueueRecord,
    WorkloadRecord,
)
from gpuscope.workloads.kubernetes.resources import WORKLOADS, Place
from gpuscope.workloads.kubernetes.store import Snapshot
from gpuscope.workloads.observation import (
    JobFacts,
    JobKey,
    JobState,
    KnownAttempts,
    NodeState,
    ObservedJob,
    ObservedNode,
)

__all__ = ["Present", "nodes"]

_Kept = TypeVar("_Kept")


@dataclass(slots=True)
class _Around:
    """What belongs to one job."""

    parts: list[WorkloadRecord]
    pods: list[PodRecord]
    gone: list[PodRecord]


class Present:
    """Jobs, nodes and pods now, with the memory of attempts whose pods are gone.

    Args:
        known: what was told of a job's attempts before the collector restarted.
        settle_s: an end is told so long after it was first seen.
    """

    def __init__(self, known: Callable[[JobKey], KnownAttempts | None], settle_s: float) -> None:
        self._known = known
        self._settle_s = settle_s
        self._histories: dict[str, History] = {}
        self._parents: dict[str, Owner | None] = {}

    def jobs(
        self, snapshot: Snapshot, now: float, blind: frozenset[Place]
    ) -> tuple[list[ObservedJob], dict[tuple[str, str], JobKey]]:
        """All jobs, those included that were deleted since the last call, and the job of each pod.

        Args:
            snapshot: what is known.
            now: unix time.
            blind: places of which nothing new was heard for a while, or that may not be read.
        """
        workloads = {one.uid: one for kind in WORKLOADS for one in _all(snapshot, kind.name, WorkloadRecord)}
        deleted = {
            one.record.uid: (one.record, one.witnessed)
            for one in snapshot.gone
            if isinstance(one.record, WorkloadRecord) and one.record.uid not in workloads
        }
        everything = {uid: record for uid, (record, _) in deleted.items()} | workloads
        owners = Owners(everything, self._parents)
        around: dict[str, _Around] = defaultdict(lambda: _Around([], [], []))
        for part in everything.values():
            top = owners.top(part)
            if top is not None and top is not part:
                around[top.uid].parts.append(part)
        keys: dict[tuple[str, str], JobKey] = {}
        for pod in _all(snapshot, "Pod", PodRecord):
            top = owners.top_of_pod(pod)
            if top is not None:
                around[top.uid].pods.append(pod)
                keys[pod.namespace, pod.name] = _key(top)
        for pod in (one.record for one in snapshot.gone if isinstance(one.record, PodRecord)):
            top = owners.top_of_pod(pod)
            if top is not None:
                around[top.uid].gone.append(pod)
        build = _Builder(snapshot, now, nodes_known=Place("Node") not in blind)
        found = [
            self._job(build.view(top, around[top.uid], deleted=top.uid in deleted,
                                 witnessed=top.uid in deleted and deleted[top.uid][1]), blind)
            for top in owners.tops()
        ]  # fmt: skip
        self._remember(workloads, [record for record, _ in deleted.values()])
        return found, keys

    def _job(self, view: JobView, blind: frozenset[Place]) -> ObservedJob:
        job = view.job
        key = _key(job)
        history = self._histories.get(job.uid)
        if history is None:
            history = self._histories[job.uid] = History(self._known(key), self._settle_s)
        if job.outcome is not None and not history.settled(view):
            view = replace(view, job=msgspec.structs.replace(job, outcome=None, ended=None))
            job = view.job
        attempts = history.attempts(view)
        outcome, ended = job.outcome, job.ended
        if outcome is None and view.deleted:
            outcome = view.deletion_outcome
        if outcome is not None and ended is None:
            ended = view.now
        unseen = blind & {Place(kind, where) for kind in ("Pod", job.kind) for where in ("", job.namespace)}
        state = JobState.UNKNOWN if unseen else state_of(view, interrupted=history.interrupted)
        queue = view.queue
        facts = JobFacts(
            name=job.name,
            kind=job.kind,
            team=job.team,
            queue=job.queue or (queue.queue if queue else ""),
            user=job.user,
            gpus=view.gpus,
            priority=job.priority or (queue.priority if queue else ""),
        )
        alive = outcome is None
        return ObservedJob(
            key, facts, job.created, state, attempts, outcome, ended, view.restarts, job.progress,
            why=why_of(view, state) if alive else "",
            nodes=tuple(sorted({pod.node for pod in view.live_pods if pod.node})) if alive else (),
            since=since_of(view, state),
        )  # fmt: skip

    def _remember(self, workloads: Mapping[str, WorkloadRecord], deleted: Iterable[WorkloadRecord]) -> None:
        """Forgets jobs that are gone; keeps whose part a deleted part was, for its pods may be deleted after it."""
        for record in deleted:
            self._histories.pop(record.uid, None)
            self._parents[record.uid] = record.owner
        self._parents = {uid: owner for uid, owner in self._parents.items() if owner and owner.uid in workloads}


class _Builder:
    """Puts the view of each job together."""

    def __init__(self, snapshot: Snapshot, now: float, *, nodes_known: bool) -> None:
        self._now = now
        self._queues = {one.owner.uid: one for one in _all(snapshot, "Workload", QueueRecord) if one.owner}
        self._pulling = frozenset(one.pod_uid for one in _all(snapshot, "Event", PullRecord))
        self._nodes = {one.name: one for one in _all(snapshot, "Node", NodeRecord)}
        self._claims: dict[str, list[ClaimRecord]] = defaultdict(list)
        for claim in _all(snapshot, "ResourceClaim", ClaimRecord):
            for uid in claim.pods:
                self._claims[uid].append(claim)
        self._nodes_known = nodes_known and bool(self._nodes)

    def view(self, job: WorkloadRecord, around: _Around, *, deleted: bool, witnessed: bool) -> JobView:
        return JobView(
            job=job,
            parts=tuple(around.parts),
            pods=tuple(around.pods),
            gone=tuple(around.gone),
            queue=self._queues.get(job.uid),
            pulling=self._pulling,
            claimed=self._claimed(around.pods),
            nodes=self._nodes,
            nodes_known=self._nodes_known,
            deleted=deleted,
            witnessed=witnessed,
            now=self._now,
        )

    def _claimed(self, pods: Iterable[PodRecord]) -> int:
        """Pods may share a claim."""
        if not self._claims:
            return 0
        shared = {claim.uid: claim.gpus for pod in pods for claim in self._claims.get(pod.uid, ())}
        return sum(shared.values())


def nodes(snapshot: Snapshot) -> list[ObservedNode]:
    """All nodes, with the GPUs that pods hold there."""
    held: dict[str, int] = defaultdict(int)
    for pod in _all(snapshot, "Pod", PodRecord):
        if pod.node and pod.phase not in {"Succeeded", "Failed"}:
            held[pod.node] += pod.gpus
    where = {pod.uid: pod.node for pod in _all(snapshot, "Pod", PodRecord)}
    for claim in _all(snapshot, "ResourceClaim", ClaimRecord):
        # A claim's devices are of one node.
        held[next((where[uid] for uid in claim.pods if where.get(uid)), "")] += claim.gpus
    found = []
    for one in _all(snapshot, "Node", NodeRecord):
        state = one.state
        if state is NodeState.DRAINING and not held.get(one.name):
            state = NodeState.DRAINED
        # A node without a word of GPUs may have some that claims give out.
        allocated = held.get(one.name, 0) if one.gpus is not None else held.get(one.name) or None
        pools = (one.pool,) if one.pool else ()
        found.append(ObservedNode(one.name, state, one.reason, one.since, one.gpus, allocated, pools))
    return found


def _key(job: WorkloadRecord) -> JobKey:
    return JobKey("kubernetes", job.namespace, job.uid)


def _all(snapshot: Snapshot, kind: str, model: type[_Kept]) -> Iterable[_Kept]:
    return (one for one in snapshot.objects.get(kind, {}).values() if isinstance(one, model))

"""What is kept of each object: the few facts that a job's life is told from."""

import msgspec

from gpuscope.workloads.observation import NodeState, Outcome, Progress

__all__ = [
    "ClaimRecord",
    "ContainerEnd",
    "NodeRecord",
    "Owner",
    "PodRecord",
    "PullRecord",
    "QueueRecord",
    "Record",
    "WorkloadRecord",
]


class Owner(msgspec.Struct, frozen=True, gc=False):
    """The controller of an object."""

    kind: str
    name: str
    uid: str


class ContainerEnd(msgspec.Struct, frozen=True, gc=False):
    """One end of a container that does a pod's work.

    Attributes:
        container: its name.
        run: number of the run of this container that ended, from 0.
        started: unix time, where kubelet said.
        ended: unix time, where kubelet said.
        exit_code: of its first process.
        signal: number of the signal, 0 for none.
        reason: ``OOMKilled``, ``Error``, ``Completed``…
    """

    container: str
    run: int
    started: float | None
    ended: float | None
    exit_code: int
    signal: int
    reason: str


class PodRecord(msgspec.Struct, frozen=True, gc=False):
    """A pod of a job, or one that holds GPUs.

    Attributes:
        deleting: unix time from which it is to be gone, ``None`` for a pod that stays.
        set_name: LeaderWorkerSet that its labels name, empty for others.
        attempt: JobSet's own number of the restart that it belongs to.
        scheduled: unix time at which it got its node.
        ready: unix time since which it is ready, ``None`` while it is not.
        running: unix time at which the last of its containers started, ``None`` while one does not run.
        gated: whether a scheduling gate holds it back (Kueue).
        waiting: reasons why containers wait.
        why: why it has no node or its containers do not start, in the words of the scheduler or of kubelet.
        ends: how its containers ended, those that kubelet still knows.
        disruption: reason of its ``DisruptionTarget`` condition.
        disrupted: unix time of that.
    """

    uid: str
    namespace: str
    name: str
    owner: Owner | None
    created: float
    deleting: float | None
    set_name: str
    attempt: int | None
    node: str
    phase: str
    reason: str
    message: str
    scheduled: float | None
    ready: float | None
    running: float | None
    gated: bool
    gpus: int
    waiting: tuple[str, ...]
    why: str
    ends: tuple[ContainerEnd, ...]
    disruption: str
    disrupted: float | None


class WorkloadRecord(msgspec.Struct, frozen=True):
    """A job, or a part of one.

    Attributes:
        ranks: pods that it wants at once, ``None`` where it does not say.
        finished_ranks_count: whether a pod that succeeded still counts as one of them.
        outcome: how it ended, ``None`` while it lives or where its kind does not end.
        state_word: the scheduler's word for that.
        restarts: those that its controller counts.
    """

    uid: str
    kind: str
    namespace: str
    name: str
    owner: Owner | None
    created: float
    suspended: bool
    ranks: int | None
    finished_ranks_count: bool
    gpus: int | None
    team: str
    queue: str
    user: str
    priority: str
    outcome: Outcome | None = None
    ended: float | None = None
    state_word: str = ""
    message: str = ""
    restarts: int | None = None
    progress: Progress | None = None


class QueueRecord(msgspec.Struct, frozen=True, gc=False):
    """Kueue's view of a job.

    Attributes:
        owner: the job.
        active: false when a person or Kueue took it out of the queue.
        admitted: whether it has its quota.
        evicted: reason of its last eviction while that holds, or empty.
        evicted_at: unix time of that.
        admitted_at: unix time at which it got its quota.
        why: why it has no quota, in Kueue's words.
    """

    uid: str
    owner: Owner | None
    queue: str
    priority: str
    active: bool
    admitted: bool
    evicted: str
    evicted_at: float | None
    admitted_at: float | None
    why: str


class NodeRecord(msgspec.Struct, frozen=True, gc=False):
    """A node; ``maintenance`` says that it was taken out of use on purpose."""

    uid: str
    name: str
    state: NodeState
    reason: str
    since: float | None
    maintenance: bool
    gpus: int | None
    pool: str


class PullRecord(msgspec.Struct, frozen=True, gc=False):
    """Kubelet said that it pulls an image for this pod."""

    uid: str
    pod_uid: str


class ClaimRecord(msgspec.Struct, frozen=True, gc=False):
    """Devices that dynamic resource allocation gave to pods, together.

    Attributes:
        gpus: of NVIDIA's driver.
        pods: uids of those that use them.
    """

    uid: str
    gpus: int
    pods: tuple[str, ...]


Record = ClaimRecord | PodRecord | WorkloadRecord | QueueRecord | NodeRecord | PullRecord

"""What a scheduler says about jobs and nodes at one moment.

A source tells the whole present state, again and again, and never "what has changed": the book compares it with what it
knew. So an event that nobody saw, a restart of the collector or of the scheduler, and a watch that expired lose nothing
that the scheduler itself still knows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

__all__ = [
    "NOT_YET",
    "WHY_LENGTH",
    "Attempt",
    "Evidence",
    "JobFacts",
    "JobKey",
    "JobState",
    "KnownAttempts",
    "NodeState",
    "Observation",
    "ObservedJob",
    "ObservedNode",
    "ObservedPartition",
    "Outcome",
    "PartitionState",
    "Progress",
]

NOT_YET = "has not answered yet"
"""How the ``reason`` of an observation begins while nothing is wrong, and not everything was read once."""

WHY_LENGTH = 200
"""Longest text of why a job waits, in characters."""


class JobKey(NamedTuple):
    """Identity of a job in the scheduler; a name that is used again is another job.

    Attributes:
        scheduler: ``kubernetes`` or ``slurm``.
        namespace: Kubernetes namespace; empty on Slurm.
        uid: ``metadata.uid`` of the top workload, or Slurm's job id (``42``, ``42_3`` in an array).
        submitted: unix time of the submission by which a job of Slurm is known, as Slurm uses its ids again; 0 on
            Kubernetes.
    """

    scheduler: str
    namespace: str
    uid: str
    submitted: int = 0


class KnownAttempts(NamedTuple):
    """What was told of a job's attempts before the collector restarted.

    A source whose scheduler numbers no attempts goes on with its numbers from there.

    Attributes:
        number: highest number of an attempt that began.
        over: whether its end was told.
        seen_at: unix time of the last look at the job; without it, all that ended before the first look was told.
    """

    number: int
    over: bool
    seen_at: float | None = None


class JobState(StrEnum):
    """What a job is doing; exactly one at a time while it lives."""

    QUEUED = "queued"  # waits for quota or for a place in the queue
    SCHEDULING = "scheduling"  # admitted; not all pods or tasks have a node
    PULLING = "pulling"  # images are pulled, or files staged in
    INITIALIZING = "initializing"  # containers or the prolog start; not all ranks run
    TRAINING = "training"  # all ranks run; where nothing tells progress, that is all that can be said
    CHECKPOINTING = "checkpointing"  # the job itself says so
    STALLED = "stalled"  # all ranks run and the job's own progress stands still
    RECOVERING = "recovering"  # an attempt was interrupted and the next one does not yet train
    SUSPENDED = "suspended"  # by a user, a quota or the scheduler
    UNKNOWN = "unknown"  # the scheduler does not answer, or answers what nobody understands


class Outcome(StrEnum):
    """How an attempt or a job ended."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"  # by a user
    PREEMPTED = "preempted"
    TIMED_OUT = "timed_out"  # the time limit or deadline that its user set
    INTERRUPTED = "interrupted"  # by the infrastructure: node lost, evicted, requeued
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known of why an attempt ended; absent where nobody says.

    Attributes:
        state: the scheduler's own word for the end (``NODE_FAIL``, ``OUT_OF_MEMORY``, ``BackoffLimitExceeded``).
        reason: its reason or message, in short.
        exit_codes: exit codes of the processes or containers that failed, the first failure first.
        signals: numbers of the signals that ended processes, in the same order.
        container_reasons: reasons of terminated and waiting containers (``OOMKilled``, ``ImagePullBackOff``).
        pod_reasons: reasons of pods and of their disruption (``Evicted``, ``PreemptionByScheduler``).
        xids: (code, seconds before the end) of XIDs on the attempt's nodes; negative after it.
        nodes_lost: nodes of the attempt that went away around its end.
        maintenance: whether one of its nodes was drained on purpose.
        requested_by_user: whether its user asked for the end, or a person for the requeue; ``None`` where nobody can
            know, as where an administrator or a health check may have done it.
        log_signals: words that the job's own output or sidecar gave (``cuda_out_of_memory``, ``nccl_timeout``).
        node_signals: (word, seconds before the end) of what was measured on the attempt's nodes (``rdma_port_down``).
        nodes_watched: whether agents watched all of its nodes to the end, so that no XID means that there was none.
        nodes_shared: whether other jobs held GPUs of its nodes, so that an XID may be theirs.
        gpu_jobs: jobs, this one included, whose attempts an application XID of the same GPU ended within 30 days.
        shared_by: other, unrelated jobs that ended around the same time with the same first classification.
    """

    state: str = ""
    reason: str = ""
    exit_codes: tuple[int, ...] = ()
    signals: tuple[int, ...] = ()
    container_reasons: tuple[str, ...] = ()
    pod_reasons: tuple[str, ...] = ()
    xids: tuple[tuple[int, float], ...] = ()
    nodes_lost: tuple[str, ...] = ()
    maintenance: bool = False
    requested_by_user: bool | None = None
    log_signals: tuple[str, ...] = ()
    node_signals: tuple[tuple[str, float], ...] = ()
    nodes_watched: bool = False
    nodes_shared: bool = False
    gpu_jobs: int = 0
    shared_by: int = 0


@dataclass(frozen=True, slots=True)
class Attempt:
    """One contiguous execution of a job on one allocation.

    Attributes:
        number: 0 for the first one; the scheduler's own count of restarts where it has one.
        started: unix time at which it got its resources, ``None`` while it waits.
        running: unix time at which all ranks ran, ``None`` where that is not known.
        ended: unix time of its end, ``None`` while it goes on.
        outcome: how it ended, ``None`` while it goes on.
        nodes: where it runs or ran.
        evidence: what is known of its end.
    """

    number: int
    started: float | None = None
    running: float | None = None
    ended: float | None = None
    outcome: Outcome | None = None
    nodes: tuple[str, ...] = ()
    evidence: Evidence = field(default_factory=Evidence)


@dataclass(frozen=True, slots=True)
class JobFacts:
    """What a job is; empty or ``None`` where the scheduler does not say.

    Attributes:
        name: as its user wrote it.
        kind: of workload.
        team: whom it is charged to.
        queue: where it waits or runs.
        user: who submitted it.
        gpus: GPUs that it has or asks for.
        priority: class or quality of service.
        tasks: how many tasks of its array it stands for while they wait, where there are too many to tell each.
    """

    name: str
    kind: str
    team: str = ""
    queue: str = ""
    user: str = ""
    gpus: int | None = None
    priority: str = ""
    tasks: int = 1


@dataclass(frozen=True, slots=True)
class Progress:
    """What the job itself reports; each is absent where it does not.

    Attributes:
        at: unix time of the report.
        ratio: share that is done, 0 to 1.
        remaining_s: seconds that it expects to take yet.
        step: number of the last step.
        checkpoint_at: unix time of the last complete checkpoint.
    """

    at: float
    ratio: float | None = None
    remaining_s: float | None = None
    step: float | None = None
    checkpoint_at: float | None = None


@dataclass(frozen=True, slots=True)
class ObservedJob:
    """One job now.

    Attributes:
        key: identity.
        facts: what it is.
        created: unix time of its submission.
        state: what it does; without meaning once it has an outcome.
        attempts: those that the scheduler still knows, by number. An attempt that ended keeps its number.
        outcome: how the job as a whole ended, ``None`` while it lives.
        ended: unix time of its end.
        restarts: restarts that the scheduler itself counts, where it forgets attempts.
        progress: what the job reports.
        why: why it waits or does not start, in the scheduler's own words and at most ``WHY_LENGTH`` characters; empty
            where it does neither, or nobody says.
        nodes: where it holds resources now, also while only some of its ranks have a node; empty where it holds none.
        since: unix time at which its state began, where the scheduler tells that and its attempts do not.
    """

    key: JobKey
    facts: JobFacts
    created: float
    state: JobState
    attempts: tuple[Attempt, ...] = ()
    outcome: Outcome | None = None
    ended: float | None = None
    restarts: int | None = None
    progress: Progress | None = None
    why: str = ""
    nodes: tuple[str, ...] = ()
    since: float | None = None


class NodeState(StrEnum):
    """What a node is good for."""

    READY = "ready"
    DRAINING = "draining"  # no new work; some still runs
    DRAINED = "drained"
    DOWN = "down"
    MAINTENANCE = "maintenance"
    UNKNOWN = "unknown"  # does not answer, or in a state that nobody understands


@dataclass(frozen=True, slots=True)
class ObservedNode:
    """One node now.

    Attributes:
        name: of the node.
        state: what it is good for.
        reason: the scheduler's reason, who gave it and when, as far as known.
        since: unix time of the reason.
        gpus: GPUs that the scheduler knows there, ``None`` where it does not say.
        gpus_allocated: of these given to jobs.
        partitions: partitions or node pools that it belongs to.
    """

    name: str
    state: NodeState
    reason: str = ""
    since: float | None = None
    gpus: int | None = None
    gpus_allocated: int | None = None
    partitions: tuple[str, ...] = ()


class PartitionState(StrEnum):
    """What may be done with a partition of Slurm."""

    UP = "up"  # jobs come and start
    DOWN = "down"  # jobs come and wait
    DRAIN = "drain"  # no job comes any more; those that wait start
    INACTIVE = "inactive"  # no job comes, and none starts
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class ObservedPartition:
    """One partition of Slurm now; its nodes name it."""

    name: str
    state: PartitionState


@dataclass(frozen=True, slots=True)
class Observation:
    """Everything that one source says at one moment.

    Attributes:
        source: ``kubernetes`` or ``slurm``.
        at: unix time of the collector to which the whole answer applies.
        jobs: all jobs that it knows, also those that have ended a while ago.
        nodes: all nodes.
        complete: whether a job that is missing from it is really gone; false when a part could not be read.
        problems: what could not be read or understood, reason -> count.
        pods: namespace, pod -> key of the job that it belongs to (Kubernetes only).
        reason: why it is not complete, in a line that stays the same while the cause does; empty where ``problems``
            say so.
        partitions: all partitions (Slurm only).
        hidden: jobs that are there, and of which nothing can be told.
        clock_offset: seconds by which the scheduler's clock is ahead of the collector's, negative where it is behind;
            0 while the two cannot be told apart, ``None`` where that is not known. All other times but ``at`` are the
            scheduler's own; whoever takes the look brings them to the collector's clock with it.
    """

    source: str
    at: float
    jobs: Sequence[ObservedJob] = ()
    nodes: Sequence[ObservedNode] = ()
    complete: bool = True
    problems: Mapping[str, int] = field(default_factory=dict)
    pods: Mapping[tuple[str, str], JobKey] = field(default_factory=dict)
    reason: str = ""
    partitions: Sequence[ObservedPartition] = ()
    hidden: frozenset[JobKey] = frozenset()
    clock_offset: float | None = None

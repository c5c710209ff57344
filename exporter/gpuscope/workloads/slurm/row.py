"""One job record of Slurm, the same from whichever command and release it came."""

from dataclasses import dataclass, field

__all__ = ["JobRow", "NodeRow", "uid_of"]


@dataclass(frozen=True, slots=True)
class JobRow:
    """What one record says; empty or ``None`` where it does not.

    A job that was requeued has one record in slurmctld, of its present attempt, and one of each attempt in slurmdbd.

    Attributes:
        job_id: Slurm's number of the record; each task of an array gets one of its own when it starts.
        array_job: number of the array.
        array_task: index in it.
        array_tasks: indexes of tasks that wait, as Slurm writes them (``2-4%1``); one record stands for all of them.
        tasks: how many tasks that wait it stands for.
        het_job: number of the heterogeneous job that it is a component of.
        het_offset: which component.
        name: as its user wrote it.
        user: login name.
        uid: number of its user.
        account: whom it is charged to.
        partition: where it waits or runs; several while it waits in several.
        qos: quality of service.
        states: base state and flags, in capitals.
        reason: why it waits, or why it ended.
        detail: the same with what Slurm adds to the word, such as the nodes that are not there.
        restarts: how often it was requeued before this attempt.
        submitted: unix time of its submission, after a requeue that of the requeue.
        started: unix time at which it got its nodes; of one that waits the time at which it may at the earliest.
        ended: unix time of its end; of one that runs the time at which its limit is reached.
        nodes: host list, not expanded.
        exit: exit code and signal of the batch script.
        derived_exit: the highest exit code of its steps, and a signal.
        gpus: GPUs that it has or asks for; 0 where it is known to ask for none.
        failed_node: host list of nodes whose failure ended it.
        comment: Slurm's own comment.
        preempted: unix time of its preemption.
        killed_by: uid of who cancelled it.
    """

    job_id: int
    states: tuple[str, ...]
    array_job: int | None = None
    array_task: int | None = None
    array_tasks: str = ""
    tasks: int = 1
    het_job: int | None = None
    het_offset: int | None = None
    name: str = ""
    user: str = ""
    uid: int | None = None
    account: str = ""
    partition: str = ""
    qos: str = ""
    reason: str = ""
    detail: str = ""
    restarts: int | None = None
    submitted: float | None = None
    started: float | None = None
    ended: float | None = None
    nodes: str = ""
    exit: tuple[int, int] | None = None
    derived_exit: tuple[int, int] | None = None
    gpus: int | None = None
    failed_node: str = ""
    comment: str = ""
    preempted: float | None = None
    killed_by: int | None = None


def uid_of(row: JobRow) -> str:
    """The number by which its job is known: of a heterogeneous job, of a task of an array (``42_3``), or its own."""
    if row.het_job:
        return str(row.het_job)
    return str(row.job_id) if row.array_job is None or row.array_task is None else f"{row.array_job}_{row.array_task}"


@dataclass(frozen=True, slots=True)
class NodeRow:
    """What one record says of a node.

    Attributes:
        name: of the node.
        states: base state and flags, in capitals, without marks such as ``*``.
        reason: why it is drained or down.
        reason_by: who said so.
        reason_at: unix time of the reason.
        gpus: that it has.
        gpus_used: that are given to jobs.
        partitions: that it belongs to.
    """

    name: str
    states: tuple[str, ...]
    reason: str = ""
    reason_by: str = ""
    reason_at: float | None = None
    gpus: int | None = None
    gpus_used: int | None = None
    partitions: tuple[str, ...] = field(default=())

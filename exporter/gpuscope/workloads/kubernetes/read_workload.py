"""Workloads of the API -> what is kept of them."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

import msgspec

from gpuscope.workloads.kubernetes.objects import Condition, Meta, PodTemplate
from gpuscope.workloads.kubernetes.quantities import condition, gpus_of_resources, gpus_of_template, short, unix
from gpuscope.workloads.kubernetes.read_pod import read_owner
from gpuscope.workloads.kubernetes.records import QueueRecord, WorkloadRecord
from gpuscope.workloads.kubernetes.workload_objects import (
    Job,
    JobSet,
    JobSpec,
    LeaderWorkerSet,
    OperatorJob,
    QueueWorkload,
    RayCluster,
    RayClusterSpec,
    RayJob,
    TrainJob,
)  # fmt: skip
from gpuscope.workloads.observation import Outcome, Progress

__all__ = ["FactLabels", "WorkloadReader", "read_queue_workload"]

_QUEUE_PRIORITY = "kueue.x-k8s.io/priority-class"
_MESSAGE = 200
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class FactLabels:
    """Labels, or else annotations, of a workload that say whose it is.

    Attributes:
        team: the team that pays for it; without it, ``team_from_namespace`` decides.
        queue: its queue.
        user: who submitted it; Kubernetes itself does not remember that.
        team_from_namespace: whether a job without that label belongs to the team that is named like its namespace.
    """

    team: str = "team"
    queue: str = "kueue.x-k8s.io/queue-name"
    user: str = "gpuscope.io/user"
    team_from_namespace: bool = False


@dataclass(slots=True)
class _Shape:
    """How many pods and GPUs a workload wants, summed over its parts; ``None`` where a part does not say."""

    ranks: int = 0
    gpus: int = 0
    claims: bool = False
    priority: str = ""

    def add(self, template: PodTemplate | None, count: int) -> None:
        self.ranks += count
        self.gpus += count * gpus_of_template(template)
        if template and template.spec and template.spec.resource_claims:
            self.claims = True
        if template and template.spec and template.spec.priority_class_name:
            self.priority = self.priority or template.spec.priority_class_name


@dataclass(slots=True)
class _End:
    outcome: Outcome | None = None
    ended: float | None = None
    word: str = ""
    message: str = ""


class WorkloadReader:
    """Reads every kind of workload.

    Args:
        labels: which labels say whose a job is.
    """

    def __init__(self, labels: FactLabels) -> None:
        self._labels = labels
        operator = self._reader(OperatorJob, self._operator_job)
        self.readers: dict[str, Callable[[msgspec.Raw], WorkloadRecord]] = {
            "Job": self._reader(Job, self._job),
            "JobSet": self._reader(JobSet, self._job_set),
            "TrainJob": self._reader(TrainJob, self._train_job),
            "RayJob": self._reader(RayJob, self._ray_job),
            "RayCluster": self._reader(RayCluster, self._ray_cluster),
            "LeaderWorkerSet": self._reader(LeaderWorkerSet, self._leader_worker_set),
            **dict.fromkeys(("PyTorchJob", "TFJob", "XGBoostJob", "PaddleJob", "JAXJob", "MPIJob"), operator),
        }

    def read(self, kind: str, raw: msgspec.Raw) -> WorkloadRecord:
        """What is kept of a workload.

        Raises:
            msgspec.ValidationError, ValueError: an object that is none of the API.
        """
        return msgspec.structs.replace(self.readers[kind](raw), kind=kind)

    @staticmethod
    def _reader(model: type[T], build: Callable[[T], WorkloadRecord]) -> Callable[[msgspec.Raw], WorkloadRecord]:
        decoder = msgspec.json.Decoder(model)
        return lambda raw: build(decoder.decode(raw))

    def _job(self, job: Job) -> WorkloadRecord:
        spec, status = job.spec, job.status
        shape = _Shape()
        at_once, done = _at_once(spec), (status.succeeded if status else None) or 0
        shape.add(spec.template, at_once)
        # A job of many small pods wants fewer at its end; those that are done are no ranks any more.
        left = None if spec.completions is None else max(spec.completions - done, 0)
        ranks = at_once if left is None else min(at_once, left)
        end = _ended(status.conditions if status else None, "Complete", "Failed")
        if end.outcome is Outcome.SUCCEEDED and status and status.completion_time:
            end.ended = unix(status.completion_time)
        return self._record(job.metadata, spec.suspend, shape, end, ranks=ranks, finished_ranks_count=False)

    def _job_set(self, job: JobSet) -> WorkloadRecord:
        shape, status = _Shape(), job.status
        for part in job.spec.replicated_jobs or []:
            replicas = 1 if part.replicas is None else part.replicas
            shape.add(part.template.spec.template, replicas * _at_once(part.template.spec))
        end = _ended(status.conditions if status else None, "Completed", "Failed")
        return self._record(job.metadata, job.spec.suspend, shape, end, restarts=status.restarts if status else None)

    def _operator_job(self, job: OperatorJob) -> WorkloadRecord:
        shape, status, policy = _Shape(), job.status, job.spec.run_policy
        for part in job.spec.replicas().values():
            shape.add(part.template, 1 if part.replicas is None else part.replicas)
        end = _ended(status.conditions if status else None, "Succeeded", "Failed")
        if end.outcome is not None and status and status.completion_time:
            end.ended = unix(status.completion_time)
        return self._record(job.metadata, policy.suspend if policy else None, shape, end)

    def _train_job(self, job: TrainJob) -> WorkloadRecord:
        trainer, status = job.spec.trainer, job.status
        nodes = trainer.num_nodes if trainer else None
        gpus = gpus_of_resources(trainer.resources_per_node) if trainer else 0
        end = _ended(status.conditions if status else None, "Complete", "Failed")
        # Where these stand in a runtime instead, the JobSet that is made of both says how many.
        record = self._record(job.metadata, job.spec.suspend, _Shape(), end, ranks=None)
        told = status.trainer_status if status else None
        at = unix(told.last_updated_time) if told else None
        progress = None
        if told is not None and at is not None:
            done = told.progress_percentage
            progress = Progress(at, None if done is None else done / 100.0, told.estimated_remaining_seconds)
        return msgspec.structs.replace(record, gpus=nodes * gpus if nodes and gpus else None, progress=progress)

    def _ray_job(self, job: RayJob) -> WorkloadRecord:
        status, end = job.status, _End()
        if status is not None:
            end = _End(_ray_outcome(status.job_deployment_status, status.job_status, status.reason))
            if end.outcome is not None:
                end.ended, end.message = unix(status.end_time), status.message or ""
                end.word = status.reason or status.job_status or ""
        shape = _ray_shape(job.spec.ray_cluster_spec)
        ranks = shape.ranks if job.spec.ray_cluster_spec else None
        record = self._record(
            job.metadata, job.spec.suspend, shape, end, ranks=ranks, restarts=status.failed if status else None
        )
        return record if ranks is not None else msgspec.structs.replace(record, gpus=None)

    def _ray_cluster(self, cluster: RayCluster) -> WorkloadRecord:
        return self._record(cluster.metadata, cluster.spec.suspend, _ray_shape(cluster.spec), _End())

    def _leader_worker_set(self, sets: LeaderWorkerSet) -> WorkloadRecord:
        shape, template = _Shape(), sets.spec.leader_worker_template
        groups = 1 if sets.spec.replicas is None else sets.spec.replicas
        size = 1 if template.size is None else template.size
        shape.add(template.leader_template or template.worker_template, groups)
        shape.add(template.worker_template, groups * (size - 1))
        return self._record(sets.metadata, None, shape, _End())

    def _record(
        self, meta: Meta, suspend: bool | None, shape: _Shape, end: _End, *, ranks: int | None = -1,
        finished_ranks_count: bool = True, restarts: int | None = None,
    ) -> WorkloadRecord:  # fmt: skip
        named = self._labels
        team = _fact(meta, named.team) or (meta.namespace if named.team_from_namespace else "")
        return WorkloadRecord(
            uid=meta.uid,
            kind="",
            namespace=meta.namespace,
            name=meta.name,
            owner=read_owner(meta),
            created=unix(meta.creation_timestamp) or 0.0,
            suspended=bool(suspend),
            ranks=shape.ranks if ranks == -1 else ranks,
            finished_ranks_count=finished_ranks_count,
            # What a claim asks for stands elsewhere, and may be GPUs.
            gpus=None if shape.claims and not shape.gpus else shape.gpus,
            team=team,
            queue=_fact(meta, named.queue),
            user=_fact(meta, named.user),
            priority=_fact(meta, _QUEUE_PRIORITY) or shape.priority,
            outcome=end.outcome,
            ended=end.ended,
            state_word=end.word,
            message=end.message[:_MESSAGE],
            restarts=restarts,
        )


def read_queue_workload(raw: msgspec.Raw) -> QueueRecord:
    """Kueue's view of a job.

    Raises:
        msgspec.ValidationError: an object that is none of the API.
    """
    found = _queue_workloads.decode(raw)
    conditions = found.status.conditions if found.status else None
    evicted, admitted = condition(conditions, "Evicted"), condition(conditions, "Admitted")
    return QueueRecord(
        uid=found.metadata.uid,
        owner=read_owner(found.metadata),
        queue=found.spec.queue_name or "",
        priority=found.spec.priority_class_name or "",
        active=found.spec.active is not False,
        admitted=admitted is not None,
        evicted=(evicted.reason or "Evicted") if evicted else "",
        evicted_at=unix(evicted.last_transition_time) if evicted else None,
        admitted_at=unix(admitted.last_transition_time) if admitted else None,
        why="" if admitted else _why_queued(conditions),
    )


def _why_queued(conditions: Iterable[Condition] | None) -> str:
    """Why Kueue holds a job back: it was taken out of the queue, has no quota, or checks are not through."""
    found = {one.type: one for one in conditions or ()}
    for name, status in (
        ("DeactivationTarget", "True"),
        ("QuotaReserved", "False"),
        ("Admitted", "False"),
        ("Evicted", "True"),
    ):
        one = found.get(name)
        if one is not None and one.status == status and (one.message or one.reason):
            return short(one.message or one.reason)
    return ""


_queue_workloads = msgspec.json.Decoder(QueueWorkload)


def _fact(meta: Meta, name: str) -> str:
    if not name:
        return ""
    return (meta.labels or {}).get(name) or (meta.annotations or {}).get(name, "")


def _at_once(spec: JobSpec) -> int:
    parallelism = 1 if spec.parallelism is None else spec.parallelism
    return parallelism if spec.completions is None else min(parallelism, spec.completions)


def _ended(conditions: Iterable[Condition] | None, good: str, bad: str) -> _End:
    for name in (good, bad):
        found = condition(conditions, name)
        if found is not None:
            reason, message = found.reason or "", found.message or ""
            outcome = Outcome.SUCCEEDED if name == good else Outcome.FAILED
            # The training operator gives its own reason to all failures and says in words which one it was.
            if name == bad and (reason == "DeadlineExceeded" or "longer than specified deadline" in message):
                outcome, reason = Outcome.TIMED_OUT, "DeadlineExceeded"
            return _End(outcome, unix(found.last_transition_time), reason, message)
    return _End()


def _ray_outcome(deployment: str | None, job: str | None, reason: str | None) -> Outcome | None:
    if deployment not in {"Complete", "Failed"}:
        return None
    if reason == "DeadlineExceeded":
        return Outcome.TIMED_OUT
    by_job = {"SUCCEEDED": Outcome.SUCCEEDED, "FAILED": Outcome.FAILED, "STOPPED": Outcome.CANCELLED}
    return Outcome.FAILED if deployment == "Failed" else by_job.get(job or "", Outcome.UNKNOWN)


def _ray_shape(spec: RayClusterSpec | None) -> _Shape:
    shape = _Shape()
    if spec is None:
        return shape
    shape.add(spec.head_group_spec.template if spec.head_group_spec else None, 1)
    for group in spec.worker_group_specs or []:
        if not group.suspend:
            hosts = 1 if group.num_of_hosts is None else group.num_of_hosts
            shape.add(group.template, (1 if group.replicas is None else group.replicas) * hosts)
    return shape

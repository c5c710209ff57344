"""The fields of workloads that are read, kind by kind; everything else is never decoded.

Sources: batch/v1; kubernetes-sigs/jobset, kueue and lws; kubeflow/training-operator, mpi-operator and trainer;
ray-project/kuberay.
"""

from datetime import datetime

import msgspec

from gpuscope.workloads.kubernetes.objects import Condition, Fields, Meta, PodTemplate, Resources

__all__ = ["Job", "JobSet", "LeaderWorkerSet", "OperatorJob", "QueueWorkload", "RayCluster", "RayJob", "TrainJob"]


class JobSpec(Fields):
    suspend: bool | None = None
    parallelism: int | None = None
    completions: int | None = None
    template: PodTemplate | None = None


class JobStatus(Fields):
    conditions: list[Condition] | None = None
    succeeded: int | None = None
    completion_time: datetime | None = None


class Job(Fields):
    metadata: Meta
    spec: JobSpec
    status: JobStatus | None = None


class JobTemplate(Fields):
    spec: JobSpec


class ReplicatedJob(Fields):
    name: str
    template: JobTemplate
    replicas: int | None = None


class JobSetSpec(Fields):
    suspend: bool | None = None
    replicated_jobs: list[ReplicatedJob] | None = None


class JobSetStatus(Fields):
    conditions: list[Condition] | None = None
    restarts: int | None = None


class JobSet(Fields):
    metadata: Meta
    spec: JobSetSpec
    status: JobSetStatus | None = None


class ReplicaSpec(Fields):
    replicas: int | None = None
    template: PodTemplate | None = None


class RunPolicy(Fields):
    suspend: bool | None = None


class OperatorSpec(Fields):
    """Of all kinds of the training operator: the replicas stand under a key of the kind's own."""

    run_policy: RunPolicy | None = None
    pytorch: dict[str, ReplicaSpec] | None = msgspec.field(name="pytorchReplicaSpecs", default=None)
    tensorflow: dict[str, ReplicaSpec] | None = msgspec.field(name="tfReplicaSpecs", default=None)
    xgboost: dict[str, ReplicaSpec] | None = msgspec.field(name="xgbReplicaSpecs", default=None)
    paddle: dict[str, ReplicaSpec] | None = msgspec.field(name="paddleReplicaSpecs", default=None)
    jax: dict[str, ReplicaSpec] | None = msgspec.field(name="jaxReplicaSpecs", default=None)
    mpi: dict[str, ReplicaSpec] | None = msgspec.field(name="mpiReplicaSpecs", default=None)

    def replicas(self) -> dict[str, ReplicaSpec]:
        """Role -> its pods."""
        named = (self.pytorch, self.tensorflow, self.xgboost, self.paddle, self.jax, self.mpi)
        return next((specs for specs in named if specs), {})


class OperatorStatus(Fields):
    conditions: list[Condition] | None = None
    completion_time: datetime | None = None


class OperatorJob(Fields):
    metadata: Meta
    spec: OperatorSpec
    status: OperatorStatus | None = None


class Trainer(Fields):
    num_nodes: int | None = None
    resources_per_node: Resources | None = None


class TrainJobSpec(Fields):
    suspend: bool | None = None
    trainer: Trainer | None = None


class TrainerStatus(Fields):
    progress_percentage: float | None = None
    estimated_remaining_seconds: float | None = None
    last_updated_time: datetime | None = None


class TrainJobStatus(Fields):
    conditions: list[Condition] | None = None
    trainer_status: TrainerStatus | None = None


class TrainJob(Fields):
    metadata: Meta
    spec: TrainJobSpec
    status: TrainJobStatus | None = None


class RayGroup(Fields):
    template: PodTemplate | None = None
    replicas: int | None = None
    num_of_hosts: int | None = None
    suspend: bool | None = None


class RayClusterSpec(Fields):
    suspend: bool | None = None
    head_group_spec: RayGroup | None = None
    worker_group_specs: list[RayGroup] | None = None


class RayCluster(Fields):
    metadata: Meta
    spec: RayClusterSpec


class RayJobSpec(Fields):
    suspend: bool | None = None
    ray_cluster_spec: RayClusterSpec | None = None


class RayJobStatus(Fields):
    job_status: str | None = None
    job_deployment_status: str | None = None
    reason: str | None = None
    message: str | None = None
    end_time: datetime | None = None
    failed: int | None = None


class RayJob(Fields):
    metadata: Meta
    spec: RayJobSpec
    status: RayJobStatus | None = None


class LeaderWorkerTemplate(Fields):
    leader_template: PodTemplate | None = None
    worker_template: PodTemplate | None = None
    size: int | None = None


class LeaderWorkerSetSpec(Fields):
    leader_worker_template: LeaderWorkerTemplate
    replicas: int | None = None


class LeaderWorkerSet(Fields):
    metadata: Meta
    spec: LeaderWorkerSetSpec


class QueueWorkloadSpec(Fields):
    active: bool | None = None
    queue_name: str | None = None
    priority_class_name: str | None = None


class QueueWorkloadStatus(Fields):
    conditions: list[Condition] | None = None


class QueueWorkload(Fields):
    metadata: Meta
    spec: QueueWorkloadSpec
    status: QueueWorkloadStatus | None = None

"""Deployments, stateful sets, jobs and autoscalers, as kube-state-metrics tells of them."""

from gpuscope.simulate.cluster.exposition import Page, labels
from gpuscope.simulate.cluster.pod_history import KEPT_S, PodRecord
from gpuscope.simulate.cluster.traffic import BURST
from gpuscope.simulate.cluster.world import World

__all__ = ["add_workloads"]

_HPA_MAX = 6


def add_workloads(page: Page, world: World, records: list[PodRecord]) -> None:
    """``kube_deployment_*``, ``kube_replicaset_owner``, ``kube_statefulset_*``, ``kube_job_*`` and autoscalers."""
    groups: dict[tuple[str, str, str], list[PodRecord]] = {}
    for record in records:
        workload = record.workload
        name = workload.owner if workload.owner_kind == "Job" else workload.name
        kind = "Job" if workload.owner_kind == "Job" else workload.kind
        groups.setdefault((record.namespace, kind, name), []).append(record)
    for (namespace, kind, name), members in groups.items():
        ready = sum(record.ready is not None and world.t >= record.ready for record in members)
        if kind == "Deployment":
            _deployment(page, world, namespace, name, members, ready)
        elif kind == "StatefulSet":
            _stateful_set(page, world, namespace, name, len(members), ready)
        elif kind == "Job":
            _job(page, world, namespace, name, members)


def _deployment(page: Page, world: World, namespace: str, name: str, members: list[PodRecord], ready: int) -> None:
    base = labels(namespace=namespace, deployment=name)
    wanted = len(members)
    page.gauge("kube_deployment_spec_replicas", "Number of desired pods for a deployment.").add(wanted, base)
    page.gauge("kube_deployment_status_replicas", "The number of replicas per deployment.").add(wanted, base)
    page.gauge("kube_deployment_status_replicas_ready", "The number of ready replicas per deployment.").add(ready, base)
    page.gauge("kube_deployment_status_replicas_available", "The number of available replicas per deployment.").add(
        ready, base
    )
    page.gauge("kube_deployment_status_replicas_unavailable", "The number of unavailable replicas.").add(
        wanted - ready, base
    )
    page.gauge("kube_deployment_status_observed_generation", "The generation observed by the controller.").add(3, base)
    page.gauge("kube_deployment_created", "Unix creation timestamp").add(world.stamp(world.since), base)
    owner = members[0].workload.owner
    page.gauge("kube_replicaset_owner", "Information about the ReplicaSet's owner.").add(
        1, namespace=namespace, replicaset=owner, owner_kind="Deployment", owner_name=name, owner_is_controller="true"
    )
    if members[0].activity == "inference":
        _autoscaler(page, world, namespace, name, wanted, ready)


def _autoscaler(page: Page, world: World, namespace: str, name: str, wanted: int, ready: int) -> None:
    base = labels(namespace=namespace, horizontalpodautoscaler=f"keda-hpa-{name}")
    target = page.gauge("kube_horizontalpodautoscaler_spec_target_metric", "The metric specifications used.")
    current = page.gauge("kube_horizontalpodautoscaler_status_target_metric", "The current metric status used.")
    page.gauge("kube_horizontalpodautoscaler_info", "Information about this autoscaler.").add(
        1, base, scaletargetref_api_version="apps/v1", scaletargetref_kind="Deployment", scaletargetref_name=name
    )
    for what, value in (("min", 1), ("max", _HPA_MAX)):
        page.gauge(f"kube_horizontalpodautoscaler_spec_{what}_replicas", f"The {what} number of replicas.").add(
            value, base
        )
    page.gauge("kube_horizontalpodautoscaler_status_desired_replicas", "Desired number of replicas.").add(wanted, base)
    page.gauge("kube_horizontalpodautoscaler_status_current_replicas", "Current number of replicas.").add(ready, base)
    condition = page.gauge("kube_horizontalpodautoscaler_status_condition", "The condition of this autoscaler.")
    for what in ("AbleToScale", "ScalingActive", "ScalingLimited"):
        for status in ("true", "false", "unknown"):
            right = "false" if what == "ScalingLimited" else "true"
            condition.add(status == right, base, condition=what, status=status)
    metric = {"metric_name": "s0-prometheus", "metric_target_type": "average"}
    target.add(10, base, **metric)
    current.add(round(4 + 60 * BURST.level(world.t), 3) if world.shape.faults else 4, base, **metric)


def _stateful_set(page: Page, world: World, namespace: str, name: str, wanted: int, ready: int) -> None:
    base = labels(namespace=namespace, statefulset=name)
    page.gauge("kube_statefulset_replicas", "Number of desired pods for a StatefulSet.").add(wanted, base)
    page.gauge("kube_statefulset_status_replicas", "The number of replicas per StatefulSet.").add(wanted, base)
    page.gauge("kube_statefulset_status_replicas_ready", "The number of ready replicas.").add(ready, base)
    page.gauge("kube_statefulset_created", "Unix creation timestamp").add(world.stamp(world.since), base)


def _job(page: Page, world: World, namespace: str, name: str, members: list[PodRecord]) -> None:
    base = labels(namespace=namespace, job_name=name)
    newest = max(members, key=lambda record: record.created)
    live = [record for record in members if record.phase == "Running"]
    failed = sum(record.phase == "Failed" for record in members)
    done = sum(record.phase == "Succeeded" for record in members)
    began = min(record.created for record in live) if live else newest.created
    page.gauge("kube_job_info", "Information about job.").add(1, base)
    page.gauge("kube_job_created", "Unix creation timestamp").add(world.stamp(began - 20), base)
    page.gauge("kube_job_spec_parallelism", "The maximum number of pods the job should run.").add(
        len(live) or len(members), base
    )
    page.gauge("kube_job_spec_completions", "The number of successfully finished pods to be run.").add(
        len(live) or len(members), base
    )
    page.gauge("kube_job_status_active", "The number of actively running pods.").add(len(live), base)
    page.gauge("kube_job_status_ready", "The number of ready pods.").add(
        sum(record.ready is not None and world.t >= record.ready for record in live), base
    )
    page.gauge("kube_job_status_succeeded", "The number of pods which reached Phase Succeeded.").add(
        0 if live else done, base
    )
    failures = page.gauge("kube_job_status_failed", "The number of pods which reached Phase Failed and the reason.")
    for reason in ("BackoffLimitExceeded", "DeadlineExceeded", "Evicted"):
        hit = failed and not live and reason == "BackoffLimitExceeded"
        failures.add(failed if hit else 0, base, reason=reason)
    page.gauge("kube_job_status_start_time", "StartTime represents time when the job was acknowledged.").add(
        world.stamp(began), base
    )
    if not live and newest.last and world.t - newest.last[2] <= KEPT_S:
        page.gauge("kube_job_status_completion_time", "CompletionTime of the job.").add(
            world.stamp(newest.last[2]), base
        )
        outcome = page.gauge(
            "kube_job_failed" if failed else "kube_job_complete", "The job has ended its execution this way."
        )
        for status in ("true", "false", "unknown"):
            outcome.add(status == "true", base, condition=status)
    owner = newest.workload
    if owner.kind == "JobSet":
        page.gauge("kube_job_owner", "Information about the Job's owner.").add(
            1, base, owner_kind="JobSet", owner_name=owner.name, owner_is_controller="true"
        )

"""Kueue: queues, quotas, and how long workloads wait. A ClusterQueue belongs to a team, all to one cohort."""

from functools import partial

from gpuscope.simulate.cluster.curves import spread
from gpuscope.simulate.cluster.exposition import Page, labels
from gpuscope.simulate.cluster.sources.target import Source, Target, service
from gpuscope.simulate.cluster.world import Training, World

__all__ = ["KUEUE"]

_WAITS = (1.0, 5.0, 10.0, 20.0, 40.0, 80.0, 160.0, 320.0, 640.0, 1280.0, 2560.0, 5120.0, 10_240.0)
_FLAVOR, _RESOURCE = "h100", "nvidia.com/gpu"
_EVICTED = {
    ("NodeFailures", ""): ("node_failure",),
    ("PodsReadyTimeout", "WaitForRecovery"): ("gpu_xid", "nccl_timeout"),
}
_HISTOGRAMS = {
    "admission_wait_time_seconds": (90.0, "The time between a workload was created or requeued until admission."),
    "quota_reserved_wait_time_seconds": (80.0, "The time between a workload was created until quota was reserved."),
    "ready_wait_time_seconds": (110.0, "The time between a workload was created until all its pods are ready."),
    "admitted_until_ready_wait_time_seconds": (21.0, "The time between admission until all pods are ready."),
    "admission_checks_wait_time_seconds": (1.5, "The time from quota reservation until admission."),
    "execution_time_seconds": (1020.0, "The time a workload ran."),
}


def kueue_page(world: World) -> str:
    """The exposition of the leader."""
    page = Page()
    role = labels(replica_role="leader")
    queues: dict[str, list[Training]] = {}
    for training in world.trainings:
        queues.setdefault(training.workload.queue, []).append(training)
    for queue, trainings in queues.items():
        _queue(page, world, f"{labels(cluster_queue=queue)},{role}", trainings)
        local = f"{labels(name=queue, namespace=queue)},{role}"
        _levels(page, world, local, trainings, "local_queue_")
        _quota(page, world, queue, role, trainings)
    page.counter("kueue_admission_attempts_total", "The total number of attempts to admit workloads.").add(
        int(world.t - world.since), role, result="success"
    )
    return page.text()


def _admitted(world: World, training: Training) -> bool:
    return training.attempts is None or training.attempts.state(world.t) in {"loading", "training", "detecting"}


def _late(world: World) -> int:
    """Workloads of each queue for which there never is room; where nothing goes wrong, none."""
    return int(world.shape.faults)


def _levels(page: Page, world: World, base: str, trainings: list[Training], kind: str) -> None:
    active = sum(_admitted(world, training) for training in trainings)
    pending = page.gauge(f"kueue_{kind}pending_workloads", "The number of pending workloads, per queue and status.")
    pending.add(len(trainings) - active + _late(world), base, status="active")
    pending.add(0, base, status="inadmissible")
    page.gauge(f"kueue_{kind}admitted_active_workloads", "The number of admitted workloads that are active.").add(
        active, base
    )
    page.gauge(f"kueue_{kind}reserving_active_workloads", "The number of workloads that reserve quota.").add(
        active, base
    )


def _queue(page: Page, world: World, base: str, trainings: list[Training]) -> None:
    _levels(page, world, base, trainings, "")
    ended = sum(one.attempts.ended(world.since, world.t) for one in trainings if one.attempts)
    done = sum(one.attempts.ended(world.since, world.t, "") for one in trainings if one.attempts)
    begun = sum(one.attempts.cycle.times(world.since, world.t, 0) if one.attempts else 1 for one in trainings)
    page.counter("kueue_admitted_workloads_total", "The total number of admitted workloads per 'cluster_queue'").add(
        begun, base, priority_class="default"
    )
    page.counter("kueue_quota_reserved_workloads_total", "The total number of quota reserved workloads.").add(
        begun, base, priority_class="default"
    )
    page.counter("kueue_finished_workloads_total", "The total number of finished workloads.").add(
        done, base, priority_class="default"
    )
    evicted = page.counter("kueue_evicted_workloads_total", "The number of evicted workloads per 'cluster_queue'.")
    once = page.counter("kueue_evicted_workloads_once_total", "The number of unique workload evictions.")
    for (reason, underlying), causes in _EVICTED.items():
        count = sum(_of(world, trainings, cause) for cause in causes)
        for family in (evicted, once):
            family.add(count, base, reason=reason, underlying_cause=underlying, priority_class="default")
    evicted.add(ended // 12, base, reason="Preempted", underlying_cause="", priority_class="default")
    queue = base.split('"')[1]
    page.counter("kueue_preempted_workloads_total", "The number of preempted workloads.").add(
        ended // 12, labels(preempting_cluster_queue=queue, replica_role="leader"), reason="InCohortReclamation"
    )
    for name, (median, text) in _HISTOGRAMS.items():
        observed = ended if name.startswith("execution") else begun
        page.histogram(f"kueue_{name}", text).observe(
            ((spread(_WAITS, median), observed),), base, priority_class="default"
        )
    status = page.gauge("kueue_cluster_queue_status", "Reports 'cluster_queue' with its 'status'.")
    for name in ("active", "pending", "terminating"):
        status.add(name == "active", base, status=name)


def _of(world: World, trainings: list[Training], reason: str) -> int:
    return sum(one.attempts.ended(world.since, world.t, reason) for one in trainings if one.attempts)


def _quota(page: Page, world: World, queue: str, role: str, trainings: list[Training]) -> None:
    base = f"{labels(cohort='research', cluster_queue=queue, flavor=_FLAVOR, resource=_RESOURCE)},{role}"
    used = sum(training.gpus for training in trainings if _admitted(world, training))
    asked = sum(training.gpus for training in trainings if not _admitted(world, training))
    # The first team has less than it uses at times: it borrows.
    nominal = max(8, sum(training.gpus for training in trainings) - 8)
    for name, value, text in (
        ("nominal_quota", nominal, "The nominal quota of the ClusterQueue."),
        ("borrowing_limit", float("inf"), "The borrowing limit of the ClusterQueue."),
        ("lending_limit", nominal, "The lending limit of the ClusterQueue."),
        ("resource_usage", used, "The usage of admitted workloads."),
        ("resource_reservation", used, "The reservation of workloads."),
        ("resource_pending", asked + 8 * _late(world), "What pending workloads ask for."),
    ):
        page.gauge(f"kueue_cluster_queue_{name}", text).add(value, base)
    own = labels(cluster_queue=queue, cohort="research")
    page.gauge("kueue_cluster_queue_weighted_share", "How much a ClusterQueue is above its share.").add(
        max(0, used - nominal) * 10, f"{own},{role}"
    )
    page.gauge("kueue_cluster_queue_info", "Information about the ClusterQueue.").add(1, f"{own},{role}")
    local = f"{labels(name=queue, namespace=queue, flavor=_FLAVOR, resource=_RESOURCE)},{role}"
    page.gauge("kueue_local_queue_resource_usage", "The usage of a LocalQueue.").add(used, local)
    page.gauge("kueue_local_queue_resource_reservation", "The reservation of a LocalQueue.").add(used, local)


def _targets(world: World) -> list[Target]:
    where = service("kueue-system", "kueue-controller-manager-metrics-service", "10.244.7.2:8443", container="manager")
    return [Target("leader", where, partial(kueue_page, world))] if world.trainings else []


KUEUE = Source("kueue", "kueue-controller-manager-metrics-service", "Kueue with metrics of quotas", _targets)

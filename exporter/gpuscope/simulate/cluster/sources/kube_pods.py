"""Pods, as kube-state-metrics tells of them."""

from gpuscope.simulate.cluster.exposition import Page, labels
from gpuscope.simulate.cluster.pod_history import PodRecord
from gpuscope.simulate.cluster.world import World

__all__ = ["add_pods"]

_PHASES = ("Pending", "Running", "Succeeded", "Failed", "Unknown")
_PULL_S, _BACKOFF_S = 20.0, 40.0
_REASONS = ("Evicted", "NodeAffinity", "NodeLost", "Shutdown", "UnexpectedAdmissionError")
_CPUS_PER_DEVICE, _MEMORY_PER_DEVICE = 3, 128 << 30


def add_pods(page: Page, world: World, records: list[PodRecord]) -> None:
    """``kube_pod_*``."""
    for record in records:
        base = labels(namespace=record.namespace, pod=record.name, uid=record.uid)
        _facts(page, world, record, base)
        _status(page, world, record, base)
        for container in record.containers:
            inner = f"{base},{labels(container=container)}"
            _container(page, world, record, inner, first=container == record.containers[0])


def _facts(page: Page, world: World, record: PodRecord, base: str) -> None:
    workload = record.workload
    machine = record.machine
    page.gauge("kube_pod_info", "Information about pod.").add(
        1, base, host_ip=machine.address if machine else "", pod_ip=f"10.244.{len(record.name)}.{len(record.uid)}",
        node=record.node, created_by_kind=workload.owner_kind, created_by_name=workload.owner,
        priority_class="", host_network="false",
    )  # fmt: skip
    page.gauge("kube_pod_owner", "Information about the Pod's owner.").add(
        1, base, owner_kind=workload.owner_kind, owner_name=workload.owner,
        owner_is_controller="true" if workload.owner else "",
    )  # fmt: skip
    jobset = workload.name if workload.kind == "JobSet" else ""
    page.gauge("kube_pod_labels", "Kubernetes labels converted to Prometheus labels.").add(
        1, base, label_app_kubernetes_io_name=workload.name, label_kueue_x_k8s_io_queue_name=workload.queue,
        label_jobset_sigs_k8s_io_jobset_name=jobset, label_team=record.namespace.removeprefix("team-"),
        label_training_kubeflow_org_job_name=workload.name if workload.kind == "PyTorchJob" else "",
    )  # fmt: skip
    page.gauge("kube_pod_created", "Unix creation timestamp").add(world.stamp(record.created), base)
    page.gauge("kube_pod_restart_policy", "Describes the restart policy in use by this pod.").add(
        1, base, type="Always" if workload.kind in {"Deployment", "StatefulSet"} else "Never"
    )


def _status(page: Page, world: World, record: PodRecord, base: str) -> None:
    phase = page.gauge("kube_pod_status_phase", "The pods current phase.")
    for name in _PHASES:
        phase.add(name == record.phase, base, phase=name)
    reason = page.gauge("kube_pod_status_reason", "The pod status reasons")
    for name in _REASONS:
        reason.add(0, base, reason=name)
    ready = page.gauge("kube_pod_status_ready", "Describes whether the pod is ready to serve requests.")
    is_ready = record.ready is not None and world.t >= record.ready
    for name in ("true", "false", "unknown"):
        ready.add(name == ("true" if is_ready else "false"), base, condition=name)
    scheduled = page.gauge("kube_pod_status_scheduled", "Describes the status of the scheduling process for the pod.")
    for name in ("true", "false", "unknown"):
        scheduled.add(name == ("true" if record.node else "false"), base, condition=name)
    if record.waiting:
        page.gauge("kube_pod_status_unschedulable", "Describes the unschedulable status for the pod.").add(1, base)
        return
    page.gauge("kube_pod_status_scheduled_time", "Unix timestamp when pod moved into scheduled status").add(
        world.stamp(record.created + 4), base
    )
    page.gauge("kube_pod_start_time", "Start time in unix timestamp for a pod.").add(
        world.stamp(record.created + 5), base
    )
    page.gauge("kube_pod_status_initialized_time", "Initialized time in unix timestamp for a pod.").add(
        world.stamp(record.created + 9), base
    )
    if is_ready and record.ready is not None:
        page.gauge("kube_pod_status_ready_time", "Readiness achieved time in unix timestamp for a pod.").add(
            world.stamp(record.ready), base
        )
    if record.phase in {"Succeeded", "Failed"} and record.last:
        page.gauge("kube_pod_completion_time", "Completion time in unix timestamp for a pod.").add(
            world.stamp(record.last[2]), base
        )


def _container(page: Page, world: World, record: PodRecord, base: str, *, first: bool) -> None:
    reason = _waiting(world, record) if first else ""
    running = record.phase == "Running" and not reason
    page.gauge("kube_pod_container_info", "Information about a container in a pod.").add(
        1,
        base,
        image=f"registry.example/{record.workload.name}:2.4",
        image_id="sha256:0a1b",
        container_id="containerd://c",
    )
    page.counter("kube_pod_container_status_restarts_total", "The number of container restarts per container.").add(
        record.restarts if first else 0, base
    )
    page.gauge("kube_pod_container_status_running", "Whether the container is currently in running state.").add(
        running, base
    )
    page.gauge("kube_pod_container_status_ready", "Whether the containers readiness check succeeded.").add(
        record.ready is not None and world.t >= record.ready, base
    )
    page.gauge("kube_pod_container_status_waiting", "Whether the container is currently in waiting state.").add(
        bool(reason), base
    )
    if reason:
        page.gauge(
            "kube_pod_container_status_waiting_reason", "The reason the container is currently in waiting state."
        ).add(1, base, reason=reason)
    page.gauge("kube_pod_container_status_terminated", "Whether the container is currently in terminated state.").add(
        record.phase in {"Succeeded", "Failed"}, base
    )
    if running:
        page.gauge("kube_pod_container_state_started", "Start time in unix timestamp for a pod container.").add(
            world.stamp(record.last[2] if record.last else record.created + 9), base
        )
    if record.last and first:
        _ending(page, world, record.last, base, running=record.phase == "Running")
    if first:
        _resources(page, record, base)


def _waiting(world: World, record: PodRecord) -> str:
    """Why the first container waits: its image is pulled, or it crashed a moment ago; empty: it does not."""
    if record.phase != "Running" or record.ready is None:
        return ""
    if world.t < record.created + _PULL_S:
        return "ContainerCreating"
    return "CrashLoopBackOff" if record.last and world.t - record.last[2] < _BACKOFF_S else ""


def _ending(page: Page, world: World, last: tuple[str, int, float], base: str, *, running: bool) -> None:
    reason, code, at = last
    if not running:
        page.gauge(
            "kube_pod_container_status_terminated_reason", "The reason the container is currently terminated."
        ).add(1, base, reason=reason)
        return
    lead = "kube_pod_container_status_last_terminated"
    page.gauge(f"{lead}_reason", "The last reason the container was in terminated state.").add(1, base, reason=reason)
    page.gauge(f"{lead}_exitcode", "The exit code for the last container in terminated state.").add(code, base)
    page.gauge(f"{lead}_timestamp", "Last terminated time for a pod container in unix timestamp.").add(
        world.stamp(at), base
    )


def _resources(page: Page, record: PodRecord, base: str) -> None:
    requests = page.gauge("kube_pod_container_resource_requests", "The number of requested request resource.")
    limits = page.gauge("kube_pod_container_resource_limits", "The number of requested limit resource.")
    devices = max(1, sum(record.resources.values()))
    both = [(name, "integer", float(count)) for name, count in record.resources.items()]
    both += [("cpu", "core", devices * _CPUS_PER_DEVICE), ("memory", "byte", devices * _MEMORY_PER_DEVICE)]
    for name, unit, amount in both:
        requests.add(amount, base, node=record.node, resource=name, unit=unit)
        limits.add(amount, base, node=record.node, resource=name, unit=unit)

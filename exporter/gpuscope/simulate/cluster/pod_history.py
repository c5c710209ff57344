"""Pods as the Kubernetes API has them: those that run, those that wait, and those that ended a short while ago."""

import uuid
from collections.abc import Iterator
from dataclasses import dataclass

from gpuscope.simulate.cluster.curves import Cycle
from gpuscope.simulate.cluster.machine import Machine
from gpuscope.simulate.cluster.traffic import BURST
from gpuscope.simulate.cluster.workloads import Workload, attempts_of, steady
from gpuscope.simulate.cluster.world import Pod, World

__all__ = ["KEPT_S", "PodRecord", "pod_records"]

KEPT_S = 150.0
"""For how long a pod that ended is still there."""

_CRASHES = Cycle(900.0, 400.0)
_EXITS = {
    "gpu_xid": ("Error", 134),
    "nccl_timeout": ("Error", 134),
    "node_failure": ("Error", 137),
    "": ("Completed", 0),
}


@dataclass(frozen=True, slots=True)
class PodRecord:
    """One pod.

    Attributes:
        node: empty while it waits.
        machine: ``None`` while it waits.
        created: moments of the story; ``ready`` is ``None`` unless it runs.
        resources: devices that it asks for.
        restarts: of its first container.
        last: reason, exit code and moment of the last time that a container ended, or ``None``.
        waiting: why it is not running, or empty.
    """

    namespace: str
    name: str
    uid: str
    node: str
    machine: Machine | None
    workload: Workload
    activity: str
    containers: tuple[str, ...]
    created: float
    ready: float | None
    phase: str
    resources: dict[str, int]
    restarts: int = 0
    last: tuple[str, int, float] | None = None
    waiting: str = ""


def pod_records(world: World) -> list[PodRecord]:
    """All pods of the cluster at this moment."""
    return [*(_running(world, pod) for pod in world.pods()), *_ended(world), *_pending(world)]


def _running(world: World, pod: Pod) -> PodRecord:
    restarts, last = _crashes(world, pod)
    return PodRecord(
        pod.namespace, pod.name, pod.run.uid, pod.machine.name, pod.machine, pod.workload, pod.activity,
        tuple(container.name for container in pod.plan.containers), pod.began - 12, pod.began + 20, "Running",
        pod.gpus, restarts, last,
    )  # fmt: skip


def _crashes(world: World, pod: Pod) -> tuple[int, tuple[str, int, float] | None]:
    """A PyTorchJob restarts in place, and a model server runs out of memory now and then."""
    if not world.shape.faults:
        return 0, None
    kind, role = pod.workload.kind, pod.workload.replica
    if kind == "PyTorchJob" and role == "worker":
        reason, code, every = "Error", 1, _CRASHES
    elif pod.activity == "inference" and steady(pod.run.uid) < 0.3:
        reason, code, every = "OOMKilled", 137, Cycle(3000.0, 500.0)
    else:
        return 0, None
    times = every.times(pod.began, world.t, 0)
    return times, (reason, code, world.t - every.place(world.t)) if times else None


def _ended(world: World) -> Iterator[PodRecord]:
    for machine in world.machines:
        for plan in machine.plans():
            span = plan.span
            if span.every is None or span.end is None:
                continue
            number = int((machine.t - span.end) // span.every)
            end = span.end + number * span.every
            if number < 0 or machine.t - end > KEPT_S:
                continue
            name, uid = machine.identity(plan, number)
            workload, activity = world.workload(machine, plan)
            attempts = attempts_of(plan, workload, faults=world.shape.faults)
            outcome = attempts.outcome(number) if attempts else ""
            reason, code = _EXITS[outcome]
            began = span.begin + number * span.every
            yield PodRecord(
                plan.namespace, name, uid, machine.name, machine, workload, activity,
                tuple(container.name for container in plan.containers), began - 12, None,
                "Failed" if outcome else "Succeeded", machine.requests(plan), 0, (reason, code, end),
            )  # fmt: skip


def _pending(world: World) -> Iterator[PodRecord]:
    """While requests burst, the autoscaler wants one more replica of a chat server than there is room for."""
    if not world.shape.faults or not BURST.active(world.t):
        return
    seen = set()
    for _, plan, workload in world.servers():
        if workload.kind != "Deployment" or workload in seen or not workload.name.startswith("chat"):
            continue
        seen.add(workload)
        name = f"{workload.owner}-{'m5n8z'}"
        began = world.t - BURST.place(world.t)
        identity = str(uuid.uuid5(uuid.NAMESPACE_OID, f"{world.name}/{name}/{BURST.number(world.t)}"))
        yield PodRecord(
            plan.namespace, name, identity, "", None, workload, "inference", ("main",), began, None, "Pending",
            {"nvidia_com_gpu": 4}, waiting="Unschedulable",
        )  # fmt: skip

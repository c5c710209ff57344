"""A Kubernetes API that tells of a simulated cluster: its nodes, pods and jobs, as the collector watches them.

``bench/profiles.py`` starts it beside ``gpuscope simulate cluster``, with the same plan; the server is that of the tests.

    python -m bench.cluster_api --kubeconfig FILE [--nodes 8] [--pace 4] [--profile native ...]
"""

from __future__ import annotations

import argparse
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.exporter.workloads.kubernetes.api_server import ApiServer
from tests.exporter.workloads.kubernetes.conftest import KUBECONFIG

from gpuscope.simulate.clock import RealClock
from gpuscope.simulate.cluster.pod_history import PodRecord, pod_records
from gpuscope.simulate.cluster.profiles import planned
from gpuscope.simulate.cluster.shape import Shape
from gpuscope.simulate.cluster.workloads import TRAINING
from gpuscope.simulate.cluster.world import Training, World

Object = dict[str, Any]
VERSIONS = {
    "Job": "batch/v1",
    "JobSet": "jobset.x-k8s.io/v1alpha2",
    "PyTorchJob": "kubeflow.org/v1",
    "TrainJob": "trainer.kubeflow.org/v1alpha1",
    "Workload": "kueue.x-k8s.io/v1beta1",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kubeconfig", type=Path, required=True, help="file to write once it answers")
    parser.add_argument("--nodes", type=int, default=8)
    parser.add_argument("--pace", type=float, default=4)
    parser.add_argument("--profile", action="append", default=[])
    options = parser.parse_args()
    plan = planned(Shape(nodes=options.nodes, pace=options.pace), options.profile)
    world = World(plan.shapes[0], RealClock())
    server = ApiServer()
    for kind, version in VERSIONS.items():
        server.install(kind, version, f"{kind.lower()}s")
    known: dict[tuple[str, str], Object] = {}
    while True:
        _bring(server, known, list(_objects(world)))
        if not options.kubeconfig.exists():
            options.kubeconfig.write_text(KUBECONFIG % server.url)
        time.sleep(1)


def _bring(server: ApiServer, known: dict[tuple[str, str], Object], now: Sequence[Object]) -> None:
    """Creates, changes and deletes what is not as it should be."""
    found = {(one["kind"], one["metadata"]["uid"]): one for one in now}
    for key in known.keys() - found.keys():
        server.delete(known.pop(key))
    for key, one in found.items():
        if known.get(key) != one:
            known[key] = one
            server.put(one)


def _objects(world: World) -> Iterator[Object]:
    for machine in world.machines:
        answering = len(machine.gpus())
        conditions = [
            {"type": "Ready", "status": "True", "reason": "KubeletReady", "lastTransitionTime": _at(world, world.since)}
        ]
        yield {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": machine.name, "uid": machine.name, "labels": {"karpenter.sh/nodepool": "gpu"}},
            "spec": {"unschedulable": True} if machine.cordoned else {},
            "status": {"allocatable": {"nvidia.com/gpu": str(answering)}, "conditions": conditions},
        }
    for training in world.trainings:
        yield from _job(world, training)
    trainings = {(one.workload.namespace, one.workload.name): one for one in world.trainings}
    for record in pod_records(world):
        yield _pod(world, record, trainings.get((record.namespace, record.workload.name)))


def _job(world: World, training: Training) -> Iterator[Object]:
    """The object that a user made, what its controller made of it, and its place in the queue."""
    workload, attempts = training.workload, training.attempts
    life, created = _life(world, training)
    over = (
        attempts is not None
        and attempts.state(world.t) == "queued"
        and not attempts.outcome(attempts.cycle.number(world.t))
    )
    labels = {"team": workload.namespace.removeprefix("team-"), "kueue.x-k8s.io/queue-name": workload.queue}
    meta = {"name": workload.name, "namespace": workload.namespace, "labels": labels, "creationTimestamp": created}
    template = {
        "spec": {
            "containers": [{"name": "main", "resources": _limits({"nvidia_com_gpu": training.gpus // training.pods})}]
        }
    }
    part = {"parallelism": training.pods, "completions": training.pods, "template": template}
    ends = (
        _at(world, attempts.cycle.begin + attempts.cycle.number(world.t) * attempts.cycle.every + attempts.runs_s)
        if attempts
        else ""
    )
    names = {"Job": "Complete", "JobSet": "Completed", "TrainJob": "Complete", "PyTorchJob": "Succeeded"}

    def status(kind: str) -> Object:
        done = {"type": names[kind], "status": "True", "reason": "Done", "lastTransitionTime": ends}
        return {"conditions": [done]} if over else {}

    def made(kind: str, spec: Object, owner: Object | None = None, **more: Any) -> Object:
        uid = _uid(world, kind, workload.namespace, workload.name, life)
        owners = {"ownerReferences": [_owner(owner)]} if owner else {}
        own = {**meta, "uid": uid, **owners}
        return {
            "apiVersion": VERSIONS[kind],
            "kind": kind,
            "metadata": own,
            "spec": spec,
            "status": {**status(kind), **more},
        }

    top: Object
    if workload.kind == "JobSet":
        trainer = {
            "numNodes": training.pods,
            "resourcesPerNode": _limits({"nvidia_com_gpu": training.gpus // training.pods}),
        }
        top = made("TrainJob", {"trainer": trainer}, trainerStatus=_progress(world, training))
        yield top
        parts = [{"name": "worker", "replicas": 1, "template": {"spec": part}}]
        jobset = made("JobSet", {"replicatedJobs": parts}, top, restarts=_restarts(world, training))
        yield jobset
        job = made("Job", part, jobset)
        job["metadata"]["name"] = f"{workload.name}-worker-0"
        yield job
    elif workload.kind == "PyTorchJob":
        replicas = {
            "Master": {"replicas": 1, "template": template},
            "Worker": {"replicas": training.pods - 1, "template": template},
        }
        top = made("PyTorchJob", {"pytorchReplicaSpecs": replicas})
        yield top
    else:
        top = made("Job", part)
        yield top
    # What restarts keeps its place: it recovers, and does not queue.
    admitted = {"type": "Admitted", "status": "True", "lastTransitionTime": created}
    yield {
        "apiVersion": VERSIONS["Workload"],
        "kind": "Workload",
        "metadata": {
            "name": f"job-{workload.name}", "namespace": workload.namespace, "uid": f"workload-{top['metadata']['uid']}",
            "creationTimestamp": created, "ownerReferences": [_owner(top)],
        },
        "spec": {"active": True, "queueName": workload.queue, "podSets": []},
        "status": {"conditions": [admitted]},
    }  # fmt: skip


def _life(world: World, training: Training) -> tuple[int, str]:
    """Which submission of the job it is, and since when it is there: each ends with an attempt that is done."""
    attempts = training.attempts
    if attempts is None:
        return 0, _at(world, world.since / 2)
    if "" not in attempts.outcomes:
        return 0, _at(world, world.since / 4)
    size = len(attempts.outcomes)
    life = attempts.cycle.number(world.t) // size
    return life, _at(world, attempts.cycle.begin + life * size * attempts.cycle.every)


def _restarts(world: World, training: Training) -> int:
    attempts = training.attempts
    return attempts.cycle.number(world.t) % len(attempts.outcomes) if attempts else 0


def _progress(world: World, training: Training) -> Object:
    """What the script tells Kubeflow's trainer, four times a minute while it trains."""
    attempts = training.attempts
    if attempts is None:
        return {}
    told = min(attempts.cycle.place(world.t), attempts.runs_s) // 15 * 15
    left = max(0.0, attempts.runs_s - told)
    return {
        "progressPercentage": int(100 * told / attempts.runs_s),
        "estimatedRemainingSeconds": int(left),
        "lastUpdatedTime": _at(world, world.t - attempts.cycle.place(world.t) + told),
    }


def _pod(world: World, record: PodRecord, training: Training | None) -> Object:
    meta: Object = {
        "name": record.name, "namespace": record.namespace, "uid": record.uid,
        "creationTimestamp": _at(world, record.created),
    }  # fmt: skip
    if training is not None and record.workload.kind in TRAINING:
        kind = "PyTorchJob" if record.workload.kind == "PyTorchJob" else "Job"
        life, _ = _life(world, training)
        uid = _uid(world, kind, record.namespace, record.workload.name, life)
        meta["ownerReferences"] = [{"kind": kind, "name": record.workload.owner, "uid": uid, "controller": True}]
    ready = record.ready is not None
    conditions = [
        {
            "type": "PodScheduled",
            "status": "True" if record.node else "False",
            "lastTransitionTime": meta["creationTimestamp"],
        }
    ]
    if ready:
        conditions.append({"type": "Ready", "status": "True", "lastTransitionTime": _at(world, record.ready or 0.0)})
    state: Object = {"running": {"startedAt": _at(world, record.created + 4)}} if ready else {}
    end: Object = {}
    if record.last:
        reason, code, at = record.last
        end = {
            "terminated": {
                "exitCode": code,
                "reason": reason,
                "startedAt": _at(world, record.created + 4),
                "finishedAt": _at(world, at),
            }
        }
    if record.waiting:
        state = {"waiting": {"reason": record.waiting}}
    status = {
        "name": record.containers[0],
        "restartCount": record.restarts,
        "state": state or end,
        "lastState": end if state else {},
    }
    spec: Object = {"containers": [{"name": record.containers[0], "resources": _limits(record.resources)}]}
    if record.node:
        spec["nodeName"] = record.node
    return {
        "apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec,
        "status": {"phase": record.phase, "conditions": conditions, "containerStatuses": [status]},
    }  # fmt: skip


def _limits(resources: Mapping[str, int]) -> Object:
    """As kube-state-metrics' names were before it made labels of them."""
    found = {}
    for name, count in resources.items():
        rest = name.removeprefix("nvidia_com_")
        mig = rest.removeprefix("mig_")
        found[
            f"nvidia.com/mig-{mig.replace('_', '.', 1)}" if mig != rest else f"nvidia.com/{rest.replace('_', '.')}"
        ] = str(count)
    return {"limits": found}


def _owner(obj: Object) -> Object:
    return {"kind": obj["kind"], "name": obj["metadata"]["name"], "uid": obj["metadata"]["uid"], "controller": True}


def _uid(world: World, *parts: object) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_OID, "/".join(map(str, (world.name, *parts)))))


def _at(world: World, t: float) -> str:
    return datetime.fromtimestamp(world.stamp(t), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


if __name__ == "__main__":
    main()

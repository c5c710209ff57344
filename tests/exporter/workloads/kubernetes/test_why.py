"""Why a job waits, since when, and where it is."""

import pytest
from tests.exporter.workloads.kubernetes.conftest import START, Cluster, condition, pod, running, workload

from gpuscope.workloads.observation import WHY_LENGTH, JobState

NO_ROOM = "0/4 nodes are available: 4 Insufficient nvidia.com/gpu. preemption: 0/4 nodes are available."
NO_QUOTA = "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor h100"


def unplaced(name: str, job: dict, created: float = 0, message: str = NO_ROOM) -> dict:
    one = pod(name, job, node="", created=created)
    one["status"]["conditions"] = [condition("PodScheduled", created, "Unschedulable", message, status="False")]
    return one


def waiting(name: str, job: dict, reason: str, message: str | None = None, **fields: object) -> dict:
    one = pod(name, job, **fields)
    one["status"]["containerStatuses"][0]["state"] = {"waiting": {"reason": reason, "message": message}}
    return one


def test_scheduler_says_why_there_is_no_node_and_since_when(cluster: Cluster) -> None:
    server = cluster.server
    job = server.put(workload("Job"))
    cluster.watch()
    empty = cluster.job()
    assert (empty.state, empty.why, empty.nodes) == (JobState.SCHEDULING, "", ())
    assert empty.since == empty.created
    server.put(pod("llama-0", job, node="gpu-02"))
    server.put(unplaced("llama-1", job, 30, NO_ROOM.replace(". ", ".\n ")))
    seen = cluster.job(lambda job: job.why)
    assert (seen.state, seen.why, seen.since) == (JobState.SCHEDULING, NO_ROOM, START + 30)
    assert seen.nodes == ("gpu-02",)
    for rank, node in ((0, "gpu-02"), (1, "gpu-01")):
        server.put(running(pod(f"llama-{rank}", job, node=node), 60))
    seen = cluster.job(lambda job: job.state is JobState.TRAINING)
    assert (seen.why, seen.nodes, seen.since) == ("", ("gpu-01", "gpu-02"), None)


@pytest.mark.parametrize(
    ("reason", "message", "state", "why"),
    [
        ("ContainerCreating", None, JobState.INITIALIZING, ""),
        ("ErrImagePull", None, JobState.PULLING, "ErrImagePull"),
        ("ImagePullBackOff", "Back-off pulling image \"x/y:nope\"", JobState.PULLING,
         'ImagePullBackOff: Back-off pulling image "x/y:nope"'),
        ("CreateContainerConfigError", 'secret "wandb" not found', JobState.INITIALIZING,
         'CreateContainerConfigError: secret "wandb" not found'),
        ("CrashLoopBackOff", "x" * 900, JobState.INITIALIZING, "CrashLoopBackOff: " + "x" * (WHY_LENGTH - 19) + "…"),
    ],
)  # fmt: skip
def test_kubelet_says_why_a_container_does_not_start(
    cluster: Cluster, reason: str, message: str | None, state: JobState, why: str
) -> None:
    job = cluster.server.put(workload("Job", spec={"parallelism": 1, "completions": 1}))
    cluster.server.put(waiting("llama-0", job, reason, message, created=9))
    cluster.watch()
    seen = cluster.job(lambda job: job.nodes)
    assert (seen.state, seen.why) == (state, why)
    assert seen.since == (START + 10 if state is JobState.PULLING else None)


def test_init_container_that_cannot_be_pulled_is_told_too(cluster: Cluster) -> None:
    job = cluster.server.put(workload("Job", spec={"parallelism": 1, "completions": 1}))
    one = pod("llama-0", job)
    state = {"waiting": {"reason": "InvalidImageName", "message": "no"}}
    one["status"]["initContainerStatuses"] = [{"name": "fetch", "restartCount": 0, "ready": False, "state": state}]
    cluster.server.put(one)
    cluster.watch()
    assert cluster.job(lambda job: job.why).why == "InvalidImageName: no"


def test_kueue_says_why_a_job_has_no_quota(cluster: Cluster) -> None:
    server = cluster.server
    server.put(workload("Job", spec={"suspend": True}))
    queue = workload("Workload")
    queue["status"]["conditions"] = [condition("QuotaReserved", 5, "Pending", NO_QUOTA, status="False")]
    server.put(queue)
    cluster.watch()
    seen = cluster.job(lambda job: job.why)
    assert (seen.state, seen.why) == (JobState.QUEUED, NO_QUOTA)
    checks = [
        condition("QuotaReserved", 8),
        condition("Admitted", 8, "NoChecks", "waits for ProvisioningRequest", "False"),
    ]
    queue["status"]["conditions"] = checks
    server.put(queue)
    cluster.job(lambda job: job.why == "waits for ProvisioningRequest")
    queue["status"]["conditions"] = [condition("QuotaReserved", 8), condition("Admitted", 90)]
    server.put(queue)
    server.put(workload("Job"))
    seen = cluster.job(lambda job: job.state is JobState.SCHEDULING)
    assert (seen.why, seen.since) == ("", START + 90)


def test_pod_that_is_gated_says_so_where_nobody_else_does(cluster: Cluster) -> None:
    job = cluster.server.put(workload("Job"))
    one = unplaced("llama-0", job, message="Scheduling is blocked due to non-empty scheduling gates")
    one["spec"]["schedulingGates"] = [{"name": "example.com/gate"}]
    cluster.server.put(one)
    cluster.watch()
    seen = cluster.job(lambda job: job.state is JobState.QUEUED)
    assert seen.why == "Scheduling is blocked due to non-empty scheduling gates"

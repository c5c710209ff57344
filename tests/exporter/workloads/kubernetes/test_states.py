from tests.exporter.workloads.kubernetes.conftest import (
    NODE,
    START,
    Cluster,
    at,
    condition,
    pod,
    running,
    workload,
)

from gpuscope.workloads.observation import JobState, NodeState, Outcome


def test_job_goes_from_scheduling_over_pulling_to_training(cluster: Cluster) -> None:
    server = cluster.server
    job = server.put(workload("Job"))
    cluster.watch()
    cluster.job(lambda job: job.state is JobState.SCHEDULING)
    server.put(pod("llama-0", job))
    server.put(pod("llama-1", job, node=""))
    cluster.see(lambda seen: len(seen.pods) == 2)
    assert cluster.job().state is JobState.SCHEDULING
    assert cluster.job().attempts[0].started is None

    second = server.put(pod("llama-1", job, node="gpu-02", created=20))
    cluster.job(lambda job: job.state is JobState.INITIALIZING)
    pulls = {
        "apiVersion": "v1", "kind": "Event", "metadata": {"name": "llama-1.17", "uid": "event"},
        "involvedObject": {"kind": "Pod", "name": "llama-1", "uid": second["metadata"]["uid"]}, "reason": "Pulling",
    }  # fmt: skip
    server.put(pulls)
    job_ = cluster.job(lambda job: job.state is JobState.PULLING)
    assert job_.attempts[0].started == START + 21
    server.put(running(second, 50))
    cluster.job(lambda job: job.state is JobState.INITIALIZING)
    server.put(running(pod("llama-0", job), 70))
    assert cluster.job(lambda job: job.state is JobState.TRAINING).attempts[0].running == START + 70


def test_image_that_cannot_be_pulled_is_pulling_without_any_event(cluster: Cluster) -> None:
    job = cluster.server.put(workload("Job", spec={"parallelism": 1, "completions": 1}))
    one = pod("llama-0", job)
    one["status"]["containerStatuses"][0]["state"] = {"waiting": {"reason": "ImagePullBackOff"}}
    cluster.server.put(one)
    cluster.watch()
    cluster.job(lambda job: job.state is JobState.PULLING)
    late = workload("Job", status={"conditions": [condition("Failed", 900, "DeadlineExceeded")]})
    cluster.server.put(late)
    (attempt,) = cluster.job(lambda job: job.outcome).attempts
    assert attempt.outcome is Outcome.TIMED_OUT
    assert attempt.evidence.container_reasons == ("ImagePullBackOff",)
    assert attempt.evidence.state == "DeadlineExceeded"


def test_job_waits_in_the_queue_until_kueue_admits_it(cluster: Cluster) -> None:
    server = cluster.server
    server.put(workload("Job", spec={"suspend": True}))
    queue = server.put(workload("Workload"))
    cluster.watch()
    cluster.job(lambda job: job.state is JobState.QUEUED)
    queue["status"]["conditions"] = [condition("QuotaReserved", 100), condition("Admitted", 100, "Admitted")]
    server.put(queue)
    server.put(workload("Job"))
    cluster.job(lambda job: job.state is JobState.SCHEDULING)
    queue["spec"]["active"] = False
    server.put(queue)
    cluster.job(lambda job: job.state is JobState.SUSPENDED)


def test_gated_pods_wait_in_the_queue(cluster: Cluster) -> None:
    job = cluster.server.put(workload("Job"))
    one = pod("llama-0", job, node="")
    one["spec"]["schedulingGates"] = [{"name": "kueue.x-k8s.io/admission"}]
    cluster.server.put(one)
    cluster.watch()
    cluster.job(lambda job: job.state is JobState.QUEUED)


def test_job_suspended_by_hand_is_suspended_and_its_attempt_is_over(cluster: Cluster) -> None:
    server = cluster.server
    job = server.put(workload("Job"))
    pods = [server.put(running(pod(f"llama-{rank}", job), 60)) for rank in range(2)]
    cluster.watch()
    cluster.job(lambda job: job.state is JobState.TRAINING)
    server.put(workload("Job", spec={"suspend": True}))
    cluster.job(lambda job: job.state is JobState.SUSPENDED)
    for one in pods:
        server.delete(one)
    seen = cluster.job(lambda job: len(job.attempts) == 2)
    assert [(one.number, one.outcome) for one in seen.attempts] == [(0, Outcome.CANCELLED), (1, None)]
    assert seen.attempts[0].evidence.state == "Suspended"
    assert seen.attempts[0].evidence.requested_by_user is None


def test_suspended_job_with_a_queue_label_waits_in_it_even_where_kueue_is_hidden(cluster: Cluster) -> None:
    cluster.server.forbidden.add("workloads")
    labels = {"kueue.x-k8s.io/queue-name": "vision-queue"}
    cluster.server.put(workload("Job", spec={"suspend": True}, metadata={"labels": labels}))
    cluster.watch()
    assert cluster.job(lambda job: job.state is JobState.QUEUED).facts.queue == "vision-queue"


def test_job_of_many_small_pods_trains_with_those_that_are_left(cluster: Cluster) -> None:
    job = cluster.server.put(workload("Job", spec={"parallelism": 4, "completions": 100}, status={"succeeded": 98}))
    cluster.watch()
    assert cluster.job().facts.gpus == 32
    for rank in range(2):
        cluster.server.put(running(pod(f"llama-{rank}", job), 60))
    cluster.job(lambda job: job.state is JobState.TRAINING)


def test_ends_of_kinds_that_say_it_in_their_own_way(cluster: Cluster) -> None:
    stories = (
        ("JobSet", condition("Failed", 900, "ReachedMaxRestarts", "jobset failed"), Outcome.FAILED),
        ("PyTorchJob", condition("Failed", 900, "PyTorchJobFailed",
                                 "Job llama has failed because it was active longer than specified deadline"),
         Outcome.TIMED_OUT),
        ("MPIJob", condition("Succeeded", 900, "MPIJobSucceeded"), Outcome.SUCCEEDED),
        ("TrainJob", condition("Failed", 900, "DeadlineExceeded"), Outcome.TIMED_OUT),
    )  # fmt: skip
    for kind, end, _ in stories:
        cluster.server.put(workload(kind, status={"conditions": [condition("Running", 10, status="False"), end]}))
    cluster.watch()
    seen = cluster.see(lambda seen: len(seen.jobs) == len(stories))
    assert {job.facts.kind: job.outcome for job in seen.jobs} == {kind: outcome for kind, _, outcome in stories}
    assert {job.ended for job in seen.jobs} == {START + 900}


def test_ends_of_ray_jobs(cluster: Cluster) -> None:
    stories = {
        "good": ({"jobDeploymentStatus": "Complete", "jobStatus": "SUCCEEDED"}, Outcome.SUCCEEDED),
        "stopped": ({"jobDeploymentStatus": "Complete", "jobStatus": "STOPPED"}, Outcome.CANCELLED),
        "app": ({"jobDeploymentStatus": "Failed", "jobStatus": "FAILED", "reason": "AppFailed"}, Outcome.FAILED),
        "late": ({"jobDeploymentStatus": "Failed", "reason": "DeadlineExceeded"}, Outcome.TIMED_OUT),
        "on": ({"jobDeploymentStatus": "Retrying", "jobStatus": "", "failed": 1}, None),
    }
    for name, (status, _) in stories.items():
        cluster.server.put(workload("RayJob", metadata={"name": name, "uid": name}, status=status | {"endTime": at(9)}))
    cluster.watch()
    seen = cluster.see(lambda seen: len(seen.jobs) == len(stories))
    assert {job.facts.name: job.outcome for job in seen.jobs} == {name: end for name, (_, end) in stories.items()}
    assert {job.facts.name: job.restarts for job in seen.jobs}["on"] == 1
    asked = {job.facts.name: [one.evidence.requested_by_user for one in job.attempts] for job in seen.jobs}
    assert asked == {"good": [None], "stopped": [True], "app": [None], "late": [None], "on": [None]}


def test_nodes_say_what_they_are_good_for(cluster: Cluster) -> None:
    server = cluster.server

    def node(name: str, ready: str = "True", **spec: object) -> None:
        status = {"allocatable": {"nvidia.com/gpu": "8", "nvidia.com/mig-1g.18gb": "7", "nvidia.com/other": "9"},
                  "conditions": [condition("Ready", 500, "NodeStatusUnknown", status=ready)]}  # fmt: skip
        server.put(NODE | {"metadata": {"name": name, "uid": name}, "spec": spec, "status": status})

    node("gpu-01", unschedulable=True, taints=[
        {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule", "timeAdded": at(300)}])  # fmt: skip
    node("gpu-02", "Unknown")
    node("gpu-03", taints=[{"key": "cloud.google.com/impending-node-termination", "effect": "NoSchedule"}])
    node("gpu-04", unschedulable=True)
    node("gpu-05")
    server.put(NODE | {"metadata": {"name": "gpu-06", "uid": "gpu-06"}, "spec": {}, "status": {}})
    job = server.put(workload("Job"))
    server.put(running(pod("llama-0", job), 60))
    cluster.watch()
    seen = {one.name: one for one in cluster.see(lambda seen: len(seen.nodes) == 6 and seen.complete).nodes}
    assert {name: one.state for name, one in seen.items()} == {
        "gpu-01": NodeState.DRAINING, "gpu-02": NodeState.DOWN, "gpu-03": NodeState.MAINTENANCE,
        "gpu-04": NodeState.DRAINED, "gpu-05": NodeState.READY, "gpu-06": NodeState.UNKNOWN,
    }  # fmt: skip
    assert (seen["gpu-01"].gpus_allocated, seen["gpu-01"].since) == (8, START + 300)
    assert (seen["gpu-02"].reason, seen["gpu-02"].since) == ("NodeStatusUnknown", START + 500)
    assert (seen["gpu-06"].gpus, seen["gpu-06"].gpus_allocated) == (None, None)
    assert (seen["gpu-05"].gpus, seen["gpu-05"].gpus_allocated, seen["gpu-06"].gpus) == (15, 0, None)

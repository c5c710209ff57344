import pytest
from tests.exporter.workloads.kubernetes.conftest import START, WORKLOADS, Cluster, owned_by, pod, running, workload

from gpuscope.workloads.observation import JobState

JOBS = sorted(WORKLOADS.keys() - {"Workload"})


@pytest.mark.parametrize("kind", JOBS)
def test_every_kind_is_a_job_that_trains_when_all_its_ranks_are_ready(cluster: Cluster, kind: str) -> None:
    job = cluster.server.put(workload(kind))
    labels = {"leaderworkerset.sigs.k8s.io/name": "llama"} if kind == "LeaderWorkerSet" else {}
    ranks = 2 + (kind in {"MPIJob", "RayJob", "RayCluster"})
    pods = [pod(f"llama-{rank}", job, node=f"gpu-0{rank + 1}", labels=labels) for rank in range(ranks)]
    for one in pods[:-1]:
        cluster.server.put(running(one, 60))
    cluster.server.put(pods[-1])
    cluster.watch()
    waits = {"TrainJob": JobState.INITIALIZING}.get(kind, JobState.INITIALIZING)
    cluster.job(lambda job: job.state is waits)

    cluster.server.put(running(pods[-1], 90))
    seen = cluster.job(lambda job: job.state is JobState.TRAINING)
    assert seen.key == ("kubernetes", "research", kind.lower())
    assert (seen.facts.kind, seen.facts.name, seen.facts.gpus) == (kind, "llama", 16)
    assert seen.created == START
    (attempt,) = seen.attempts
    assert (attempt.number, attempt.started, attempt.running, attempt.ended) == (0, START + 1, START + 90, None)
    assert attempt.nodes == tuple(f"gpu-0{rank + 1}" for rank in range(ranks))


def test_facts_come_from_labels_annotations_and_kueue(cluster: Cluster) -> None:
    job = workload("Job", spec={"suspend": True})
    job["metadata"]["annotations"] = {"gpuscope.io/user": "ada"}
    cluster.server.put(job)
    cluster.server.put(workload("Workload"))
    cluster.watch()
    facts = cluster.job(lambda job: job.facts.queue).facts
    assert (facts.team, facts.user, facts.queue, facts.priority) == ("vision", "ada", "vision-queue", "training")


def test_progress_and_estimate_of_a_train_job(cluster: Cluster) -> None:
    cluster.server.put(workload("TrainJob"))
    cluster.watch()
    progress = cluster.job().progress
    assert progress is not None
    assert (progress.ratio, progress.remaining_s, progress.at) == (0.42, 7200, START + 1800)


def test_chain_of_owners_ends_at_the_job_that_somebody_submitted(cluster: Cluster) -> None:
    train = cluster.server.put(workload("TrainJob", spec={"trainer": {}}))
    jobset = workload("JobSet", metadata={"ownerReferences": owned_by(train)})
    cluster.server.put(jobset)
    child = workload("Job", metadata={"name": "llama-workers-0", "uid": "child", "ownerReferences": owned_by(jobset)})
    cluster.server.put(child)
    for rank in range(2):
        cluster.server.put(running(pod(f"llama-{rank}", child), 60))
    cluster.watch()
    job = cluster.job(lambda job: job.state is JobState.TRAINING and job.facts.gpus == 16)
    assert (job.facts.kind, job.restarts) == ("TrainJob", 0)
    seen = cluster.see(lambda seen: len(seen.pods) == 2)
    assert seen.pods == {("research", f"llama-{rank}"): job.key for rank in range(2)}


def test_pods_that_submit_to_ray_are_no_ranks(cluster: Cluster) -> None:
    ray = cluster.server.put(workload("RayJob"))
    rays = workload("RayCluster", metadata={"name": "llama-raycluster-f8x2d", "ownerReferences": owned_by(ray)})
    cluster.server.put(rays)
    submitter = workload("Job", metadata={"ownerReferences": owned_by(ray)})
    cluster.server.put(submitter)
    cluster.server.put(running(pod("submitter", submitter), 60))
    for rank in range(2):
        cluster.server.put(running(pod(f"ray-{rank}", rays), 60))
    cluster.watch()
    cluster.job(lambda job: job.state is JobState.SCHEDULING)
    cluster.server.put(running(pod("ray-2", rays), 70))
    cluster.job(lambda job: job.state is JobState.TRAINING)

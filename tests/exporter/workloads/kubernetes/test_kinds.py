import pytest
from tests.exporter.workloads.kubernetes.conftest import START, WORKLOADS, Cluster, owned_by, pod, running, workload

from gpuscope.workloads.observation import JobKey, JobState

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
    assert seen.key == JobKey("kubernetes", "research", kind.lower())
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


def test_progress_that_cannot_be_is_handed_on_as_it_was_told(cluster: Cluster) -> None:
    train = workload("TrainJob")
    train["status"]["trainerStatus"] |= {"progressPercentage": 150, "estimatedRemainingSeconds": -5}
    cluster.server.put(train)
    cluster.watch()
    progress = cluster.job().progress
    assert progress is not None
    assert (progress.ratio, progress.remaining_s) == (1.5, -5), "whoever takes it drops and counts it"


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


def test_gpus_of_resource_claims_are_counted_when_that_is_asked_for(cluster: Cluster) -> None:
    server = cluster.server
    server.install("ResourceClaim", "resource.k8s.io/v1", "resourceclaims")
    job = workload("Job")
    bare = {"name": "trainer", "resources": {"claims": [{"name": "gpus"}]}}
    claims = [{"name": "gpus", "resourceClaimTemplateName": "eight-gpus"}]
    job["spec"]["template"] = {"spec": {"containers": [bare], "resourceClaims": claims}}
    server.put(job)
    cluster.watch(dra=True)
    assert cluster.job().facts.gpus is None

    for rank in range(2):
        one = pod(f"llama-{rank}", job, node=f"gpu-0{rank + 1}")
        one["spec"] |= {"containers": [bare], "resourceClaims": claims}
        server.put(running(one, 60))
        results = [
            {"request": "gpus", "driver": "gpu.nvidia.com", "pool": "gpu-01", "device": f"gpu-{i}"} for i in range(8)
        ]
        # A monitor that sees the device beside whoever holds it.
        results.append(results[0] | {"adminAccess": True})
        results.append({"request": "nic", "driver": "dra.net", "pool": "gpu-01", "device": "mlx5_0"})
        consumer = {"resource": "pods", "name": one["metadata"]["name"], "uid": one["metadata"]["uid"]}
        claim = {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceClaim",
            "metadata": {"name": f"llama-{rank}-gpus", "namespace": "research", "uid": f"claim-{rank}"},
            "spec": {"devices": {"requests": [{"name": "gpus", "exactly": {"deviceClassName": "gpu.nvidia.com"}}]}},
            "status": {"allocation": {"devices": {"results": results}}, "reservedFor": [consumer]},
        }
        server.put(claim)
    seen = cluster.see(lambda seen: seen.jobs and seen.jobs[0].facts.gpus == 16)
    assert {one.name: one.gpus_allocated for one in seen.nodes} == {"gpu-01": 8, "gpu-02": 8, "gpu-03": 0}

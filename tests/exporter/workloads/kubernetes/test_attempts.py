import copy

from tests.exporter.workloads.kubernetes.conftest import (
    NODE,
    START,
    Cluster,
    at,
    condition,
    failed,
    owned_by,
    pod,
    running,
    terminated,
    workload,
)

from gpuscope.workloads.observation import JobState, KnownAttempts, ObservedJob, Outcome


def told(job: ObservedJob) -> list[tuple[int, Outcome | None]]:
    return [(attempt.number, attempt.outcome) for attempt in job.attempts]


def start(cluster: Cluster, kind: str = "Job", ranks: int = 2) -> tuple[dict, list[dict]]:
    """A job whose ranks all run, one on each node."""
    job = cluster.server.put(workload(kind))
    pods = [running(pod(f"llama-{rank}", job, node=f"gpu-0{rank + 1}"), 60) for rank in range(ranks)]
    for one in pods:
        cluster.server.put(one)
    cluster.watch()
    cluster.job(lambda job: job.state is JobState.TRAINING)
    return job, pods


def test_rank_out_of_memory_and_the_others_torn_down_are_one_interruption(cluster: Cluster) -> None:
    job, pods = start(cluster)
    cluster.server.put(failed(pods[1], 137, 600, "OOMKilled"))
    seen = cluster.job(lambda job: len(job.attempts) == 2)
    assert seen.state is JobState.RECOVERING
    cluster.server.put(failed(pods[0], 1, 640))
    # The replacements come, one with a node and one without.
    again = [pod(f"again-{rank}", job, node=f"gpu-0{rank + 1}" if rank else "", created=700) for rank in range(2)]
    for one in again:
        cluster.server.put(one)
    seen = cluster.job(lambda job: job.attempts[0].evidence.exit_codes == (137, 1))
    assert told(seen) == [(0, Outcome.FAILED), (1, None)]
    first = seen.attempts[0]
    assert (first.started, first.running, first.ended) == (START + 1, START + 60, START + 600)
    assert first.nodes == ("gpu-01", "gpu-02")
    assert first.evidence.container_reasons[0] == "OOMKilled"
    assert first.evidence.signals[0] == 9
    assert seen.attempts[1].started is None
    for rank in range(2):
        cluster.server.put(running(pod(f"again-{rank}", job, node=f"gpu-0{rank + 1}", created=700), 760))
    seen = cluster.job(lambda job: job.state is JobState.TRAINING)
    assert (seen.attempts[1].started, seen.attempts[1].running) == (START + 701, START + 760)


def test_fault_after_the_replacement_ran_is_the_next_interruption(cluster: Cluster) -> None:
    job, pods = start(cluster)
    cluster.server.put(failed(pods[1], 1, 600))
    second = running(pod("again", job, created=610), 650)
    cluster.server.put(second)
    cluster.job(lambda job: job.state is JobState.TRAINING)
    cluster.server.put(failed(second, 139, 900))
    seen = cluster.job(lambda job: len(job.attempts) == 3)
    assert told(seen) == [(0, Outcome.FAILED), (1, Outcome.FAILED), (2, None)]
    assert [one.ended for one in seen.attempts] == [START + 600, START + 900, None]
    assert seen.attempts[1].evidence.signals == (11,)


def test_container_that_kubelet_starts_again_is_a_new_attempt_in_the_same_place(cluster: Cluster) -> None:
    _, pods = start(cluster, "PyTorchJob")
    again = copy.deepcopy(pods[0])
    again["status"]["containerStatuses"][0] |= {"restartCount": 1, "lastState": terminated(134, "Error", 60, 500),
                                                "state": {"running": {"startedAt": at(510)}}}  # fmt: skip
    again["status"]["conditions"] = [condition("PodScheduled", 1), condition("Ready", 515)]
    cluster.server.put(again)
    seen = cluster.job(lambda job: len(job.attempts) == 2)
    assert told(seen) == [(0, Outcome.FAILED), (1, None)]
    assert (seen.attempts[1].started, seen.attempts[1].running) == (START + 500, START + 515)
    assert seen.state is JobState.TRAINING
    # The same is told again with every change of the pod.
    again["metadata"]["labels"]["touched"] = "yes"
    cluster.server.put(again)
    cluster.server.put(workload("PyTorchJob", metadata={"labels": {"team": "other"}}))
    assert len(cluster.job(lambda job: job.facts.team == "other").attempts) == 2


def test_crash_loop_counts_every_run_that_is_seen(cluster: Cluster) -> None:
    _, pods = start(cluster, "PyTorchJob")
    for count in (1, 2, 3):
        loop = copy.deepcopy(pods[0])
        loop["status"]["conditions"] = [condition("PodScheduled", 1)]
        loop["status"]["containerStatuses"][0] |= {
            "restartCount": count, "state": {"waiting": {"reason": "CrashLoopBackOff"}},
            "lastState": terminated(1, "Error", count * 100, count * 100 + 5),
        }  # fmt: skip
        cluster.server.put(loop)
        cluster.job(lambda job, count=count: len(job.attempts) == count + 1)
    seen = cluster.job()
    assert told(seen) == [(0, Outcome.FAILED), (1, Outcome.FAILED), (2, Outcome.FAILED), (3, None)]
    assert seen.state is JobState.RECOVERING


def test_restart_of_a_job_set_takes_its_jobs_and_pods_away(cluster: Cluster) -> None:
    server = cluster.server
    jobset = server.put(workload("JobSet"))

    def attempt(number: int, created: float) -> tuple[dict, list[dict]]:
        uid = f"workers-{number}"
        child = workload("Job", metadata={"name": "llama-workers-0", "uid": uid, "ownerReferences": owned_by(jobset)})
        label = {"jobset.sigs.k8s.io/restart-attempt": str(number)}
        pods = [
            pod(f"llama-{number}-{rank}", child, node=f"gpu-0{rank + 1}", created=created, labels=label)
            for rank in range(2)
        ]
        return child, [running(one, created + 60) for one in pods]

    child, pods = attempt(0, 0)
    for obj in (child, *pods):
        server.put(obj)
    cluster.watch()
    cluster.job(lambda job: job.state is JobState.TRAINING)

    server.delete(server.put(failed(pods[0], 1, 600)))
    server.delete(child)
    cluster.see(lambda seen: len(seen.pods) < 2)
    server.delete(pods[1])
    child, pods = attempt(1, 620)
    server.put(workload("JobSet", status={"restarts": 1}))
    for obj in (child, *pods):
        server.put(obj)
    seen = cluster.job(lambda job: job.state is JobState.TRAINING and job.restarts == 1)
    assert told(seen) == [(0, Outcome.FAILED), (1, None)]
    assert seen.attempts[0].evidence.exit_codes == (1,)
    assert seen.attempts[1].started == START + 621


def test_node_that_goes_away_interrupts_the_job(cluster: Cluster) -> None:
    _, pods = start(cluster)
    node = copy.deepcopy(NODE)
    node["metadata"] |= {"name": "gpu-02", "uid": "node-gpu-02"}
    node["status"]["conditions"] = [condition("Ready", 590, "NodeStatusUnknown", status="Unknown")]
    cluster.server.put(node)
    cluster.see(lambda seen: any(one.reason == "NodeStatusUnknown" for one in seen.nodes))
    lost = copy.deepcopy(pods[1])
    lost["metadata"]["deletionTimestamp"] = at(900)
    lost["status"]["conditions"] = [
        condition("PodScheduled", 1), condition("Ready", 595, "NodeNotReady", status="False"),
        condition("DisruptionTarget", 890, "DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint"),
    ]  # fmt: skip
    cluster.server.put(lost)
    seen = cluster.job(lambda job: len(job.attempts) == 2)
    first = seen.attempts[0]
    assert (first.outcome, first.ended) == (Outcome.INTERRUPTED, START + 890)
    assert first.evidence.nodes_lost == ("gpu-02",)
    assert first.evidence.pod_reasons == ("DeletionByTaintManager",)
    assert seen.state is JobState.RECOVERING


def test_node_that_was_deleted_is_lost_too(cluster: Cluster) -> None:
    _, pods = start(cluster)
    node = copy.deepcopy(NODE)
    node["metadata"] |= {"name": "gpu-02", "uid": "node-gpu-02"}
    cluster.server.delete(node)
    cluster.see(lambda seen: len(seen.nodes) == 2)
    cluster.server.delete(pods[1])
    seen = cluster.job(lambda job: len(job.attempts) == 2)
    assert (seen.attempts[0].outcome, seen.attempts[0].evidence.nodes_lost) == (Outcome.INTERRUPTED, ("gpu-02",))


def test_drain_is_maintenance(cluster: Cluster) -> None:
    _, pods = start(cluster)
    node = copy.deepcopy(NODE)
    node["metadata"] |= {"name": "gpu-01", "uid": "node-gpu-01"}
    node["spec"]["unschedulable"] = True
    cluster.server.put(node)
    cluster.see(lambda seen: any(one.reason == "cordoned" for one in seen.nodes))
    evicted = failed(pods[0], 143, 700)
    evicted["status"]["conditions"].append(condition("DisruptionTarget", 670, "EvictionByEvictionAPI"))
    cluster.server.put(evicted)
    first = cluster.job(lambda job: len(job.attempts) == 2).attempts[0]
    assert (first.outcome, first.evidence.maintenance) == (Outcome.INTERRUPTED, True)


def test_preemption_by_the_scheduler_and_by_kueue(cluster: Cluster) -> None:
    server = cluster.server
    job, pods = start(cluster)
    victim = failed(pods[0], 143, 700)
    victim["status"]["conditions"].append(condition("DisruptionTarget", 670, "PreemptionByScheduler"))
    server.put(victim)
    assert told(cluster.job(lambda job: len(job.attempts) == 2))[0] == (0, Outcome.PREEMPTED)

    server.delete(victim)
    server.put(running(pod("again", job, created=800), 860))
    cluster.job(lambda job: job.state is JobState.TRAINING)
    queue = workload("Workload")
    queue["status"]["conditions"] = [condition("Evicted", 1000, "Preempted", "Preempted to accommodate a workload")]
    server.put(queue)
    server.put(workload("Job", spec={"suspend": True}))
    cluster.job(lambda job: job.state is JobState.QUEUED)
    server.delete(pods[1])
    seen = cluster.job(lambda job: len(job.attempts) == 3)
    assert told(seen)[1] == (1, Outcome.PREEMPTED)
    assert seen.attempts[1].evidence.state == "Preempted"
    assert seen.state is JobState.QUEUED


def test_pod_evicted_by_kubelet(cluster: Cluster) -> None:
    _, pods = start(cluster)
    evicted = failed(pods[0], 137, 700)
    evicted["status"] |= {"reason": "Evicted", "message": "The node was low on resource: ephemeral-storage."}
    cluster.server.put(evicted)
    first = cluster.job(lambda job: len(job.attempts) == 2).attempts[0]
    assert (first.outcome, first.evidence.pod_reasons) == (Outcome.INTERRUPTED, ("Evicted",))
    assert first.evidence.reason.startswith("The node was low")


def test_pod_that_an_elastic_job_gives_back_is_no_interruption(cluster: Cluster) -> None:
    _, pods = start(cluster, "RayCluster", ranks=3)
    smaller = workload("RayCluster")
    smaller["spec"]["workerGroupSpecs"][0]["replicas"] = 1
    cluster.server.put(smaller)
    cluster.job(lambda job: job.facts.gpus == 8)
    cluster.server.delete(pods[2])
    cluster.see(lambda seen: len(seen.pods) == 2)
    seen = cluster.job()
    assert (told(seen), seen.state) == ([(0, None)], JobState.TRAINING)


def test_pod_deleted_for_no_known_reason_ends_the_attempt_unknown(cluster: Cluster) -> None:
    _, pods = start(cluster)
    cluster.server.delete(pods[0])
    assert told(cluster.job(lambda job: len(job.attempts) == 2)) == [(0, Outcome.UNKNOWN), (1, None)]


def test_last_failure_and_the_end_of_the_job_are_one(cluster: Cluster) -> None:
    _, pods = start(cluster)
    cluster.server.put(failed(pods[0], 1, 600))
    end = condition("Failed", 603, "BackoffLimitExceeded", "Job has reached the specified backoff limit")
    cluster.server.put(workload("Job", status={"conditions": [end]}))
    seen = cluster.job(lambda job: job.outcome and job.attempts[-1].evidence.exit_codes)
    assert told(seen) == [(0, Outcome.FAILED)]
    assert seen.attempts[0].evidence.state == "BackoffLimitExceeded"
    # Cleaning up after it is no failure.
    cluster.server.delete(pods[1])
    cluster.see(lambda seen: len(seen.pods) == 1)
    assert told(cluster.job()) == [(0, Outcome.FAILED)]


def test_end_is_told_when_the_pods_had_time_to_say_why(cluster: Cluster) -> None:
    job = cluster.server.put(workload("Job"))
    pods = [cluster.server.put(running(pod(f"llama-{rank}", job), 60)) for rank in range(2)]
    cluster.watch(settle_s=5)
    cluster.job(lambda job: job.state is JobState.TRAINING, second=600)
    end = {"conditions": [condition("Failed", 601, "BackoffLimitExceeded")]}
    cluster.server.put(workload("Job", status=end, metadata={"labels": {"team": "other"}}))
    cluster.server.put(failed(pods[0], 1, 600))
    held = cluster.job(lambda job: job.state is JobState.RECOVERING and job.facts.team == "other", second=602)
    assert (held.outcome, told(held)) == (None, [(0, None)])
    cluster.see(lambda _: True, second=604)
    ended = cluster.job(lambda job: job.outcome, second=608)
    assert (ended.ended, told(ended)) == (START + 601, [(0, Outcome.FAILED)])
    assert ended.attempts[0].evidence.exit_codes == (1,)


def test_numbers_go_on_after_the_collector_restarted(cluster: Cluster) -> None:
    job, pods = start(cluster, "PyTorchJob")
    cluster.server.put(failed(pods[0], 1, 600))
    cluster.server.delete(pods[0])
    cluster.server.put(running(pod("again", job, created=610), 650))
    before = cluster.job(lambda job: len(job.attempts) == 2 and job.state is JobState.TRAINING)
    cluster.source.stop()

    asked = []
    cluster.watch(known=lambda key: asked.append(key) or KnownAttempts(1, over=False, seen_at=START + 700))
    after = cluster.job(lambda job: job.state is JobState.TRAINING)
    assert told(after) == [(1, None)]
    assert after.attempts[0].started == before.attempts[1].started
    assert set(asked) == {before.key}
    cluster.source.stop()

    # What happened while nobody looked is the next number.
    cluster.server.put(failed(running(pod("again", job, created=610), 650), 1, 900))
    cluster.watch(known=lambda _: KnownAttempts(1, over=False, seen_at=START + 700))
    seen = cluster.job(lambda job: len(job.attempts) == 2)
    assert told(seen) == [(1, Outcome.FAILED), (2, None)]
    cluster.source.stop()
    cluster.watch(known=lambda _: KnownAttempts(1, over=True))
    assert told(cluster.job(lambda job: len(job.attempts) == 2)) == [(1, Outcome.FAILED), (2, None)]


def test_retry_inside_an_attempt_of_a_job_set_is_told_by_what_ran_in_between(cluster: Cluster) -> None:
    server = cluster.server
    jobset = server.put(workload("JobSet"))
    child = server.put(workload("Job", metadata={"uid": "workers-0", "ownerReferences": owned_by(jobset)}))
    label = {"jobset.sigs.k8s.io/restart-attempt": "0"}
    pods = [
        server.put(running(pod(f"llama-{rank}", child, node=f"gpu-0{rank + 1}", labels=label), 60)) for rank in range(2)
    ]
    cluster.watch()
    cluster.job(lambda job: job.state is JobState.TRAINING)
    server.put(failed(pods[0], 1, 600))
    again = server.put(running(pod("again", child, created=610, labels=label), 650))
    cluster.job(lambda job: job.state is JobState.TRAINING)
    server.put(failed(again, 1, 900))
    seen = cluster.job(lambda job: len(job.attempts) == 3)
    assert [one.ended for one in seen.attempts] == [START + 600, START + 900, None]


def test_failure_in_the_clean_up_after_the_end_is_no_interruption(cluster: Cluster) -> None:
    _, pods = start(cluster)
    done = workload("Job", status={"succeeded": 2, "conditions": [condition("Complete", 600, "CompletionsReached")]})
    cluster.server.put(done)
    cluster.job(lambda job: job.outcome)
    cluster.server.put(failed(pods[0], 143, 640))
    cluster.server.delete(pods[1])
    cluster.see(lambda seen: len(seen.pods) == 1)
    cluster.see(lambda seen: seen.nodes[0].gpus_allocated == 0)
    assert told(cluster.job()) == [(0, Outcome.SUCCEEDED)]


def test_collector_that_starts_late_finds_the_attempts_that_pods_still_tell(cluster: Cluster) -> None:
    server = cluster.server
    job = server.put(workload("Job"))
    for number, end in enumerate((300, 600)):
        server.put(failed(running(pod(f"old-{number}", job, created=end - 200), end - 100), 1, end))
    for rank in range(2):
        server.put(running(pod(f"now-{rank}", job, created=700), 760))
    cluster.watch()
    seen = cluster.job(lambda job: job.state is JobState.TRAINING)
    assert told(seen) == [(0, Outcome.FAILED), (1, Outcome.FAILED), (2, None)]
    assert [one.started for one in seen.attempts] == [START + 101, START + 401, START + 701]

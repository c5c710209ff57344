import logging

import pytest
from tests.exporter.workloads.kubernetes.api_server import ApiServer
from tests.exporter.workloads.kubernetes.conftest import (
    FAST,
    START,
    Cluster,
    condition,
    failed,
    pod,
    running,
    succeeded,
    workload,
)

from gpuscope.errors import ConfigError
from gpuscope.workloads.kubernetes import FactLabels, Pace, Session
from gpuscope.workloads.observation import JobState, Observation, Outcome


def names(seen: Observation) -> set[str]:
    return {job.facts.name for job in seen.jobs}


def trained(cluster: Cluster, count: int = 2) -> list[dict]:
    """A job whose ranks all run."""
    job = cluster.server.put(workload("Job"))
    return [cluster.server.put(running(pod(f"llama-{rank}", job), 60)) for rank in range(count)]


def test_nothing_is_told_of_jobs_before_their_pods_were_listed(cluster: Cluster) -> None:
    cluster.server.put(workload("Job"))
    cluster.server.failing["pods"] = 503
    cluster.watch()
    seen = cluster.see(lambda _: cluster.problems.get("server_error:pods", 0) > 2)
    assert (seen.jobs, seen.nodes, seen.complete) == ((), (), False)
    cluster.server.failing.clear()
    assert cluster.see(lambda seen: seen.complete).jobs[0].state is JobState.SCHEDULING


def test_kind_that_cannot_be_listed_holds_up_no_other(cluster: Cluster) -> None:
    cluster.server.put(workload("Job"))
    cluster.server.failing["jobsets"] = 503
    cluster.watch()
    assert not cluster.see(lambda seen: seen.jobs).complete


def test_lists_come_in_parts(cluster: Cluster) -> None:
    for index in range(10):
        cluster.server.put(workload("Job", metadata={"name": f"job-{index}", "uid": f"job-{index}"}))
    cluster.watch()
    seen = cluster.see(lambda seen: seen.complete)
    assert names(seen) == {f"job-{index}" for index in range(10)}
    assert [query.get("continue") for query in cluster.server.asked("jobs", watch=False)] == [None, "3", "6", "9"]


def test_job_that_its_ttl_deletes_is_told_once_more_as_it_ended(cluster: Cluster) -> None:
    job = cluster.server.put(workload("Job"))
    pods = [cluster.server.put(running(pod(f"llama-{rank}", job), 60)) for rank in range(2)]
    cluster.watch()
    cluster.job(lambda job: job.attempts[0].started)
    for one in pods:
        cluster.server.put(succeeded(one, 600))
    done = workload("Job", status={"succeeded": 2, "completionTime": "2026-11-30T08:10:02Z"})
    done["status"]["conditions"] = [condition("Complete", 602, "CompletionsReached")]
    cluster.server.delete(cluster.server.put(done))
    for one in pods:
        cluster.server.delete(one)

    seen = cluster.job(lambda job: job.outcome)
    assert (seen.outcome, seen.ended) == (Outcome.SUCCEEDED, START + 602)
    assert [attempt.outcome for attempt in seen.attempts] == [Outcome.SUCCEEDED]
    cluster.see(lambda seen: seen.complete and not seen.jobs)


def test_job_deleted_alive_was_cancelled_by_somebody(cluster: Cluster) -> None:
    trained(cluster)
    cluster.watch()
    cluster.job(lambda job: job.state is JobState.TRAINING)
    cluster.server.delete(workload("Job"))
    seen = cluster.job(lambda job: job.outcome)
    assert (seen.outcome, seen.ended) == (Outcome.CANCELLED, START + 3600)
    (attempt,) = seen.attempts
    assert (attempt.outcome, attempt.evidence.state) == (Outcome.CANCELLED, "Deleted")
    assert attempt.evidence.requested_by_user is None


def test_job_whose_end_nobody_saw_ended_unknown(cluster: Cluster) -> None:
    trained(cluster)
    cluster.watch()
    cluster.job(lambda job: job.state is JobState.TRAINING)
    cluster.server.forbidden.add("jobs")
    cluster.server.cut()
    cluster.see(lambda _: cluster.problems.get("forbidden:jobs"))
    cluster.server.delete(workload("Job"))
    cluster.server.compact()
    cluster.server.forbidden.clear()
    assert cluster.job(lambda job: job.outcome).outcome is Outcome.UNKNOWN


def test_name_that_is_used_again_is_another_job(cluster: Cluster) -> None:
    cluster.server.put(workload("Job"))
    cluster.watch()
    cluster.job()
    cluster.server.delete(workload("Job"))
    cluster.server.put(workload("Job", metadata={"uid": "second"}))
    ended = cluster.see(lambda seen: any(job.outcome for job in seen.jobs))
    assert {job.key.uid for job in ended.jobs if job.outcome} == {"job"}
    assert cluster.job().key.uid == "second"


def test_watch_goes_on_from_the_last_bookmark_without_a_new_list(cluster: Cluster) -> None:
    cluster.watch()
    cluster.see(lambda seen: seen.complete)
    cluster.see(lambda _: cluster.server.asked("jobs", watch=True))
    listed = int(cluster.server.asked("jobs", watch=True)[0]["resourceVersion"])

    def goes_on(_: Observation) -> bool:
        cluster.server.bookmark()
        cluster.server.cut()
        return int(cluster.server.asked("jobs", watch=True)[-1]["resourceVersion"]) > listed

    cluster.see(goes_on)
    assert len(cluster.server.asked("jobs", watch=False)) == 1
    cluster.server.put(workload("Job"))
    cluster.job()


@pytest.mark.parametrize("how", ["refused", "in the stream"])
def test_expired_watch_lists_again_and_loses_nothing(cluster: Cluster, how: str) -> None:
    trained(cluster)
    cluster.watch()
    cluster.job(lambda job: job.state is JobState.TRAINING)
    with cluster.server.changed:
        cluster.server.put(workload("Job", metadata={"name": "new", "uid": "new"}))
        cluster.server.compact()
        if how == "refused":
            cluster.server.cut()
        else:
            cluster.server.expire()
    seen = cluster.see(lambda seen: len(seen.jobs) == 2 and cluster.problems.get("expired:jobs"))
    assert not any(job.outcome for job in seen.jobs)
    cluster.see(lambda _: len(cluster.server.asked("jobs", watch=False)) == 2)


def test_server_that_is_away_leaves_the_picture_incomplete_and_not_empty(cluster: Cluster, caplog) -> None:
    pods = trained(cluster)
    cluster.watch()
    cluster.job(lambda job: job.state is JobState.TRAINING)
    cluster.server.away()
    short = cluster.see(lambda _: {"unreachable:pods", "unreachable:jobs"} <= cluster.problems.keys())
    assert not short.complete
    assert [job.state for job in short.jobs] == [JobState.TRAINING]
    assert len(short.nodes) == 3
    long = cluster.see(lambda seen: seen.jobs[0].state is not JobState.TRAINING, second=3600 + 300)
    assert ([job.state for job in long.jobs], long.complete) == ([JobState.UNKNOWN], False)
    assert long.jobs[0].outcome is None
    cluster.see(lambda _: cluster.problems.get("unreachable:pods", 0) > 5, second=3600 + 300)
    assert "unreachable: " in long.reason
    assert not [one for one in caplog.records if one.levelno >= logging.WARNING], "whoever follows it says so"

    # While it was away, for us: one pod failed, and the job gave up.
    server = cluster.server
    server.put(failed(pods[1], 1, 3700))
    server.put(workload("Job", status={"conditions": [condition("Failed", 3701, "BackoffLimitExceeded")]}))
    server.back()
    back = cluster.job(lambda job: job.outcome and job.attempts[-1].evidence.exit_codes, second=3600 + 310)
    assert (back.outcome, back.ended) == (Outcome.FAILED, START + 3701)
    assert back.attempts[-1].evidence.exit_codes == (1,)
    cluster.see(lambda seen: seen.complete, second=3600 + 310)


def test_kind_that_may_not_be_read_is_counted_and_said_once(cluster: Cluster, caplog) -> None:
    cluster.server.forbidden.add("jobsets")
    cluster.server.put(workload("JobSet"))
    cluster.server.put(workload("Job"))
    cluster.watch()
    seen = cluster.see(lambda seen: seen.complete and cluster.problems.get("forbidden:jobsets", 0) >= 2)
    assert [job.facts.kind for job in seen.jobs] == ["Job"]
    assert len([one for one in caplog.records if "jobsets: 403" in one.getMessage()]) == 1

    cluster.server.forbidden.clear()
    cluster.see(lambda seen: len(seen.jobs) == 2)


def test_token_that_is_not_valid_any_more_makes_nothing_complete(cluster: Cluster) -> None:
    trained(cluster)
    cluster.watch()
    cluster.job(lambda job: job.state is JobState.TRAINING)
    for plural in ("jobs", "pods"):
        cluster.server.failing[plural] = 401
    cluster.server.cut()
    seen = cluster.see(lambda _: {"unauthorized:jobs", "unauthorized:pods"} <= cluster.problems.keys())
    assert (len(seen.jobs), seen.complete) == (1, False)


def test_part_of_a_job_that_may_not_be_read_is_no_job(cluster: Cluster) -> None:
    cluster.server.forbidden.add("jobsets")
    owner = [{"kind": "JobSet", "name": "llama", "uid": "jobset", "controller": True}]
    cluster.server.put(workload("Job", metadata={"ownerReferences": owner}))
    cluster.watch()
    assert cluster.see(lambda seen: seen.complete).jobs == ()


def test_without_pods_nobody_knows_what_a_job_does(cluster: Cluster) -> None:
    cluster.server.forbidden.add("pods")
    cluster.server.put(workload("Job"))
    cluster.watch()
    cluster.see(lambda seen: seen.complete)
    assert cluster.job().state is JobState.UNKNOWN


def test_kind_is_noticed_when_it_is_installed_and_when_it_is_removed(server: ApiServer, cluster: Cluster) -> None:
    for kind in ("Job", "JobSet", "Workload"):
        server.uninstall(kind)
    server.install("Job", "batch/v1", "jobs")
    server.put(workload("Job"))
    cluster.watch()
    assert cluster.see(lambda seen: seen.complete).problems == {}
    assert server.asked("trainjobs", watch=False) == []

    server.install("TrainJob", "trainer.kubeflow.org/v1alpha1", "trainjobs")
    server.put(workload("TrainJob"))
    cluster.see(lambda seen: {job.facts.kind for job in seen.jobs} == {"Job", "TrainJob"})
    server.uninstall("TrainJob")
    gone = cluster.see(lambda seen: any(job.outcome for job in seen.jobs))
    assert {job.facts.kind: job.outcome for job in gone.jobs} == {"Job": None, "TrainJob": Outcome.UNKNOWN}
    cluster.see(lambda seen: seen.complete and len(seen.jobs) == 1)


def test_version_that_the_cluster_serves_is_taken(server: ApiServer, cluster: Cluster) -> None:
    server.install("MPIJob", "kubeflow.org/v1", "mpijobs")
    server.put(workload("MPIJob") | {"apiVersion": "kubeflow.org/v1"})
    cluster.watch()
    assert cluster.job().facts.kind == "MPIJob"


def test_group_that_does_not_answer_keeps_its_kinds(server: ApiServer, cluster: Cluster) -> None:
    server.put(workload("TrainJob"))
    cluster.watch()
    cluster.job()
    server.failing["v1alpha1"] = 503
    before = len([path for path, _ in server.requests if path.endswith("/trainer.kubeflow.org/v1alpha1")])
    cluster.see(
        lambda _: len([p for p, _ in server.requests if p.endswith("/trainer.kubeflow.org/v1alpha1")]) > before + 1
    )
    cluster.job(lambda job: job.outcome is None)


def test_discovery_that_fails_is_tried_again(server: ApiServer, cluster: Cluster) -> None:
    server.put(workload("Job"))
    server.failing["apis"] = 500
    cluster.watch()
    seen = cluster.see(lambda _: cluster.problems.get("server_error:discovery", 0) >= 2)
    assert (seen.jobs, seen.complete) == ((), False)
    server.failing.clear()
    assert cluster.see(lambda seen: seen.complete).jobs


def test_malformed_object_costs_itself_and_nothing_else(server: ApiServer, cluster: Cluster) -> None:
    bad = workload("Job", metadata={"name": "bad", "uid": "bad"}, spec={"parallelism": "two"})
    server.put(bad)
    server.put(workload("Job"))
    cluster.watch()
    seen = cluster.see(lambda seen: seen.complete)
    assert names(seen) == {"llama"}
    assert cluster.problems["malformed_object"] == 1
    server.put(workload("Job", metadata={"name": "late", "uid": "late", "creationTimestamp": "yesterday"}))
    server.put(workload("Job", metadata={"name": "good", "uid": "good"}))
    assert names(cluster.see(lambda seen: len(seen.jobs) == 2)) == {"llama", "good"}


def test_same_name_in_two_namespaces_is_two_jobs(server: ApiServer, cluster: Cluster) -> None:
    for namespace in ("research", "vision"):
        job = server.put(workload("Job", metadata={"namespace": namespace, "uid": namespace, "labels": {}}))
        one = pod("llama-0", job)
        one["metadata"] |= {"namespace": namespace, "uid": f"pod-{namespace}"}
        server.put(one)
    cluster.watch(labels=FactLabels(team_from_namespace=True))
    seen = cluster.see(lambda seen: len(seen.pods) == 2 and len(seen.jobs) == 2)
    assert {job.key.uid: job.facts.team for job in seen.jobs} == {"research": "research", "vision": "vision"}
    assert seen.pods["vision", "llama-0"].uid == "vision"


def test_watch_that_is_ended_at_once_is_not_asked_for_without_a_pause(server: ApiServer, cluster: Cluster) -> None:
    cluster.watch(pace=Pace(retry_s=0.02, retry_limit_s=0.1, discovery_s=60))
    cluster.see(lambda seen: seen.complete)

    def ended(_: object) -> object:
        server.cut()  # at each look: a watch may begin just behind a cut, and then stay
        return cluster.problems.get("short_watch:jobs")

    cluster.see(ended)
    cluster.see(lambda seen: seen.complete)


def test_stopped_source_leaves_no_thread_that_asks(server: ApiServer, cluster: Cluster) -> None:
    source = cluster.watch(pace=FAST)
    cluster.see(lambda seen: seen.complete)
    source.stop()
    asked = len(server.requests)
    server.cut()
    assert len(server.requests) == asked


def test_missing_or_broken_kubeconfig_is_a_mistake_of_the_configuration(tmp_path) -> None:
    broken = tmp_path / "kubeconfig"
    with pytest.raises(ConfigError, match="kubeconfig"):
        Session(str(broken))
    broken.write_text("clusters: 3")
    with pytest.raises(ConfigError, match="kubeconfig"):
        Session(str(broken))
    broken.write_text("current-context: a\nclusters: []\nusers: []\ncontexts: []\n")
    with pytest.raises(ConfigError, match="'a' not found"):
        Session(str(broken))

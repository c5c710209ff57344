"""The collector beside a Kubernetes API server."""

from collections.abc import Callable

from tests.exporter.collector.conftest import Running
from tests.exporter.workloads.kubernetes.api_server import ApiServer
from tests.exporter.workloads.kubernetes.conftest import pod, running, workload

Start = Callable[..., Running]
ENDED = "gpuscope_training_jobs_ended_total"


def trained(server: ApiServer, namespace: str) -> dict:
    """A job called like all others, with its pod."""
    meta = {"namespace": namespace, "uid": f"uid-{namespace}"}
    job = server.put(workload("Job", metadata=meta))
    one = running(pod("llama-0", job), 60)
    one["metadata"] |= {"namespace": namespace, "uid": f"uid-pod-{namespace}"}
    server.put(one)
    return job


def test_jobs_of_one_name_in_two_namespaces_are_two(
    collector: Start, server: ApiServer, kubeconfig: str, promtool: Callable[[str], str]
) -> None:
    jobs = [trained(server, namespace) for namespace in ("red", "blue")]
    one = collector("--kubernetes", "--kubernetes.config", kubeconfig)
    one.wait(lambda one: one.ready() and len(one.jobs()) == 2, "two jobs")
    assert promtool(one.get("/metrics").text) == ""
    assert one.total("gpuscope_training_job_info") == 2
    owners = [text for text in one.metrics() if text.startswith("gpuscope_pod_workload_info")]
    assert {'job_id="uid-red"' in text for text in owners if 'namespace="red"' in text} == {True}
    assert len(owners) == 2
    server.delete(jobs[0])
    one.wait(lambda one: one.total(ENDED, 'namespace="red"') == 1, "the end of one of them")
    assert one.total(ENDED, 'namespace="blue"') == 0
    assert [job["namespace"] for job in one.jobs("?outcome=cancelled")] == ["red"]


def test_job_that_appears_is_created_and_counted_once(
    collector: Start, server: ApiServer, kubeconfig: str, tmp_path
) -> None:
    flags = ("--kubernetes", "--kubernetes.config", kubeconfig, "--state-file", str(tmp_path / "state"))
    one = collector(*flags)
    one.wait(Running.ready, "an answer")
    job = trained(server, "red")
    one.wait(lambda one: len(one.jobs()) == 1, "the job")
    server.delete(job)
    one.wait(lambda one: one.total(ENDED) == 1, "its end")
    one.end()
    two = collector(*flags)
    two.wait(Running.ready, "an answer")
    assert two.total(ENDED) == 1


def test_api_that_is_away_takes_no_job_with_it(collector: Start, server: ApiServer, kubeconfig: str) -> None:
    trained(server, "red")
    one = collector("--kubernetes", "--kubernetes.config", kubeconfig)
    one.wait(lambda one: one.ready() and one.jobs(), "the job")
    server.away()
    up = 'gpuscope_collector_source_up{scheduler="kubernetes"}'
    one.wait(lambda one: one.value(up) == 0, "the failure")
    failure = [text for text in one.metrics() if text.startswith("gpuscope_collector_source_failure_info")]
    assert len(failure) == 1
    assert "unreachable" in failure[0]
    assert len(one.jobs()) == 1
    server.back()
    one.wait(lambda one: one.value(up) == 1, "the recovery")
    assert one.total("gpuscope_training_jobs_forgotten_total") == 0


def test_kind_that_may_not_be_read_costs_no_other(collector: Start, server: ApiServer, kubeconfig: str) -> None:
    server.forbidden.add("jobsets")
    trained(server, "red")
    one = collector("--kubernetes", "--kubernetes.config", kubeconfig)
    one.wait(lambda one: one.ready() and one.jobs(), "the job")
    assert one.total("gpuscope_collector_problems_total", 'reason="forbidden:jobsets"') >= 1
    assert one.log.count("jobsets: 403") == 1, one.log
    assert "HTTP Request" not in one.log


def test_object_that_is_malformed_costs_no_other(collector: Start, server: ApiServer, kubeconfig: str) -> None:
    bad = workload("Job", metadata={"namespace": "red", "name": "bad", "uid": "uid-bad"})
    bad["metadata"]["creationTimestamp"] = "yesterday"
    server.put(bad)
    trained(server, "red")
    one = collector("--kubernetes", "--kubernetes.config", kubeconfig)
    one.wait(lambda one: one.ready() and one.jobs(), "the job")
    assert [job["job_id"] for job in one.jobs()] == ["uid-red"]
    assert one.total("gpuscope_collector_problems_total", 'reason="malformed_object"') == 1


def test_only_a_namespace_that_is_named_is_followed(collector: Start, server: ApiServer, kubeconfig: str) -> None:
    for namespace in ("red", "blue"):
        trained(server, namespace)
    server.install("ResourceClaim", "resource.k8s.io/v1", "resourceclaims")
    flags = ("--kubernetes", "--kubernetes.config", kubeconfig, "--kubernetes.namespace", "red")
    one = collector(*flags)
    one.wait(lambda one: one.ready() and one.jobs(), "the job")
    assert [job["namespace"] for job in one.jobs()] == ["red"]
    asked = {path for path, _ in server.requests}
    assert "/apis/resource.k8s.io/v1/namespaces/red/resourceclaims" in asked
    assert "/api/v1/nodes" in asked
    assert not [path for path in asked if "blue" in path]
    one.end()
    server.requests.clear()
    two = collector(*flags, "--no-kubernetes.resource-claims")
    two.wait(Running.ready, "an answer")
    assert not [path for path, _ in server.requests if path.endswith("resourceclaims")]

"""Some namespaces alone, with no more than Roles in them."""

from tests.exporter.workloads.kubernetes.api_server import ApiServer
from tests.exporter.workloads.kubernetes.conftest import Cluster, pod, running, workload

from gpuscope.workloads.observation import JobState, Observation


def trained(server: ApiServer, namespace: str) -> dict:
    """A job in a namespace, all of whose pods run."""
    job = server.put(workload("Job", metadata={"namespace": namespace, "uid": namespace}))
    for rank in range(2):
        one = running(pod(f"llama-{rank}", job), 60)
        one["metadata"] |= {"namespace": namespace, "uid": f"{namespace}-{rank}"}
        server.put(one)
    return job


def states(seen: Observation) -> dict[str, JobState]:
    return {job.key.namespace: job.state for job in seen.jobs}


def test_only_the_namespaces_that_are_named_are_asked_for(server: ApiServer, cluster: Cluster) -> None:
    server.forbidden.add("*")  # as without a ClusterRole: neither nodes nor all namespaces
    for namespace in ("red", "blue", "green"):
        trained(server, namespace)
    cluster.watch(namespaces=("red", "blue", "red"))
    seen = cluster.see(lambda seen: len(seen.jobs) == 2 and seen.complete)
    assert states(seen) == {"red": JobState.TRAINING, "blue": JobState.TRAINING}
    assert seen.nodes == ()
    assert set(cluster.problems) == {"forbidden:nodes"}
    assert not [path for path, _ in server.requests if "/green/" in path or path == "/api/v1/pods"]


def test_jobs_that_come_and_go_are_told_of_each_namespace(server: ApiServer, cluster: Cluster) -> None:
    cluster.watch(namespaces=("red", "blue"))
    cluster.see(lambda seen: seen.complete)
    red = trained(server, "red")
    trained(server, "blue")
    trained(server, "green")
    cluster.see(lambda seen: states(seen) == {"red": JobState.TRAINING, "blue": JobState.TRAINING})
    server.delete(red)
    gone = cluster.see(lambda seen: any(job.outcome for job in seen.jobs))
    assert {job.key.namespace for job in gone.jobs if job.outcome} == {"red"}
    server.compact()
    server.cut()
    seen = cluster.see(lambda _: cluster.problems.get("expired:blue/pods") and cluster.problems.get("expired:red/jobs"))
    cluster.see(lambda seen: seen.complete and set(states(seen)) == {"blue"})
    assert not any(job.outcome for job in seen.jobs)


def test_namespace_that_may_not_be_read_costs_no_other(server: ApiServer, cluster: Cluster) -> None:
    server.forbidden.add("blue/pods")
    for namespace in ("red", "blue"):
        trained(server, namespace)
    cluster.watch(namespaces=("red", "blue"))
    seen = cluster.see(lambda seen: len(seen.jobs) == 2 and seen.complete)
    assert states(seen) == {"red": JobState.TRAINING, "blue": JobState.UNKNOWN}

"""Two collectors of one cluster: one counts, the other waits and takes over."""

import signal
from collections.abc import Callable
from pathlib import Path

from tests.exporter.collector.conftest import RecordedSlurm, Running
from tests.exporter.collector.test_kubernetes import ENDED, trained
from tests.exporter.collector.test_slurm import counters
from tests.exporter.workloads.kubernetes.api_server import ApiServer

Start = Callable[..., Running]
LEADER = "gpuscope_collector_leader"
LEASE = ("--kubernetes.lease", "monitoring/gpuscope")


def assert_waits(one: Running, reason: str) -> None:
    """It says why, and publishes nothing that a sum would count twice."""
    one.wait(lambda one: reason in one.get("/-/ready").text, "the reason")
    assert one.get("/-/ready").status_code == 503
    assert one.get("/-/healthy").status_code == 200
    assert one.value(LEADER) == 0
    assert not [text for text in one.metrics() if text.startswith(("gpuscope_training", "gpuscope_scheduler"))]
    answer = one.get("/api/v1/jobs")
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "not_leader")


def test_shared_state_file_has_one_leader_and_loses_nothing(
    collector: Start, recorded: RecordedSlurm, tmp_path: Path
) -> None:
    flags = ("--slurm", "--slurm.commands", str(recorded.commands), "--state-file", str(tmp_path / "state"))
    one = collector(*flags)
    one.wait(Running.ready, "an answer of Slurm")
    two = collector(*flags)
    assert_waits(two, f"process {one.process.pid}")
    recorded.go_on()
    one.wait(
        lambda one: one.total("gpuscope_training_jobs_ended_total", 'outcome="timed_out"') == 1, "the end of a job"
    )
    told = counters(one)
    one.end(signal.SIGKILL)
    two.wait(Running.ready, "the new leader")
    assert two.value(LEADER) == 1
    ends = {text: value for text, value in told.items() if "jobs_ended" in text}
    assert {text: value for text, value in counters(two).items() if "jobs_ended" in text} == ends
    three = collector(*flags)
    assert_waits(three, f"process {two.process.pid}")


def test_lease_has_one_leader_who_gives_it_away(collector: Start, server: ApiServer, kubeconfig: str) -> None:
    trained(server, "red")
    flags = ("--kubernetes", "--kubernetes.config", kubeconfig, *LEASE)
    one = collector(*flags)
    one.wait(lambda one: one.ready() and one.jobs(), "the job")
    two = collector(*flags)
    assert_waits(two, "leads, by lease monitoring/gpuscope")
    assert one.end() == 0
    two.wait(lambda two: two.ready() and two.jobs(), "the new leader")
    assert [lease["spec"]["leaseTransitions"] for lease in server.leases.values()] == [1]


def test_leader_that_may_not_renew_any_more_steps_down(collector: Start, server: ApiServer, kubeconfig: str) -> None:
    trained(server, "red")
    one = collector("--kubernetes", "--kubernetes.config", kubeconfig, *LEASE)
    one.wait(lambda one: one.ready() and one.jobs(), "the job")
    server.forbidden.add("leases")
    assert_waits(one, "403")
    server.forbidden.clear()
    one.wait(lambda one: one.ready() and one.jobs(), "the lead")


def test_collector_that_may_not_have_a_lease_says_so(collector: Start, server: ApiServer, kubeconfig: str) -> None:
    server.forbidden.add("leases")
    one = collector("--kubernetes", "--kubernetes.config", kubeconfig, *LEASE)
    assert_waits(one, "403")


def test_leader_whose_memory_was_overtaken_counts_nothing_twice(
    collector: Start, server: ApiServer, kubeconfig: str, tmp_path: Path
) -> None:
    def candidate(name: str) -> Running:
        return collector(
            "--kubernetes", "--kubernetes.config", kubeconfig, *LEASE, "--state-file", str(tmp_path / name)
        )

    def counts(one: Running, namespace: str) -> None:
        """A job that begins and ends under this leader."""
        job = trained(server, namespace)
        one.wait(lambda one: one.ready() and one.jobs("?state=training") + one.jobs("?state=scheduling"), "the job")
        server.delete(job)
        one.wait(lambda one: one.total(ENDED, f'namespace="{namespace}"') == 1, "its end")

    one = candidate("one")
    counts(one, "red")
    one.end()
    one = candidate("one")
    one.wait(lambda one: one.ready(), "the lead again")
    assert one.total(ENDED) == 1
    two = candidate("two")
    one.end()
    counts(two, "blue")
    assert two.total(ENDED) == 1
    two.end(signal.SIGKILL)
    last = next(iter(server.leases.values()))
    last["spec"]["holderIdentity"] = ""  # as if its time had run out
    one = candidate("one")
    one.wait(lambda one: one.ready(), "the lead once more")
    assert one.total(ENDED) == 0
    assert "begin anew" in one.log
    counts(one, "green")
    assert one.total(ENDED) == 1

"""Clocks of schedulers that are off, and a clock of the collector that was."""

import time
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from tests.exporter.collector.conftest import Running
from tests.exporter.workloads.kubernetes.api_server import ApiServer
from tests.exporter.workloads.kubernetes.conftest import START, condition, failed, pod, running, workload

Start = Callable[..., Running]
KUBERNETES = '{scheduler="kubernetes"}'


class _Cluster:
    """A cluster whose clock is ahead or behind."""

    def __init__(self, server: ApiServer, ahead_s: float) -> None:
        server.ahead_s = ahead_s
        self._server = server

    @property
    def second(self) -> float:
        return time.time() + self._server.ahead_s - START

    def job(self, name: str) -> tuple[dict, dict]:
        created = datetime.fromtimestamp(START + self.second, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        meta = {"name": name, "uid": f"uid-{name}", "creationTimestamp": created}
        made = self._server.put(workload("Job", metadata=meta, spec={"parallelism": 1, "completions": 1}))
        return made, self._server.put(running(pod(f"{name}-0", made, created=self.second - 1), self.second))

    def fail(self, made: dict, one: dict) -> None:
        self._server.put(failed(one, 1, self.second))
        end = condition("Failed", self.second, "BackoffLimitExceeded")
        self._server.put(made | {"status": {"conditions": [end]}})


@pytest.mark.parametrize("ahead", [-7200.0, 7200.0])
def test_clock_of_a_cluster_that_is_off_loses_nothing(
    collector: Start, server: ApiServer, kubeconfig: str, ahead: float
) -> None:
    cluster = _Cluster(server, ahead)
    one = collector("--kubernetes", "--kubernetes.config", kubeconfig)
    one.wait(Running.ready, "an answer")
    job = cluster.job("llama")
    one.wait(lambda one: [job["state"] for job in one.jobs()] == ["training"], "the job")
    (told,) = one.jobs()
    began = datetime.fromisoformat(told["state_since"]).timestamp()
    assert abs(began - time.time()) < 60
    cluster.fail(*job)
    one.wait(lambda one: one.total("gpuscope_training_jobs_ended_total", 'outcome="failed"') == 1, "its end")
    assert one.total("gpuscope_training_jobs_created_total") == 1
    assert one.total("gpuscope_training_attempts_ended_total", 'outcome="failed"') == 1
    (told,) = one.jobs()
    assert abs(datetime.fromisoformat(told["ended"]).timestamp() - time.time()) < 60

    known = one.value("gpuscope_collector_clock_offset_seconds" + KUBERNETES)
    assert known == pytest.approx(ahead, abs=2)
    assert one.total("gpuscope_collector_problems_total", 'reason="clock_skew"') == 1
    side = "ahead of" if ahead > 0 else "behind"
    assert one.log.count("its clock is") == 1
    assert f"s {side} the collector's" in one.log
    server.ahead_s = 0.0
    server.cut()
    one.wait(lambda one: one.value("gpuscope_collector_clock_offset_seconds" + KUBERNETES) == 0, "the right clock")
    assert "agree again" in one.log
    assert one.total("gpuscope_collector_problems_total", 'reason="clock_skew"') == 1

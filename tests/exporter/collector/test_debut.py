"""Counters are read at the value before their first event, so that ``increase()`` sees it."""

import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.exporter.collector.conftest import Running, wait_for
from tests.exporter.collector.test_kubernetes import ENDED
from tests.exporter.workloads.kubernetes.api_server import ApiServer
from tests.exporter.workloads.kubernetes.conftest import START, at, condition, pod, running, workload

from gpuscope.catalogue import training as m
from gpuscope.catalogue.metric import Sample
from gpuscope.collector.debut import Debut
from gpuscope.demo.programs import find
from gpuscope.demo.prometheus import Prometheus, configuration
from gpuscope.workloads.ledger import Ledger

CREATED = "gpuscope_training_jobs_created_total"
HOLD = "6s"


def restarts(fault: str, value: float) -> Sample:
    return Sample(m.RESTARTS, ("slurm", "", "nlp", "h100", "job", "automatic", fault), value)


def test_counter_that_nobody_could_foresee_is_shown_as_0_first() -> None:
    now = [100.0]
    debut = Debut(60, lambda: now[0])
    assert list(debut.shown([restarts("off_bus", 1)])) == [restarts("off_bus", 0)]
    now[0] += 59
    told = [restarts("off_bus", 2), restarts("node_down", 1)]
    assert list(debut.shown(told)) == [restarts("off_bus", 0), restarts("node_down", 0)]
    now[0] += 1
    assert list(debut.shown(told)) == [restarts("off_bus", 2), restarts("node_down", 0)]
    now[0] += 60
    assert list(debut.shown(told)) == told


def test_what_an_earlier_run_counted_is_shown_at_once_and_what_came_later_after_it() -> None:
    now = [100.0]
    debut = Debut(60, lambda: now[0])
    debut.take_up([restarts("off_bus", 5)])
    assert list(debut.shown([restarts("off_bus", 6)])) == [restarts("off_bus", 5)]
    now[0] += 60
    assert list(debut.shown([restarts("off_bus", 6)])) == [restarts("off_bus", 6)]


def test_histogram_is_whole_at_any_time() -> None:
    ledger = Ledger({})
    clock = iter(range(100))
    debut = Debut(1.5, lambda: float(next(clock)))
    for expected in (0, 0, 3, 4):
        ledger.observe(m.RECOVERY_SECONDS, ("slurm", "running", "unknown"), 7)
        told = {sample.labels[-1]: sample.value for sample in debut.shown(ledger.samples([m.RECOVERY_SECONDS]))}
        assert (told["count"], told["+Inf"], told["10.0"], told["sum"]) == (*[expected] * 3, 7 * expected)


def submitted(server: ApiServer, namespace: str) -> dict:
    """A job of this second, all of whose pods run."""
    now = int(time.time() - START) + 1
    job = server.put(workload("Job", metadata={"namespace": namespace, "uid": namespace, "creationTimestamp": at(now)}))
    for rank in range(2):
        one = running(pod(f"llama-{rank}", job, created=now), now)
        one["metadata"] |= {"namespace": namespace, "uid": f"pod-{namespace}-{rank}"}
        server.put(one)
    return job


@pytest.fixture
def prometheus(tmp_path: Path, free_port: Callable[[], int]) -> Iterator[Callable[[str], Prometheus]]:
    """Starts a real Prometheus that reads one collector every second."""
    started: list[subprocess.Popen[bytes]] = []

    def start(collector: str) -> Prometheus:
        file = tmp_path / "prometheus.yaml"
        file.write_text(configuration({}, collector.removeprefix("http://"), 1.0))
        address = f"127.0.0.1:{free_port()}"
        program = find("prometheus", Path(__file__).parents[3] / ".cache")
        flags = [f"--config.file={file}", f"--storage.tsdb.path={tmp_path / 'tsdb'}", f"--web.listen-address={address}"]
        log = (tmp_path / "prometheus.log").open("wb")
        started.append(subprocess.Popen([program, *flags], stdout=log, stderr=log, stdin=subprocess.DEVNULL))
        log.close()
        one = Prometheus(address)
        wait_for(one.ready, "Prometheus")
        return one

    yield start
    for process in started:
        process.terminate()
        process.wait(timeout=30)


def test_prometheus_sees_the_first_event_of_a_new_namespace(
    collector: Callable[..., Running], server: ApiServer, kubeconfig: str, prometheus: Callable[[str], Prometheus]
) -> None:
    one = collector("--kubernetes", "--kubernetes.config", kubeconfig, "--counter-hold", HOLD)
    one.wait(Running.ready, "an answer")
    base = prometheus(one.url)
    wait_for(lambda: base.query("gpuscope_collector_leader"), "a scrape")
    job = submitted(server, "green")
    one.wait(lambda one: one.jobs("?state=training"), "the job")
    end = condition("Failed", int(time.time() - START) + 1, "DeadlineExceeded")
    server.put(job | {"status": {"conditions": [end]}})
    one.wait(lambda one: one.jobs("?outcome=timed_out"), "its end")

    def seen(counter: str) -> float:
        return sum(point.value for point in base.query(f'sum(increase({counter}{{namespace="green"}}[5m]))'))

    for counter in (CREATED, ENDED, "gpuscope_training_attempts_ended_total"):
        wait_for(lambda counter=counter: seen(counter) > 0, counter)
        (total,) = base.query(f'sum({counter}{{namespace="green"}})')
        assert total.value == 1
    planned = 'increase(gpuscope_training_interruptions_total{namespace="green",domain="planned"}[5m])'
    wait_for(lambda: sum(point.value for point in base.query(planned)) > 0, "the interruption")


def test_restart_with_a_state_file_shows_what_it_knew_at_once(
    collector: Callable[..., Running], server: ApiServer, kubeconfig: str, tmp_path: Path
) -> None:
    flags = ("--kubernetes", "--kubernetes.config", kubeconfig, "--state-file", str(tmp_path / "state"))
    one = collector(*flags)
    one.wait(Running.ready, "an answer")
    submitted(server, "green")
    one.wait(lambda one: one.total(CREATED) == 1, "the job")
    one.end()
    submitted(server, "red")
    two = collector(*flags, "--counter-hold", "10m")
    two.wait(lambda two: two.ready() and len(two.jobs()) == 2, "both jobs")
    assert two.total(CREATED, 'namespace="green"') == 1
    assert two.total(CREATED, 'namespace="red"') == 0

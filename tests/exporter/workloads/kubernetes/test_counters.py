"""What is counted of a cluster, from its API to the book, whatever happens to the connection."""

from collections import Counter
from collections.abc import Callable, Iterator

import pytest
from tests.exporter.workloads.kubernetes.api_server import ApiServer
from tests.exporter.workloads.kubernetes.conftest import (
    FAST,
    START,
    Cluster,
    at,
    condition,
    failed,
    pod,
    running,
    succeeded,
    workload,
)

from gpuscope.faults.xids import XidCatalogue
from gpuscope.workloads.book import Book
from gpuscope.workloads.classification import classify
from gpuscope.workloads.kubernetes import Pace
from gpuscope.workloads.observation import Observation, Outcome
from gpuscope.workloads.store import Store
from gpuscope.workloads.trigger import trigger_of

XIDS = XidCatalogue.load(None)


class Counted:
    """A book that takes every look at the cluster; the first one is before all jobs."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.store = Store(None)
        self.book = Book(
            self.store, lambda attempt: classify(attempt.evidence, attempt.outcome or Outcome.UNKNOWN, XIDS), trigger_of
        )

    def begin(self, pace: Pace = FAST) -> None:
        self.cluster.watch(pace=pace)
        self.see(lambda seen: seen.complete, -10)

    def see(self, until: Callable[[Observation], object], second: float) -> Observation:
        def taken(seen: Observation) -> object:
            self.book.apply(seen)
            return until(seen)

        return self.cluster.see(taken, second)

    def wait(self, second: float, **expected: float) -> None:
        """Looks until this, and nothing else, was counted of jobs, attempts and restarts."""
        try:
            self.see(lambda _: self.counts() == expected, second)
        except AssertionError:
            assert self.counts() == expected
            raise

    def counts(self) -> dict[str, float]:
        found: Counter[str] = Counter()
        for metric, labels, value in self.book.counters():
            name = metric.name.removeprefix("gpuscope_training_").removesuffix("_total")
            if name in {"jobs_created", "jobs_forgotten"}:
                found[name] += value
            elif name in {"jobs_ended", "attempts_ended", "restarts"}:
                found[f"{name}_{labels[5]}"] += value
        return {name: value for name, value in found.items() if value}


@pytest.fixture
def counted(cluster: Cluster) -> Iterator[Counted]:
    made = Counted(cluster)
    yield made
    made.store.close()


def job_with_pods(server: ApiServer, name: str, pods: int = 2, kind: str = "Job") -> tuple[dict, list[dict]]:
    size = {"parallelism": pods, "completions": pods} if kind == "Job" else {}
    job = server.put(workload(kind, metadata={"name": name, "uid": name}, spec=size))
    return job, [server.put(running(pod(f"{name}-{rank}", job), 60)) for rank in range(pods)]


def ended(server: ApiServer, job: dict, kind: str, second: float) -> dict:
    done = workload(job["kind"], metadata=job["metadata"], spec=job["spec"])
    done["status"]["conditions"] = [condition(kind, second, "CompletionsReached")]
    if kind == "Complete":
        done["status"]["completionTime"] = at(second)
    return server.put(done)


def test_job_that_its_ttl_deletes_is_counted_as_it_ended(counted: Counted) -> None:
    server = counted.cluster.server
    counted.begin()
    job, pods = job_with_pods(server, "a")
    counted.wait(100, jobs_created=1)
    for one in pods:
        server.put(succeeded(one, 600))
    server.delete(ended(server, job, "Complete", 602))
    for one in pods:
        server.delete(one)
    counted.wait(610, jobs_created=1, jobs_ended_succeeded=1, attempts_ended_succeeded=1)
    counted.see(lambda seen: seen.complete and not seen.jobs, 700)
    counted.wait(710, jobs_created=1, jobs_ended_succeeded=1, attempts_ended_succeeded=1)


@pytest.mark.parametrize("away", [False, True], ids=["expired watch", "five minutes away"])
def test_what_happens_while_nobody_hears_is_counted_once(counted: Counted, away: bool) -> None:
    server = counted.cluster.server
    counted.begin()
    job_with_pods(server, "stays")
    fails, pods = job_with_pods(server, "fails")
    restarts, restarted = job_with_pods(server, "restarts")
    done, _ = job_with_pods(server, "done")
    gone, _ = job_with_pods(server, "gone")
    counted.wait(100, jobs_created=5)
    counted.see(lambda seen: len(seen.pods) == 10, 100)
    if away:
        server.away()
        for second in (130, 200, 300):
            counted.see(lambda seen: not seen.complete, second)
        assert counted.counts() == {"jobs_created": 5}
    with server.changed:
        server.put(failed(pods[0], 1, 150))
        ended(server, fails, "Failed", 151)
        server.put(failed(restarted[1], 137, 160, "OOMKilled"))
        server.put(running(pod("restarts-1-again", restarts, created=165), 170))
        ended(server, done, "Complete", 180)
        server.delete(gone)
        job_with_pods(server, "new")
        server.compact()
        server.cut()
    if away:
        server.back()
    counts = {
        "jobs_created": 6, "jobs_ended_failed": 1, "jobs_ended_succeeded": 1, "attempts_ended_failed": 2,
        "attempts_ended_succeeded": 1, "restarts_automatic": 1,
        # Nobody saw what became of the one that is not there any more.
        "jobs_ended_unknown": 1, "attempts_ended_unknown": 1,
    }  # fmt: skip
    counted.wait(400, **counts)
    problems = counted.cluster.problems
    assert problems.get("unreachable:pods" if away else "expired:jobs", 0) >= 1
    counted.see(lambda seen: seen.complete, 410)
    server.compact()
    server.cut()
    counted.see(lambda _: problems.get("expired:pods"), 420)
    counted.wait(430, **counts)


def test_kind_that_may_be_read_later_or_comes_later_is_counted_from_then_on(counted: Counted) -> None:
    server = counted.cluster.server
    server.forbidden.add("jobsets")
    job_with_pods(server, "hidden", kind="JobSet")
    counted.begin()
    job_with_pods(server, "a")
    counted.wait(100, jobs_created=1)
    counted.see(lambda _: counted.cluster.problems.get("forbidden:jobsets"), 100)
    server.forbidden.clear()
    counted.wait(200, jobs_created=2)
    server.put(workload("TrainJob", metadata={"name": "t", "uid": "t"}))
    counted.wait(300, jobs_created=3)
    server.uninstall("TrainJob")
    counted.wait(400, jobs_created=3, jobs_ended_unknown=1)


def test_five_thousand_pods_are_counted_right(counted: Counted) -> None:
    server = counted.cluster.server
    made = [job_with_pods(server, f"job-{index}", 5) for index in range(1000)]
    counted.cluster.watch(pace=Pace(retry_s=0.02, retry_limit_s=0.1))
    counted.book.apply(Observation("kubernetes", START - 10, complete=False))
    counted.see(lambda seen: len(seen.pods) == 5000 and seen.complete, 100)
    for index, (job, pods) in enumerate(made[:300]):
        if index % 3 == 0:
            ended(server, job, "Complete", 600)
        elif index % 3 == 1:
            server.put(failed(pods[0], 1, 600))
            ended(server, job, "Failed", 601)
        else:
            server.put(failed(pods[4], 137, 600, "OOMKilled"))
            server.put(running(pod(f"{job['metadata']['name']}-again", job, created=610), 620))
    counted.wait(
        700, jobs_created=1000, jobs_ended_succeeded=100, jobs_ended_failed=100, attempts_ended_succeeded=100,
        attempts_ended_failed=200, restarts_automatic=100,
    )  # fmt: skip
    assert len(counted.book.jobs) == 1000

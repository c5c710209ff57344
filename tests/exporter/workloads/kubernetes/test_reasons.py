"""Why Kubernetes does not answer: one reason that stays, no word at a normal start, and no request without a pause."""

import logging
import time
from collections.abc import Callable

import pytest
from tests.exporter.workloads.kubernetes.conftest import Cluster, pod, running, workload

from gpuscope.collector.follower import Follower
from gpuscope.workloads.kubernetes import Pace
from gpuscope.workloads.observation import JobState, Observation

QUICK = Pace(retry_s=0.02, retry_limit_s=0.04, refused_s=0.1, discovery_s=0.05)
BOOKMARK = b'{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"7"}}}\n'


def many(cluster: Cluster, reason: str, count: int = 12) -> Callable[[Observation], bool]:
    return lambda _: cluster.problems.get(reason, 0) >= count


def test_the_first_reason_stays_until_the_source_answers_again(cluster: Cluster) -> None:
    cluster.server.put(workload("Job"))
    cluster.watch(pace=QUICK)
    cluster.see(lambda seen: seen.complete)
    reasons: list[str] = []

    def noted(until: Callable[[Observation], object]) -> Callable[[Observation], object]:
        def look(seen: Observation) -> object:
            if not seen.complete:
                reasons.append(seen.reason)
            return until(seen)

        return look

    cluster.server.failing["jobs"] = 500
    cluster.server.cut()
    cluster.see(noted(many(cluster, "server_error:jobs")))
    cluster.server.failing["pods"] = 429
    cluster.server.cut()
    cluster.see(noted(many(cluster, "throttled:pods")))
    assert set(reasons) == {"Job: server_error"}

    # What concerns everything says more than what concerns a kind, and stays for its part.
    cluster.server.away()
    cluster.see(noted(lambda seen: "unreachable" in seen.reason))
    cluster.server.back()
    cluster.server.failing["jobs"] = 500
    cluster.see(noted(many(cluster, "server_error:jobs", cluster.problems["server_error:jobs"] + 12)))
    assert len(set(reasons)) == 2, set(reasons)
    cluster.server.failing.clear()
    cluster.see(lambda seen: seen.complete)

    cluster.server.failing["jobs"] = 503
    cluster.server.cut()
    assert cluster.see(lambda seen: not seen.complete and seen.reason).reason == "Job: server_error"


def test_normal_start_is_no_warning(cluster: Cluster, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    cluster.server.put(workload("Job"))
    source = cluster.watch(pace=QUICK)
    follower = Follower(source, 0.01, lambda _: None, lambda: None)
    follower.look()
    assert follower.status.reason.startswith("has not answered yet")
    assert "_" not in follower.status.reason
    end = time.monotonic() + 60
    while follower.status.answered is None:
        assert time.monotonic() < end
        follower.look()
        time.sleep(0.01)
    cluster.server.install("TrainJob", "trainer.kubeflow.org/v1alpha1", "trainjobs")
    while not any("trainjobs" in path for path, _ in list(cluster.server.requests)):
        assert time.monotonic() < end
        follower.look()
    follower.look()
    assert not [one.getMessage() for one in caplog.records if one.levelno >= logging.WARNING]
    assert "answers again" not in caplog.text


def test_list_without_a_version_is_none_and_is_not_asked_for_without_a_pause(cluster: Cluster) -> None:
    cluster.server.put(workload("Job"))
    cluster.watch(pace=QUICK)
    cluster.see(lambda seen: seen.complete)
    cluster.server.garbage["jobs"] = b'{"kind":"JobList","items":[],"metadata":{}}'
    cluster.server.cut()
    cluster.server.requests.clear()
    seen = cluster.see(many(cluster, "malformed:jobs"))
    assert (len(seen.jobs), seen.complete, seen.reason) == (1, False, "Job: malformed")
    assert len(cluster.server.asked("jobs", watch=False)) <= cluster.problems["malformed:jobs"] + 1


@pytest.mark.parametrize(
    ("answer", "reason"),
    [(b"", "short_watch:jobs"), (BOOKMARK, "short_watch:jobs"), (b"<html>\n", "malformed:jobs"),
     (b'{"kind":"JobList","items":[],"metadata":{"resourceVersion":"5"}}\n', "malformed:jobs")],
)  # fmt: skip
def test_where_watches_end_at_once_lists_tell_and_pauses_are_made(
    cluster: Cluster, caplog: pytest.LogCaptureFixture, answer: bytes, reason: str
) -> None:
    server = cluster.server
    server.short_watch = answer
    job = server.put(workload("Job", spec={"parallelism": 1, "completions": 1}))
    cluster.watch(pace=QUICK)
    cluster.see(lambda seen: seen.complete)
    incomplete: list[str] = []

    def look(seen: Observation) -> bool:
        incomplete.extend([seen.reason] if not seen.complete else [])
        return many(cluster, reason, 20)(seen)

    cluster.see(look)
    assert incomplete == []
    # Each round waits: one list and one watch at most.
    assert len(server.asked("jobs", watch=True)) <= cluster.problems[reason] + 2
    assert len(server.asked("jobs", watch=False)) <= cluster.problems[reason] + 2
    server.put(running(pod("llama-0", job), 60))
    cluster.job(lambda job: job.state is JobState.TRAINING)
    told = [
        one.getMessage() for one in caplog.records if "v1/jobs" in one.getMessage() and one.levelno >= logging.WARNING
    ]
    assert len(told) == 1, told
    server.short_watch = None
    cluster.see(lambda _: server.asked("jobs", watch=True))
    server.put(workload("Job", metadata={"name": "new", "uid": "new"}))
    cluster.see(lambda seen: len(seen.jobs) == 2)

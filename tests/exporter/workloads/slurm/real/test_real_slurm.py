"""The source on a real Slurm without slurmdbd, with its completion log; run by ``make test-slurm`` only."""

import itertools
import time
from collections.abc import Callable
from typing import Any

import pytest

from gpuscope.workloads.observation import JobState, NodeState, Observation, ObservedJob, Outcome
from gpuscope.workloads.slurm import SlurmSource

pytestmark = pytest.mark.timeout(600)
Cluster = Any  # the fixture's class lies in conftest.py, which nobody can import


class Watch:
    """A collector's source, and one that starts only now."""

    def __init__(self, cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
        for name, value in cluster.environment.items():
            monkeypatch.setenv(name, value)
        self.cluster = cluster
        self.source = self.fresh()

    def fresh(self, *, use_json: bool = True, log: bool = True) -> SlurmSource:
        path = self.cluster.folder / "jobcomp.log"
        return SlurmSource(
            self.cluster.commands, completion_log=path if log else None, use_json=use_json, timeout_s=60.0
        )

    def until(self, uid: str, condition: Callable[[ObservedJob], bool]) -> ObservedJob:
        found: list[ObservedJob] = []

        def look() -> bool:
            seen = self.source.observe(time.time())
            assert seen.complete, seen.problems
            found[:] = [one for one in seen.jobs if one.key.uid == uid and condition(one)]
            return bool(found)

        self.cluster.wait(f"job {uid}", look)
        return found[0]


@pytest.fixture
def watch(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> Watch:
    return Watch(cluster, monkeypatch)


def ended(job: ObservedJob) -> bool:
    return job.outcome is not None


def running(job: ObservedJob) -> bool:
    return job.state is JobState.TRAINING and job.outcome is None


def find(seen: Observation, uid: str) -> ObservedJob:
    return next(one for one in seen.jobs if one.key.uid == uid)


def test_ends(watch: Watch) -> None:
    cluster = watch.cluster
    good = cluster.submit("true", "--gres=gpu:h100:2", "-J", "good = job")
    bad = cluster.submit("exit 3")
    killed = cluster.submit("kill -SEGV $$")
    stopped = cluster.submit("sleep 600", "-N2", "--gres=gpu:4")
    assert watch.until(stopped, running).facts.gpus == 8
    cluster.run("scancel", stopped)
    job = watch.until(good, ended)
    assert (job.outcome, job.facts.name, job.facts.gpus, job.facts.queue) == (Outcome.SUCCEEDED, "good = job", 2, "ml")
    assert len(job.attempts) == 1
    job = watch.until(bad, ended)
    assert (job.outcome, job.attempts[0].evidence.exit_codes, job.facts.gpus) == (Outcome.FAILED, (3,), 0)
    job = watch.until(killed, ended)
    assert (job.outcome, job.attempts[0].evidence.signals) == (Outcome.FAILED, (11,))
    job = watch.until(stopped, ended)
    assert (job.outcome, job.attempts[0].nodes) == (Outcome.CANCELLED, ("gpu-1", "gpu-2"))
    assert job.attempts[0].evidence.requested_by_user is None


def test_a_name_that_lies(watch: Watch) -> None:
    name = "x\n   JobState=COMPLETED Reason=None\n\nJobId=999 JobName=y\n   JobState=FAILED"
    uid = watch.cluster.submit("sleep 600", "-J", name)
    assert watch.until(uid, running).facts.name == name
    assert "999" not in {one.key.uid for one in watch.source.observe(time.time()).jobs}
    watch.cluster.run("scancel", uid)
    watch.until(uid, ended)


def test_arrays_and_heterogeneous_jobs(watch: Watch) -> None:
    array = watch.cluster.submit("sleep 1", "--array=1-3%1", "--gres=gpu:1")
    tasks = [watch.until(f"{array}_{task}", lambda _: True) for task in (1, 2, 3)]
    assert {one.facts.kind for one in tasks} == {"array_task"}
    assert {one.facts.gpus for one in tasks} == {1}
    for task in (1, 2, 3):
        assert watch.until(f"{array}_{task}", ended).outcome is Outcome.SUCCEEDED
    both = watch.cluster.run(
        "sbatch",
        "--parsable",
        "-D",
        "/tmp",
        "-o",
        "/dev/null",
        "--gres=gpu:1",
        "--wrap",
        "sleep 3",
        ":",
        "--gres=gpu:2",
    )
    job = watch.until(both, ended)
    assert (job.facts.kind, job.facts.gpus, job.outcome) == ("het_job", 3, Outcome.SUCCEEDED)
    assert len(job.attempts) == 1


def test_requeued_by_hand_and_by_its_exit_code(watch: Watch) -> None:
    cluster = watch.cluster
    by_hand = cluster.submit("sleep 600", "--gres=gpu:2")
    created = watch.until(by_hand, running).created
    cluster.run("scontrol", "requeue", by_hand)
    watch.until(by_hand, lambda job: job.state is JobState.RECOVERING)
    again = watch.until(by_hand, running)
    assert [(one.number, one.outcome) for one in again.attempts] == [(0, Outcome.INTERRUPTED), (1, None)]
    assert again.attempts[0].evidence.requested_by_user is None
    assert again.created == created
    # A collector that starts only now reads the same, from the completion log.
    late = find(watch.fresh().observe(time.time()), by_hand)
    assert [(one.number, one.outcome, one.nodes) for one in late.attempts] == [
        (one.number, one.outcome, one.nodes) for one in again.attempts
    ]
    # And without that log at least that there was an attempt before.
    blind = find(watch.fresh(log=False).observe(time.time()), by_hand)
    assert [(one.number, one.outcome) for one in blind.attempts] == [(0, Outcome.INTERRUPTED), (1, None)]
    cluster.run("scancel", by_hand)
    by_code = cluster.submit("exit 99")
    job = watch.until(by_code, lambda job: (job.restarts or 0) >= 2)
    assert {one.outcome for one in job.attempts if one.ended is not None} == {Outcome.FAILED}
    assert job.attempts[0].evidence.exit_codes == (99,)
    cluster.run("scancel", by_code)
    assert watch.until(by_code, ended).outcome is Outcome.CANCELLED


def test_drained_for_a_reason(watch: Watch) -> None:
    cluster = watch.cluster
    cluster.run("scontrol", "update", "nodename=gpu-1", "state=drain", "reason=XID 79, see ticket")
    try:
        for form in (True, False):
            (node, other) = watch.fresh(use_json=form).observe(time.time()).nodes
            assert node.state is NodeState.DRAINED
            assert node.reason.startswith("XID 79, see ticket (by ")
            assert node.since is not None
            assert (node.gpus, node.partitions, other.state) == (8, ("ml",), NodeState.READY)
    finally:
        cluster.run("scontrol", "update", "nodename=gpu-1", "state=resume")


def test_both_forms_say_the_same(watch: Watch) -> None:
    uid = watch.cluster.submit("sleep 600", "-N2", "--gres=gpu:3")
    watch.until(uid, running)
    now = time.time()
    in_json, in_text = (watch.fresh(use_json=form).observe(now) for form in (True, False))
    names_that_lie = {one.key.uid for one in in_json.jobs if "\n" in one.facts.name}
    told = {one.key.uid: one for one in in_text.jobs}
    for job in in_json.jobs:
        if job.key.uid not in names_that_lie:
            assert job == told[job.key.uid]
    assert find(in_text, uid).facts.gpus == 6
    assert list(in_json.nodes) == list(in_text.nodes)
    assert [node.gpus_allocated for node in in_text.nodes] == [3, 3]
    watch.cluster.run("scancel", uid)


def test_slurmctld_away_and_back(watch: Watch) -> None:
    cluster = watch.cluster
    uid = cluster.submit("sleep 600", "--gres=gpu:1")
    before = watch.until(uid, running)
    cluster.stop_controller()
    for form in (True, False):
        seen = watch.fresh(use_json=form).observe(time.time())
        assert (seen.complete, seen.jobs, dict(seen.problems)) == (False, (), {"slurmctld_unreachable": 1})
    cluster.start_controller()
    assert watch.until(uid, running) == before
    cluster.run("scancel", uid)
    watch.until(uid, ended)


def test_a_node_that_dies(watch: Watch) -> None:
    cluster = watch.cluster
    again = cluster.submit("sleep 600", "-w", "gpu-2", "--gres=gpu:2")
    never = cluster.submit("sleep 600", "-w", "gpu-2", "--no-requeue")
    watch.until(again, running)
    watch.until(never, running)
    cluster.kill_node("gpu-2", again, never)
    lost = watch.until(never, ended)
    assert (lost.outcome, lost.attempts[0].evidence.state) == (Outcome.INTERRUPTED, "NODE_FAIL")
    assert lost.attempts[0].evidence.nodes_lost == ("gpu-2",)
    waits = watch.until(again, lambda job: job.state is JobState.RECOVERING)
    assert [(one.number, one.outcome, one.nodes) for one in waits.attempts] == [(0, Outcome.INTERRUPTED, ("gpu-2",))]
    assert waits.attempts[0].evidence.nodes_lost == ("gpu-2",)
    blind = find(watch.fresh(log=False).observe(time.time()), again)
    assert [(one.number, one.outcome) for one in blind.attempts] == [(0, Outcome.INTERRUPTED)]
    dead = next(one for one in watch.source.observe(time.time()).nodes if one.name == "gpu-2")
    assert (dead.state, dead.reason.startswith("Not responding")) == (NodeState.DOWN, True)
    cluster.start_node("gpu-2")
    back = watch.until(again, running)
    assert [(one.number, one.outcome) for one in back.attempts] == [(0, Outcome.INTERRUPTED), (1, None)]
    cluster.run("scancel", again)
    assert watch.until(again, ended).outcome is Outcome.CANCELLED


def test_out_of_time(watch: Watch) -> None:
    """Slurm's shortest limit is a minute."""
    uid = watch.cluster.submit("sleep 600", "-t", "1", "--gres=gpu:1")
    job = watch.until(uid, ended)
    assert (job.outcome, job.attempts[0].evidence.reason) == (Outcome.TIMED_OUT, "TimeLimit")


def test_nothing_was_left_unsaid(watch: Watch) -> None:
    seen = watch.source.observe(time.time())
    assert seen.problems.keys() <= {"malformed_completion"}  # the completion log breaks at names with line breaks
    for job, other in itertools.pairwise(sorted(seen.jobs, key=lambda one: one.key)):
        assert job.key != other.key

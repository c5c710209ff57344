"""The same story as told by each release; see ``data/README.md`` for what happened there."""

from collections.abc import Callable
from pathlib import Path

import pytest

from gpuscope.workloads.observation import JobState, NodeState, Observation, ObservedJob, ObservedNode, Outcome
from gpuscope.workloads.slurm import SlurmSource

Slurm = Callable[[str], Path]
NOW = 1796035240.0


def observe(folder: Path, **options: bool) -> Observation:
    seen = SlurmSource(folder, **options).observe(NOW)
    assert (seen.source, seen.at, seen.complete, dict(seen.problems)) == ("slurm", NOW, True, {})
    return seen


def job(seen: Observation, uid: str) -> ObservedJob:
    return next(one for one in seen.jobs if one.key[:3] == ("slurm", "", uid))


def node(seen: Observation, name: str) -> ObservedNode:
    return next(one for one in seen.nodes if one.name == name)


ALL = ["21.08", "22.05-requeued", "22.05-nodedead", "23.11", "24.05", "24.11-nodedead", "26.05-after"]
IN_TEXT = ["22.05-requeued", "22.05-nodedead", "24.11-nodedead", "26.05-after"]
FORMS = [(release, True) for release in ALL] + [(release, False) for release in IN_TEXT]


@pytest.mark.parametrize(("release", "use_json"), FORMS)
def test_ends(slurm: Slurm, release: str, use_json: bool) -> None:
    seen = observe(slurm(release), use_json=use_json)
    known = {one.key.uid for one in seen.jobs}
    if "1" in known:
        good = job(seen, "1")
        assert (good.outcome, good.facts.name, good.facts.team, good.facts.gpus) == (
            Outcome.SUCCEEDED,
            "ok job",
            "alpha",
            1,
        )
        facts = good.facts
        assert (facts.kind, facts.user, facts.queue) == ("job", "root", "ml")
        (only,) = good.attempts
        assert (only.number, only.nodes, only.outcome, only.ended) == (0, ("gpu-1",), Outcome.SUCCEEDED, good.ended)
    if "2" in known:
        (only,) = job(seen, "2").attempts
        assert (only.outcome, only.evidence.exit_codes, only.evidence.reason) == (
            Outcome.FAILED,
            (3,),
            "NonZeroExitCode",
        )
    (only,) = job(seen, "3").attempts
    assert (only.outcome, only.evidence.exit_codes, only.evidence.signals) == (Outcome.FAILED, (), (11,))
    assert only.evidence.requested_by_user is False
    if "8" in known:
        stopped = job(seen, "8")
        assert stopped.outcome is Outcome.CANCELLED
        assert stopped.attempts[0].evidence.reason == "cancelled by uid 0"
        assert stopped.attempts[0].evidence.requested_by_user is True  # it was a job of root's
        assert stopped.attempts[0].evidence.nodes_lost == ()
    if "4" in known and job(seen, "4").outcome is not None:
        assert job(seen, "4").outcome is Outcome.TIMED_OUT
        assert job(seen, "4").attempts[0].evidence.reason == "TimeLimit"


@pytest.mark.parametrize(("release", "use_json"), FORMS)
def test_a_requeue_by_hand_is_another_attempt_of_the_same_job(slurm: Slurm, release: str, use_json: bool) -> None:
    again = job(observe(slurm(release), use_json=use_json), "9")
    assert again.outcome is None
    assert again.state is JobState.RECOVERING
    assert again.facts.gpus == 2
    assert again.restarts == (1 if release in ("21.08", "22.05-requeued") else 2)
    first = again.attempts[0]
    assert (first.number, first.outcome, first.nodes) == (0, Outcome.INTERRUPTED, ("gpu-2",))
    assert (first.evidence.state, first.evidence.nodes_lost) == ("REQUEUED", ())
    assert first.started is not None
    assert first.ended is not None
    assert again.created <= first.started < first.ended
    assert first.ended - again.created < 3  # Slurm's time of submission has moved on; that of the job has not


@pytest.mark.parametrize(
    ("release", "use_json"), [(one, form) for one, form in FORMS if one not in ("21.08", "22.05-requeued")]
)
def test_a_node_that_dies_interrupts(slurm: Slurm, release: str, use_json: bool) -> None:
    seen = observe(slurm(release), use_json=use_json)
    struck = job(seen, "7")
    first = struck.attempts[0]
    assert (struck.restarts, struck.outcome, first.number, first.outcome) == (1, None, 0, Outcome.INTERRUPTED)
    assert (first.evidence.state, first.evidence.exit_codes) == ("NODE_FAIL", ())  # 24.11 tells exit code 1, its own
    assert first.evidence.requested_by_user is False
    assert first.evidence.nodes_lost == ("gpu-2",)
    if struck.state is JobState.TRAINING:
        assert [attempt.number for attempt in struck.attempts] == [0, 1]
        assert struck.attempts[1].ended is None


@pytest.mark.parametrize("use_json", [True, False])
@pytest.mark.parametrize("release", ["22.05-nodedead", "24.11-nodedead", "26.05-after"])
def test_a_requeue_by_exit_code_is_the_jobs_own_failure(slurm: Slurm, release: str, use_json: bool) -> None:
    again = job(observe(slurm(release), use_json=use_json), "10")
    assert again.restarts == len(again.attempts)
    assert [attempt.number for attempt in again.attempts] == list(range(len(again.attempts)))
    assert {attempt.outcome for attempt in again.attempts} == {Outcome.FAILED}
    assert {attempt.evidence.exit_codes for attempt in again.attempts} == {(99,)}


@pytest.mark.parametrize("use_json", [True, False])
def test_tasks_of_an_array_are_jobs_whether_they_wait_or_run(slurm: Slurm, use_json: bool) -> None:
    seen = observe(slurm("22.05-requeued"), use_json=use_json)
    tasks = {one.key.uid: one for one in seen.jobs if one.facts.kind == "array_task"}
    assert sorted(tasks) == ["5_1", "5_2", "5_3", "5_4"]
    assert tasks["5_1"].state is JobState.TRAINING
    assert {tasks[uid].state for uid in ("5_2", "5_3", "5_4")} == {JobState.QUEUED}
    assert len({one.created for one in tasks.values()}) == 1
    later = observe(slurm("22.05-nodedead"), use_json=use_json)
    ended = [one for one in later.jobs if one.facts.kind == "array_task"]
    assert sorted(one.key.uid for one in ended) == ["5_1", "5_2", "5_3", "5_4"]
    assert {one.outcome for one in ended} == {Outcome.SUCCEEDED}


@pytest.mark.parametrize(("release", "use_json"), FORMS)
def test_nodes(slurm: Slurm, release: str, use_json: bool) -> None:
    seen = observe(slurm(release), use_json=use_json)
    assert [one.name for one in seen.nodes] == ["gpu-1", "gpu-2", "gpu-3"]
    assert {one.gpus for one in seen.nodes} == {8}
    assert {one.partitions for one in seen.nodes} == {("ml",)}
    assert node(seen, "gpu-3").state is NodeState.DOWN
    assert node(seen, "gpu-3").reason.startswith("never there")
    if release in ("21.08", "22.05-requeued"):
        drained = node(seen, "gpu-1")
        assert (drained.state, drained.reason) == (NodeState.DRAINING, "XID 79, see ticket (by root)")
        assert drained.since == 1796035119.0
        assert node(seen, "gpu-2").gpus_allocated == 2
    if release.endswith("nodedead"):
        assert node(seen, "gpu-2").state is NodeState.DOWN
        assert node(seen, "gpu-2").reason == "Not responding (by root)"
    if release == "23.11":
        assert node(seen, "gpu-2").state is NodeState.MAINTENANCE


@pytest.mark.parametrize(("release", "use_json"), [("26.05-after", True), ("26.05-after", False), ("24.05", True)])
def test_a_suspended_job_keeps_its_attempt(slurm: Slurm, release: str, use_json: bool) -> None:
    seen = observe(slurm(release), use_json=use_json)
    assert job(seen, "15").state is JobState.SUSPENDED
    assert job(seen, "15").attempts[0].ended is None


def test_what_only_ends_has_not_ended(slurm: Slurm) -> None:
    # 21.08 tells COMPLETING in the place of the state, so that nobody knows yet how it ends.
    ending = job(observe(slurm("21.08")), "7")
    assert (ending.state, ending.outcome, ending.attempts[0].ended) == (JobState.TRAINING, None, None)


@pytest.mark.parametrize("use_json", [True, False])
def test_a_held_job_is_suspended(slurm: Slurm, use_json: bool) -> None:
    held = job(observe(slurm("24.11-nodedead"), use_json=use_json), "6")
    assert (held.state, held.attempts, held.outcome) == (JobState.SUSPENDED, (), None)

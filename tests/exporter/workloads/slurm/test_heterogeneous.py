"""Heterogeneous jobs, and attempts that lie apart."""

import pytest

from gpuscope.workloads.observation import JobState, NodeState, ObservedJob, ObservedNode, Outcome
from gpuscope.workloads.slurm.arrays import tasks_of
from gpuscope.workloads.slurm.identity import Identities
from gpuscope.workloads.slurm.jobs import Memory, assemble
from gpuscope.workloads.slurm.problems import Problems
from gpuscope.workloads.slurm.row import JobRow


def component(offset: int, *states: str, gpus: int | None = 1, **fields: object) -> JobRow:
    told: dict[str, object] = {
        "job_id": 11 + offset, "het_job": 11, "het_offset": offset, "submitted": 100.0, "started": 110.0,
        "nodes": f"gpu-{offset + 1}", "restarts": 0, "gpus": gpus,
    }  # fmt: skip
    return JobRow(states=states, **{**told, **fields})  # type: ignore[arg-type]


def one(*rows: JobRow, history: tuple[JobRow, ...] = ()) -> ObservedJob:
    problems = Problems()
    (job,) = assemble(rows, history, {}, {}, Identities({}), problems, 1e6)
    assert not problems.counts
    return job


def test_components_are_one_job() -> None:
    job = one(component(0, "RUNNING"), component(1, "RUNNING", gpus=2, started=111.0))
    assert (job.key.uid, job.facts.kind, job.facts.gpus, job.state) == ("11", "het_job", 3, JobState.TRAINING)
    (attempt,) = job.attempts
    assert (attempt.nodes, attempt.started, attempt.ended) == (("gpu-1", "gpu-2"), 110.0, None)
    assert (job.nodes, job.why) == (("gpu-1", "gpu-2"), "")
    waits = one(component(0, "PENDING", nodes="", started=None, reason="Resources"), component(1, "PENDING", nodes=""))
    assert (waits.nodes, waits.why) == ((), "Resources")


def test_it_lives_while_one_lives_and_ends_as_the_worst() -> None:
    failed = component(1, "FAILED", ended=150.0, exit=(1, 0))
    job = one(component(0, "RUNNING"), failed)
    assert (job.outcome, job.ended, job.attempts[0].ended) == (None, None, None)
    job = one(component(0, "CANCELLED", ended=155.0, exit=(0, 15)), failed)
    assert (job.outcome, job.ended, job.attempts[0].outcome) == (Outcome.FAILED, 155.0, Outcome.FAILED)
    assert job.attempts[0].evidence.exit_codes == (1,)


def test_gpus_that_one_does_not_tell_are_not_known() -> None:
    assert one(component(0, "RUNNING"), component(1, "RUNNING", gpus=None)).facts.gpus is None


@pytest.mark.parametrize(
    ("text", "tasks", "whole"),
    [
        ("3-4%1", [3, 4], True),
        ("1,4-8:2", [1, 4, 6, 8], True),
        ("7", [7], True),
        ("1-...", [], False),
        ("1,3-...", [1], False),
        ("99999999999", [], False),
    ],
)
def test_tasks_that_wait(text: str, tasks: list[int], whole: bool) -> None:
    assert tasks_of(text, limit=100) == (tasks, len(tasks), whole)


def test_many_tasks_are_counted_and_not_listed() -> None:
    assert tasks_of("0-9,20-28:2", limit=3) == ([0, 1, 2], 15, True)
    assert tasks_of("0-999999999,1-999999999", limit=1) == ([0], 10_000_000, True)


def test_a_failure_and_a_node_that_slurmctld_misses_minutes_later() -> None:
    row = JobRow(7, ("FAILED",), submitted=100.0, started=110.0, ended=200.0, nodes="n[1-2]", restarts=0, exit=(1, 0))
    nodes = {
        "n1": ObservedNode("n1", NodeState.READY, since=210.0),
        "n2": ObservedNode("n2", NodeState.DOWN, since=480.0),
    }
    (job,) = assemble([row], [], nodes, {}, Identities({}), Problems(), 1e6)
    assert job.attempts[0].evidence.nodes_lost == ("n2",)
    nodes["n2"] = ObservedNode("n2", NodeState.MAINTENANCE, since=200.0)
    (job,) = assemble([row], [], nodes, {}, Identities({}), Problems(), 1e6)
    assert job.attempts[0].evidence.maintenance
    nodes["n2"] = ObservedNode("n2", NodeState.MAINTENANCE, since=90000.0)
    (job,) = assemble([row], [], nodes, {}, Identities({}), Problems(), 1e6)
    assert not job.attempts[0].evidence.maintenance


def test_what_is_gone_is_not_remembered() -> None:
    memory: dict[tuple[str, int], Memory] = {}
    assemble([component(0, "RUNNING")], [], {}, memory, Identities({}), Problems(), 1e6)
    assert list(memory) == [("11", 0)]
    assemble([], [], {}, memory, Identities({}), Problems(), 1e6)
    assert memory == {}


def test_a_job_of_slurmdbd_alone_numbers_its_attempts() -> None:
    def attempt(state: str, start: float, **fields: object) -> JobRow:
        told: dict[str, object] = {"submitted": start - 1, "started": start, "ended": start + 5, "nodes": "n1"}
        return JobRow(9, (state,), **{**told, **fields})  # type: ignore[arg-type]

    job = one(history=(attempt("COMPLETED", 30.0), attempt("REQUEUED", 10.0), attempt("NODE_FAIL", 20.0)))
    assert [(a.number, a.outcome) for a in job.attempts] == [
        (0, Outcome.INTERRUPTED),
        (1, Outcome.INTERRUPTED),
        (2, Outcome.SUCCEEDED),
    ]
    assert (job.restarts, job.outcome, job.created) == (2, Outcome.SUCCEEDED, 9.0)
    resized = one(history=(attempt("RESIZING", 10.0), attempt("COMPLETED", 20.0, restarts=0)))
    assert [a.number for a in resized.attempts] == [0]


def test_an_older_job_of_the_same_number_is_left_out() -> None:
    live = JobRow(9, ("RUNNING",), submitted=50.0, started=51.0, nodes="n1", restarts=0)
    old = JobRow(9, ("FAILED",), submitted=1.0, started=2.0, ended=3.0, nodes="n1")
    same = JobRow(9, ("RUNNING",), submitted=50.0, started=51.0, nodes="n1")
    job = one(live, history=(old, same))
    assert (job.created, [a.number for a in job.attempts]) == (50.0, [0])


def test_a_job_that_never_ran_has_no_attempt() -> None:
    job = one(JobRow(9, ("CANCELLED",), submitted=50.0, started=60.0, ended=60.0, restarts=0))
    assert (job.outcome, job.attempts) == (Outcome.CANCELLED, ())


def past_row(state: str, start: float, restarts: int | None = None) -> JobRow:
    return JobRow(9, (state,), submitted=start, started=start, ended=start + 5, nodes="n1", restarts=restarts)


@pytest.mark.parametrize(
    ("rows", "restarts"),
    [
        ((past_row("COMPLETED", 10.0), past_row("COMPLETED", 50.0)), 0),
        ((past_row("NODE_FAIL", 10.0, 0), past_row("COMPLETED", 50.0, 0)), 0),
        ((past_row("COMPLETED", 10.0, 0), past_row("COMPLETED", 50.0, 1)), 1),  # requeued by hand after its end
        ((past_row("FAILED", 10.0), past_row("REQUEUED", 30.0), past_row("COMPLETED", 50.0)), 2),
    ],
)
def test_a_number_used_twice_is_no_requeue(rows: tuple[JobRow, ...], restarts: int) -> None:
    job = one(history=rows)
    assert (job.restarts, len(job.attempts), job.outcome) == (restarts, restarts + 1, Outcome.SUCCEEDED)


@pytest.mark.parametrize("state", ["REQUEUED", "RUNNING", "PENDING"])
def test_what_slurmdbd_left_open_is_no_job(state: str) -> None:
    rows = [past_row("NODE_FAIL", 10.0), past_row(state, 50.0)]
    problems = Problems()
    assert assemble([], rows, {}, {}, Identities({}), problems, now=200.0) == []
    assert dict(problems.counts) == {"runaway_job": 1}
    problems = Problems()
    assert assemble([], rows, {}, {}, Identities({}), problems, now=60.0) == []  # submitted since slurmctld was asked
    assert not problems.counts

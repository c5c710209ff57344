"""What cannot be so in an answer costs one value or one job; also when it stands in a state file already."""

import json
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuscope.workloads.book import Book
from gpuscope.workloads.fault import Classification, Domain, Scope, Trigger
from gpuscope.workloads.observation import (
    Attempt,
    Evidence,
    JobFacts,
    JobKey,
    JobState,
    NodeState,
    Observation,
    ObservedJob,
    ObservedNode,
    Outcome,
    Progress,
)
from gpuscope.workloads.plausible import LABEL_LENGTH, mended, plausible
from gpuscope.workloads.store import Store

T0 = 1_796_035_000.0
DAY = 24 * 3600.0
FACTS = JobFacts("llama", "job", team="nlp", queue="h100", gpus=8)
GOOD = ObservedJob(JobKey("slurm", "", "1"), FACTS, T0, JobState.TRAINING, (Attempt(0, T0, nodes=("n1",)),))
FAILED = Attempt(0, T0, None, T0 + 5, Outcome.FAILED, ("n1",), Evidence(state="FAILED", reason="x"))


def bad(**fields: Any) -> ObservedJob:
    return replace(GOOD, key=JobKey("slurm", "", "2"), **fields)


def checked(*jobs: ObservedJob, nodes: tuple[ObservedNode, ...] = ()) -> Observation:
    return plausible(Observation("slurm", T0 + 10, jobs, nodes, problems={"malformed_job": 1})).seen


def open_book(store: Store) -> Book:
    what = Classification("app_error", Domain.WORKLOAD, Scope.JOB, "high", "as told")
    return Book(store, lambda attempt: what, lambda job, attempt: Trigger.UNKNOWN)


@pytest.mark.parametrize(
    ("job", "reason"),
    [
        (bad(created=999_999_999_999.0), "malformed_time"),
        (bad(created=99_999_999_999_999_999.0), "malformed_time"),
        (bad(created=-5.0), "malformed_time"),
        (bad(created=float("nan")), "malformed_time"),
        (bad(created=T0 + 2 * DAY), "malformed_time"),
        (bad(outcome=Outcome.FAILED, ended=float("inf")), "malformed_time"),
        (bad(attempts=(Attempt(0, started=T0 + 365 * DAY),)), "malformed_time"),
        (bad(attempts=(Attempt(0, T0, running=-1.0),)), "malformed_time"),
        (bad(attempts=(replace(FAILED, ended=1e300),)), "malformed_time"),
        (bad(restarts=4_000_000_000), "malformed_restarts"),
        (bad(attempts=(Attempt(-1, T0),)), "malformed_restarts"),
        (replace(bad(), key=JobKey("kubernetes", "a\ud83d", "2")), "malformed_key"),
        (replace(bad(), key=JobKey("kubernetes", "a", "2" * 1000)), "malformed_key"),
    ],
)
def test_a_job_that_cannot_be_told_costs_only_itself(job: ObservedJob, reason: str) -> None:
    seen = checked(GOOD, job)
    assert list(seen.jobs) == [GOOD]
    assert seen.problems == {"malformed_job": 1, reason: 1}
    assert seen.hidden == {job.key}


def test_a_job_that_cannot_be_told_now_is_not_gone() -> None:
    store = Store(None)
    book = open_book(store)
    book.apply(Observation("slurm", T0 - 1))
    book.apply(checked(GOOD, bad()))
    later = Observation("slurm", T0 + 20, [GOOD, bad(created=-1.0)])
    book.apply(plausible(later).seen)
    assert [record.outcome for record in book.jobs.values()] == [None, None]
    book.apply(Observation("slurm", T0 + 30, [GOOD]))
    assert [record.outcome for record in book.jobs.values()] == [None, Outcome.UNKNOWN]
    store.close()


def test_text_that_is_none_is_mended_and_text_without_end_is_cut() -> None:
    facts = JobFacts("a\ud83d b", "job", team="t" * 100_000, queue="\ud83d\ude00", user="\u00e4nne")
    evidence = Evidence(state="FAILED", reason="r\udc80" * 1000, container_reasons=("\ud800",))
    (job,) = checked(bad(facts=facts, attempts=(replace(FAILED, evidence=evidence),), why="w\ud800")).jobs
    assert (job.facts.name, job.facts.queue, job.facts.user) == ("a\ufffd b", "\U0001f600", "\u00e4nne")
    assert (len(job.facts.team), job.facts.team[-1]) == (LABEL_LENGTH, "\u2026")
    assert job.why == "w\ufffd"
    assert len(job.attempts[0].evidence.reason) == 1000
    json.dumps([job.attempts[0].evidence.reason, *job.attempts[0].evidence.container_reasons]).encode()
    counts = checked(bad(facts=facts)).problems
    assert counts == {"malformed_job": 1, "malformed_text": 2, "long_text": 1}


@pytest.mark.parametrize("count", [-32, 10**19])
def test_a_number_of_gpus_that_cannot_be_is_unknown(count: int) -> None:
    node = ObservedNode("n1", NodeState.READY, gpus=count, gpus_allocated=-1)
    seen = checked(bad(facts=replace(FACTS, gpus=count)), nodes=(node,))
    assert seen.jobs[0].facts.gpus is None
    assert (seen.nodes[0].gpus, seen.nodes[0].gpus_allocated) == (None, None)
    assert seen.problems["malformed_gpus"] == 3


@pytest.mark.parametrize(
    ("told", "kept", "count"),
    [
        (Progress(T0, 1.5, -5.0, 3.0, T0), Progress(T0, step=3.0, checkpoint_at=T0), 2),
        (Progress(T0, -0.1, 5.0), Progress(T0, remaining_s=5.0), 1),
        (Progress(T0, float("nan"), float("inf"), -1.0, 1e300), Progress(T0), 4),
        (Progress(-1.0, 0.5), None, 1),
        (Progress(T0, 0.0, 0.0, 0.0, T0), Progress(T0, 0.0, 0.0, 0.0, T0), 0),
    ],
)
def test_progress_that_cannot_be_is_dropped_and_counted(told: Progress, kept: Progress | None, count: int) -> None:
    seen = checked(bad(progress=told))
    assert seen.jobs[0].progress == kept
    assert seen.problems.get("malformed_progress", 0) == count


def test_a_node_that_cannot_be_told_costs_only_itself() -> None:
    nodes = (
        ObservedNode("n1", NodeState.DOWN, reason="R" * 100_000, since=1e15),
        ObservedNode("n\ud800", NodeState.READY),
        ObservedNode("n" * 1000, NodeState.READY),
    )
    seen = checked(nodes=nodes)
    assert [(node.name, len(node.reason), node.since) for node in seen.nodes] == [("n1", LABEL_LENGTH, None)]
    assert seen.problems == {"malformed_job": 1, "malformed_node": 2, "malformed_time": 1, "long_text": 1}


def test_what_is_fine_is_left_as_it_is() -> None:
    assert checked(GOOD).jobs[0] is GOOD
    assert checked(GOOD).problems == {"malformed_job": 1}


@given(st.text(st.characters(), max_size=200))
@settings(max_examples=200)
def test_mended_text_can_be_written(text: str) -> None:
    found = mended(text, LABEL_LENGTH)
    assert found.encode("utf-8").decode() == found
    assert len(found) <= LABEL_LENGTH
    assert mended(found, LABEL_LENGTH) == found


def test_a_state_file_with_what_cannot_be_is_read_as_far_as_it_can_be(tmp_path: Path, caplog) -> None:
    file = tmp_path / "state"
    store = Store(file)
    book = open_book(store)
    book.apply(Observation("slurm", T0 - 1))
    book.apply(Observation("slurm", T0 + 1, [GOOD, bad(attempts=(FAILED, Attempt(1, T0 + 6)))]))
    book.apply(Observation("slurm", T0 + 2, [GOOD, bad(attempts=(FAILED, Attempt(1, T0 + 6)))]))
    store.close()
    with sqlite3.connect(file) as raw:
        raw.execute(
            """UPDATE jobs SET record = replace(record, '1796035000.0', '999999999999') WHERE key LIKE '%"1"%'"""
        )
        raw.execute("""UPDATE jobs SET record = replace(record, '"llama"', '"l\\ud83d"') WHERE key LIKE '%"2"%'""")
        raw.execute("UPDATE counters SET labels = replace(labels, 'nlp', 'nlp\\ud83d')")
    raw.close()
    store = Store(file)
    book = open_book(store)
    assert [record.facts.name for record in book.jobs.values()] == ["l\ufffd"]
    assert "is no time" in caplog.text
    for sample in book.samples():
        "".join(sample.labels).encode()
    # The scheduler still tells both.
    book.apply(Observation("slurm", T0 + 20, [GOOD, bad(attempts=(FAILED, Attempt(1, T0 + 6)))]))
    assert len(book.jobs) == 2
    store.close()


def test_an_end_far_ahead_that_nobody_lists_any_more_is_forgotten() -> None:
    store = Store(None)
    book = open_book(store)
    book.apply(Observation("slurm", T0 - 1))
    book.apply(Observation("slurm", T0 + 1, [bad(outcome=Outcome.FAILED, ended=T0 + 365 * DAY)]))
    book.apply(Observation("slurm", T0 + 10))
    assert book.jobs == {}
    store.close()

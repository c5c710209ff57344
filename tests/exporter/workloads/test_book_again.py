"""Jobs that were over and are there again: requeued, away for a while, or told to have ended in error."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from gpuscope.workloads.book import Book
from gpuscope.workloads.fault import Classification, Domain, Scope, Trigger
from gpuscope.workloads.observation import (
    Attempt,
    Evidence,
    JobFacts,
    JobKey,
    JobState,
    Observation,
    ObservedJob,
    Outcome,
)
from gpuscope.workloads.store import Store

T0 = 1_796_035_000.0
KEY = JobKey("slurm", "", "6", int(T0))
FACTS = JobFacts("llama", "job", team="nlp", queue="h100", gpus=8)
FIRST = Attempt(0, T0, None, T0 + 20, Outcome.FAILED, ("n1",), Evidence(state="FAILED", requested_by_user=False))


def classify(attempt: Attempt) -> Classification:
    return Classification("app_error", Domain.WORKLOAD, Scope.JOB, "high", "as told")


def trigger_of(job: ObservedJob, attempt: Attempt) -> Trigger:
    return Trigger.AUTOMATIC


def job(state: JobState = JobState.TRAINING, **fields) -> ObservedJob:
    return ObservedJob(KEY, FACTS, T0, state, **fields)


def over(outcome: Outcome, at: float, *attempts: Attempt) -> ObservedJob:
    return job(JobState.UNKNOWN, outcome=outcome, ended=T0 + at, attempts=attempts)


@pytest.fixture
def book() -> Iterator[Book]:
    store = Store(None)
    one = Book(store, classify, trigger_of)
    one.apply(Observation("slurm", T0 - 10))
    yield one
    store.close()


def look(book: Book, at: float, *jobs: ObservedJob) -> None:
    book.apply(Observation("slurm", T0 + at, jobs))


def counted(book: Book, name: str) -> dict[str, float]:
    """Last label -> value of a counter, where something was counted."""
    found = [one for one in book.counters() if one.metric.name == f"gpuscope_training_{name}_total" and one.value]
    return {one.labels[-1]: one.value for one in found}


def test_a_job_that_is_requeued_after_its_end_goes_on_and_ends_once_more(book: Book) -> None:
    look(book, 5, job(attempts=(Attempt(0, T0, nodes=("n1",)),)))
    look(book, 25, over(Outcome.FAILED, 20, FIRST))
    look(book, 200, job(JobState.RECOVERING, attempts=(FIRST,)))
    record = book.jobs[KEY]
    assert (record.outcome, record.ended, record.state) == (None, None, JobState.RECOVERING)
    for at in (215, 225):
        look(book, at, job(attempts=(FIRST, Attempt(1, T0 + 210, nodes=("n2",)))))
    assert (record.state, record.restarts) == (JobState.TRAINING, 1)
    assert sum(record.seconds.values()) == pytest.approx(20 + 25), "what was between its end and the requeue is no time"
    done = Attempt(1, T0 + 210, None, T0 + 230, Outcome.SUCCEEDED)
    for at in (235, 245):
        look(book, at, over(Outcome.SUCCEEDED, 230, FIRST, done))
    assert counted(book, "jobs_created") == {"job": 1}
    assert counted(book, "jobs_ended") == {"failed": 1, "succeeded": 1}
    assert counted(book, "attempts_ended") == {"failed": 1, "succeeded": 1}
    assert counted(book, "restarts") == {"app_error": 1}
    triggers = {one.labels[-2] for one in book.counters() if one.metric.name.endswith("restarts_total") and one.value}
    assert triggers == {"unknown"}, "Slurm starts nothing by itself that had ended for good"


def test_a_success_that_is_requeued_is_a_restart_after_no_fault(book: Book) -> None:
    done = replace(FIRST, outcome=Outcome.SUCCEEDED)
    look(book, 25, over(Outcome.SUCCEEDED, 20, done))
    look(book, 40, job(attempts=(done, Attempt(1, T0 + 35))))
    assert counted(book, "restarts") == {"none": 1}
    assert book.jobs[KEY].outcome is None


def test_a_job_that_ended_before_the_first_look_is_followed_from_its_requeue_on() -> None:
    store = Store(None)
    book = Book(store, classify, trigger_of)
    look(book, 100, over(Outcome.FAILED, 20, FIRST))
    look(book, 130, job(attempts=(FIRST, Attempt(1, T0 + 120))))
    look(book, 150, over(Outcome.SUCCEEDED, 140, FIRST, Attempt(1, T0 + 120, None, T0 + 140, Outcome.SUCCEEDED)))
    assert counted(book, "jobs_created") == {}
    assert counted(book, "jobs_ended") == {"succeeded": 1}
    assert counted(book, "restarts") == {"app_error": 1}
    store.close()


@pytest.mark.parametrize("alive_again", [True, False])
def test_a_job_that_was_only_away_is_followed_to_its_end(book: Book, alive_again: bool) -> None:
    running = job(attempts=(Attempt(0, T0, nodes=("n1",)),))
    look(book, 5, running)
    look(book, 10)
    assert book.jobs[KEY].outcome is Outcome.UNKNOWN
    if alive_again:
        look(book, 15, running)
        assert (book.jobs[KEY].outcome, book.jobs[KEY].state) == (None, JobState.TRAINING)
    for at in (25, 30):
        look(book, at, over(Outcome.FAILED, 20, FIRST))
    assert counted(book, "jobs_ended") == {"failed": 1}
    assert counted(book, "attempts_ended") == {"failed": 1}
    assert counted(book, "jobs_forgotten") == {"job": 1}, "counters do not go back"
    assert sum(book.jobs[KEY].seconds.values()) == pytest.approx(20)


def test_an_end_that_was_told_in_error_is_counted_once(book: Book) -> None:
    look(book, 5, job(attempts=(Attempt(0, T0),)))
    look(book, 25, over(Outcome.SUCCEEDED, 20, replace(FIRST, outcome=Outcome.SUCCEEDED)))
    look(book, 30, job(attempts=(Attempt(0, T0),)))
    assert book.jobs[KEY].outcome is None
    for at in (45, 50):
        look(book, at, over(Outcome.FAILED, 40, replace(FIRST, ended=T0 + 40)))
    assert book.jobs[KEY].outcome is Outcome.FAILED
    assert counted(book, "jobs_ended") == {"succeeded": 1}
    assert counted(book, "attempts_ended") == {"succeeded": 1}
    assert counted(book, "interruptions") == {"workload": 1}
    assert sum(book.jobs[KEY].seconds.values()) == pytest.approx(40)


def test_what_was_over_stays_so_through_a_restart_of_the_collector(tmp_path: Path) -> None:
    file = tmp_path / "book"
    story = [
        (-10, ()), (5, (job(attempts=(Attempt(0, T0),)),)), (10, ()), (25, (over(Outcome.FAILED, 20, FIRST),)),
        (40, (job(attempts=(FIRST, Attempt(1, T0 + 35))),)),
        (60, (over(Outcome.FAILED, 50, FIRST, replace(FIRST, number=1, started=T0 + 35, ended=T0 + 50)),)),
        (70, (over(Outcome.FAILED, 50, FIRST, replace(FIRST, number=1, started=T0 + 35, ended=T0 + 50)),)),
    ]  # fmt: skip
    for at, jobs in story:
        store = Store(file)
        book = Book(store, classify, trigger_of)
        look(book, at, *jobs)
        store.close()
    assert counted(book, "jobs_ended") == {"failed": 2}
    assert counted(book, "attempts_ended") == {"failed": 2}
    assert counted(book, "restarts") == {"app_error": 1}

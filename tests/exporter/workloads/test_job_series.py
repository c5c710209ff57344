"""Series of single jobs: how often one began anew, since when it stands still, and how it ended."""

from collections.abc import Iterator

import pytest
from tests.exporter.workloads.test_book import T0, classify, ended, job, look, trigger_of, values

from gpuscope.workloads.book import Book
from gpuscope.workloads.job_series import steady_state
from gpuscope.workloads.observation import Attempt, JobState, Observation, Outcome, Progress
from gpuscope.workloads.store import Store

ONE = ("slurm", "", "llama", "1")


@pytest.fixture
def book() -> Iterator[Book]:
    store = Store(None)
    one = Book(store, classify, trigger_of)
    one.apply(Observation("slurm", T0 - 10))
    yield one
    store.close()


def restarts(book: Book) -> list[float]:
    return [sample.value for sample in book.job_series() if sample.metric.name.endswith("job_restarts_total")]


def test_restarts_of_a_job_begin_at_0_and_rise_with_its_attempts(book: Book) -> None:
    look(book, T0 + 5, job(attempts=(Attempt(0, T0),)))
    assert restarts(book) == [0.0]
    first = ended(0, T0 + 10, Outcome.INTERRUPTED, "node_down")
    look(book, T0 + 20, job(attempts=(first, Attempt(1, T0 + 19))))
    assert restarts(book) == [1.0]


def test_progress_has_a_time_while_all_ranks_run(book: Book) -> None:
    def at(seconds: float, step: float, state: JobState = JobState.TRAINING) -> dict[tuple[str, ...], float]:
        look(book, T0 + seconds, job(state=state, attempts=(Attempt(0, T0),), progress=Progress(T0, step=step)))
        return values(book, "job_progress_timestamp_seconds")

    assert at(0, 0, JobState.INITIALIZING) == {}
    assert at(10, 1) == {ONE: T0 + 10}
    assert at(20, 2) == {ONE: T0 + 20}
    assert at(30, 2) == {ONE: T0 + 20}
    assert at(40, 2, JobState.RECOVERING) == {}


def test_a_job_that_reports_nothing_has_no_time_of_progress(book: Book) -> None:
    look(book, T0 + 5, job(attempts=(Attempt(0, T0),)))
    assert values(book, "job_progress_timestamp_seconds") == {}


def test_the_end_of_a_job_says_how_and_by_what(book: Book) -> None:
    look(book, T0 + 5, job(attempts=(Attempt(0, T0),)))
    assert values(book, "job_end_timestamp_seconds") == {}
    last = ended(0, T0 + 12, Outcome.INTERRUPTED, "node_down")
    look(book, T0 + 15, job(outcome=Outcome.INTERRUPTED, ended=T0 + 12, attempts=(last,)))
    found = values(book, "job_end_timestamp_seconds")
    assert found == {(*ONE, "interrupted", "node_down", "infrastructure"): T0 + 12}


def test_a_job_that_succeeds_in_the_end_met_nothing(book: Book) -> None:
    attempts = (ended(0, T0 + 3, Outcome.INTERRUPTED, "node_down"), ended(1, T0 + 8, Outcome.SUCCEEDED))
    look(book, T0 + 60, job(outcome=Outcome.SUCCEEDED, ended=T0 + 8, attempts=attempts))
    assert values(book, "job_end_timestamp_seconds") == {(*ONE, "succeeded", "", ""): T0 + 8}


def test_what_the_series_depend_on_changes_with_them(book: Book) -> None:
    look(book, T0 + 5, job(attempts=(Attempt(0, T0),), progress=Progress(T0, step=1)))
    (record,) = book.shown()
    before = steady_state(record)
    first = ended(0, T0 + 10, Outcome.INTERRUPTED, "node_down")
    look(book, T0 + 20, job(attempts=(first, Attempt(1, T0 + 19)), progress=Progress(T0, step=1)))
    assert steady_state(record) != before

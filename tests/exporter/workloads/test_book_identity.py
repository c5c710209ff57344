"""Jobs of Slurm that have the same id, one after the other; and a state file that knew no more than ids."""

import logging
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpuscope.catalogue import training as m
from gpuscope.errors import ConfigError
from gpuscope.workloads.book import Book
from gpuscope.workloads.fault import Classification, Domain, Scope, Trigger
from gpuscope.workloads.observation import Attempt, JobFacts, JobKey, JobState, Observation, ObservedJob, Outcome
from gpuscope.workloads.store import Store

T0 = 1_796_035_000
FACTS = JobFacts("llama", "job", team="nlp", queue="h100", user="eve", gpus=16)
FORMAT_1 = (Path(__file__).parent / "book_format_1.sql").read_text(encoding="utf-8")


def classify(attempt: Attempt) -> Classification:
    return Classification("off_bus", Domain.INFRASTRUCTURE, Scope.NODE, "high", "as told")


def trigger_of(job: ObservedJob, attempt: Attempt) -> Trigger:
    return Trigger.AUTOMATIC


def job(submitted: int, state: JobState = JobState.TRAINING, **fields) -> ObservedJob:
    key = JobKey("slurm", "", "42", submitted)
    return ObservedJob(key, fields.pop("facts", FACTS), float(submitted), state, **fields)


def total(book: Book, metric) -> float:
    return sum(sample.value for sample in book.samples() if sample.metric is metric)


def labels_of(book: Book, metric) -> list[tuple[str, ...]]:
    return [sample.labels for sample in book.samples() if sample.metric is metric]


@pytest.fixture
def book() -> Iterator[Book]:
    store = Store(None)
    one = Book(store, classify, trigger_of)
    one.apply(Observation("slurm", T0 - 10.0))
    yield one
    store.close()


@pytest.mark.parametrize("name", ["llama", "mistral"])
def test_an_id_that_is_used_again_continues_nothing(book: Book, name: str) -> None:
    other = JobFacts(name, "job", team="vision", queue="h100", user="bob", gpus=8)
    ended = Attempt(0, T0, T0, T0 + 20.0, Outcome.FAILED, ("n1",))
    book.apply(Observation("slurm", T0 + 21.0, [job(T0, outcome=Outcome.FAILED, ended=T0 + 20.0, attempts=(ended,))]))
    again = job(T0 + 30, facts=other, attempts=(Attempt(0, T0 + 31.0, T0 + 31.0, nodes=("n1",)),))
    book.apply(Observation("slurm", T0 + 60.0, [again]))
    assert total(book, m.JOBS_CREATED) == 2
    assert total(book, m.JOBS_ENDED) == 1
    assert total(book, m.RESTARTS) == 0
    assert [record.outcome for record in book.jobs.values()] == [Outcome.FAILED, None]
    # Labels tell no more than the id: two series with the same would spoil the scrape.
    (info,) = labels_of(book, m.JOB_INFO)
    assert info[2:5] == (name, "42", "vision")
    series = [(sample.metric.name, sample.labels) for sample in book.samples()]
    assert len(series) == len(set(series))


def test_an_id_that_is_used_again_while_nobody_looked_leaves_the_old_end_unknown(book: Book) -> None:
    book.apply(Observation("slurm", T0 + 1.0, [job(T0, attempts=(Attempt(0, float(T0)),))]))
    # Slurm answers only in part at first, so that the old job may yet be there.
    fresh = job(T0 + 30, JobState.QUEUED)
    book.apply(Observation("slurm", T0 + 60.0, [fresh], complete=False))
    (alive,) = labels_of(book, m.JOBS)
    assert (alive[-1], total(book, m.JOBS)) == ("queued", 1)
    book.apply(Observation("slurm", T0 + 120.0, [fresh]))
    assert total(book, m.FORGOTTEN) == 1
    assert [record.outcome for record in book.jobs.values()] == [Outcome.UNKNOWN, None]


def test_a_state_file_of_format_1_is_continued(tmp_path: Path) -> None:
    file = tmp_path / "book"
    with sqlite3.connect(file) as old:
        old.executescript(FORMAT_1)
    old.close()
    submitted = T0 + 110
    for look in range(2):  # the second time it is of the present format
        store = Store(file)
        book = Book(store, classify, trigger_of)
        assert set(book.jobs) == {JobKey("kubernetes", "ml", "0c8a"), JobKey("slurm", "", "42", submitted)}
        attempts = (Attempt(1, T0 + 170.0, nodes=("n1",)),)
        book.apply(Observation("slurm", T0 + 200.0 + look, [job(submitted, attempts=attempts)]))
        assert (total(book, m.JOBS_CREATED), total(book, m.FORGOTTEN), total(book, m.RESTARTS)) == (2, 0, 1)
        assert len(book.jobs[JobKey("slurm", "", "42", submitted)].episodes) == 1
        store.close()


def test_a_record_of_format_1_that_cannot_be_read_costs_only_itself(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "book"
    with sqlite3.connect(file) as old:
        old.executescript(FORMAT_1)
        old.execute("UPDATE jobs SET record = '{}' WHERE key LIKE '%slurm%'")
    old.close()
    store = Store(file)
    with caplog.at_level(logging.WARNING):
        assert list(store.jobs()) == [JobKey("kubernetes", "ml", "0c8a")]
    assert "cannot be read" in caplog.text
    store.close()


def test_a_change_of_format_that_fails_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "book"
    with sqlite3.connect(path) as file:
        file.executescript(FORMAT_1)
        file.execute("DROP TABLE jobs")
        file.execute("CREATE TABLE jobs (id TEXT)")
    file.close()
    with pytest.raises(ConfigError, match=str(path)):
        Store(path)
    with sqlite3.connect(path) as file:
        assert file.execute("PRAGMA user_version").fetchone() == (1,)
    file.close()

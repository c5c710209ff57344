"""The state file: what cannot be written is not lost, and what is no state file is told."""

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gpuscope.errors import ConfigError, StateError
from gpuscope.workloads.book import Book
from gpuscope.workloads.fault import Classification, Domain, Scope, Trigger
from gpuscope.workloads.observation import Attempt, JobFacts, JobKey, JobState, Observation, ObservedJob, Outcome
from gpuscope.workloads.store import Store

T0 = 1_796_035_000.0
DAY = 24 * 3600.0


def open_book(store: Store) -> Book:
    what = Classification("app_error", Domain.WORKLOAD, Scope.JOB, "high", "as told")
    return Book(store, lambda attempt: what, lambda job, attempt: Trigger.UNKNOWN)


def job(number: int, **fields) -> ObservedJob:
    facts = JobFacts("llama", "job", team="nlp", gpus=8)
    attempts = (Attempt(0, T0, ended=fields.get("ended"), outcome=fields.get("outcome")),)
    return ObservedJob(JobKey("slurm", "", str(number)), facts, T0, JobState.TRAINING, attempts, **fields)


def told(book: Book) -> dict[tuple[str, tuple[str, ...]], float]:
    return {(one.metric.name, one.labels): one.value for one in book.samples()}


@pytest.fixture
def full(tmp_path: Path) -> Iterator[tuple[Path, Callable[[], None], Callable[[], None]]]:
    """A state file with a way to make its disk full, as SQLite sees it, and a way to make room."""
    file = tmp_path / "state"
    Store(file).close()
    other = sqlite3.connect(file, isolation_level=None, timeout=0.1)

    def fill() -> None:
        other.execute(
            "CREATE TRIGGER full BEFORE UPDATE ON sources BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END"
        )

    yield file, fill, lambda: other.execute("DROP TRIGGER full")
    other.close()


def test_nothing_of_a_look_that_could_not_be_written_is_lost(full) -> None:
    file, fill, free = full
    store = Store(file)
    book = open_book(store)
    book.apply(Observation("slurm", T0 - 10))
    book.apply(Observation("slurm", T0 + 1, [job(1), job(2)]))
    fill()
    for at, jobs in (
        (10, [job(1, outcome=Outcome.FAILED, ended=T0 + 5), job(2), job(3)]),
        (20, [job(2), job(3)]),
    ):
        with pytest.raises(StateError, match=f"--state-file {file}: database or disk is full"):
            book.apply(Observation("slurm", T0 + at, jobs))
    free()
    book.apply(Observation("slurm", T0 + 30, [job(2), job(3)]))
    before = told(book)
    store.close()
    store = Store(file)
    assert told(open_book(store)) == before
    store.close()
    assert sum(value for (name, _), value in before.items() if name.endswith("jobs_created_total")) == 3
    assert sum(value for (name, _), value in before.items() if name.endswith("jobs_ended_total")) == 1


def test_a_job_that_was_forgotten_while_nothing_could_be_written_does_not_come_back(full) -> None:
    file, fill, free = full
    store = Store(file)
    book = open_book(store)
    book.apply(Observation("slurm", T0 - 10))
    book.apply(Observation("slurm", T0 + 10, [job(1, outcome=Outcome.FAILED, ended=T0 + 5)]))
    fill()
    with pytest.raises(StateError):
        book.apply(Observation("slurm", T0 + 2 * DAY))
    free()
    book.flush()
    store.close()
    store = Store(file)
    assert store.jobs() == {}
    assert store.sources() == {"slurm": (T0 - 10, T0 + 2 * DAY)}
    store.close()


def test_a_file_that_another_program_holds_is_written_when_it_is_free(full) -> None:
    """The commit itself fails, so that the transaction has to be ended before the next one can begin."""
    file, _, _ = full
    store = Store(file)
    store._file.execute("PRAGMA busy_timeout=50")
    book = open_book(store)
    book.apply(Observation("slurm", T0 - 10))
    other = sqlite3.connect(file, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StateError, match="locked"):
        book.apply(Observation("slurm", T0 + 1, [job(1)]))
    other.execute("ROLLBACK")
    other.close()
    book.apply(Observation("slurm", T0 + 2, [job(1)]))
    assert told(book)
    store.close()
    store = Store(file)
    assert sum(store.counters()["gpuscope_training_jobs_created_total"].values()) == 1
    store.close()


def test_a_file_that_was_taken_away_is_told(tmp_path: Path) -> None:
    file = tmp_path / "state"
    store = Store(file)
    book = open_book(store)
    book.apply(Observation("slurm", T0))
    file.unlink()
    with pytest.raises(StateError, match=f"--state-file {file}: .*No such file"):
        book.apply(Observation("slurm", T0 + 1))
    Store(file).close()
    with pytest.raises(StateError, match="replaced by another file"):
        book.apply(Observation("slurm", T0 + 2))
    store.close()


def foreign_table(file: Path) -> str:
    with sqlite3.connect(file) as raw:
        raw.execute("CREATE TABLE jobs (id INTEGER PRIMARY KEY, title TEXT)")
    raw.close()
    return "is an SQLite file of something else"


def foreign(file: Path) -> str:
    with sqlite3.connect(file) as raw:
        raw.execute("CREATE TABLE users (id INTEGER)")
    raw.close()
    return "is an SQLite file of something else"


def damaged(file: Path) -> str:
    store = Store(file)
    book = open_book(store)
    book.apply(Observation("slurm", T0 - 10))
    book.apply(Observation("slurm", T0, [job(number) for number in range(200)]))
    store.close()
    content = file.read_bytes()
    assert len(content) > 3 * 4096
    file.write_bytes(content[:4096] + b"\x5a" * (len(content) - 4096))
    return "malformed|damaged"


def cut(file: Path) -> str:
    word = damaged(file)
    file.write_bytes(file.read_bytes()[:6000])
    return word


@pytest.mark.parametrize("spoil", [foreign, foreign_table, damaged, cut])
def test_a_file_of_something_else_or_with_damage_is_refused_and_left_alone(spoil, tmp_path: Path) -> None:
    file = tmp_path / "state"
    word = spoil(file)
    before = file.read_bytes()
    with pytest.raises(ConfigError, match=f"--state-file {file}: .*({word})"):
        Store(file)
    assert file.read_bytes() == before


def test_a_counter_that_cannot_be_read_costs_only_itself(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = tmp_path / "state"
    store = Store(file)
    book = open_book(store)
    book.apply(Observation("slurm", T0 - 10))
    book.apply(Observation("slurm", T0, [job(1)]))
    store.close()
    with sqlite3.connect(file) as raw:
        raw.execute("INSERT INTO counters VALUES ('gpuscope_x_total', 'no list', 1)")
        raw.execute("INSERT INTO counters VALUES ('gpuscope_x_total', '[\"a\"]', 'no number')")
    raw.close()
    store = Store(file)
    assert "gpuscope_training_jobs_created_total" in store.counters()
    assert "gpuscope_x_total" not in {name for name, values in store.counters().items() if values}
    assert "cannot be read" in caplog.text
    store.close()


def test_damage_while_it_is_used_is_told_with_the_file(tmp_path: Path) -> None:
    file = tmp_path / "state"
    store = Store(file)
    with sqlite3.connect(file) as other:
        other.executemany("INSERT INTO jobs VALUES (?, ?)", ((str(one), "{}" * 200) for one in range(200)))
    other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    other.close()
    content = file.read_bytes()
    file.write_bytes(content[:4096] + b"\x5a" * (len(content) - 4096))
    with pytest.raises(ConfigError, match=f"--state-file {file}: .*malformed"):
        store.jobs()
    with pytest.raises(StateError, match=f"--state-file {file}: .*malformed"):
        store.write({}, (), (JobKey("slurm", "", "1"),), [("slurm", T0, T0)])
    store.close()

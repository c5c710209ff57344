"""The book counts what happened, once, whenever and however often it looks."""

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuscope.catalogue import training as m
from gpuscope.errors import ConfigError
from gpuscope.workloads.book import KEEP_S, Book
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
    Progress,
)
from gpuscope.workloads.record import read_record, write_record
from gpuscope.workloads.store import Store
from gpuscope.workloads.timeline import MAX_GAP_S

T0 = 1_000_000.0
FACTS = JobFacts("llama", "slurm", team="nlp", queue="h100", user="eve", gpus=16)
OWNER = ("slurm", "", "nlp", "h100", "slurm")


def classify(attempt: Attempt) -> Classification:
    """The fault is what the evidence calls it."""
    word = attempt.evidence.state or "unknown"
    domain = Domain.PLANNED if word == "planned" else Domain.INFRASTRUCTURE
    return Classification(word, domain, Scope.NODE, "high", "as told")


def trigger_of(job: ObservedJob, attempt: Attempt) -> Trigger:
    return Trigger.AUTOMATIC


def job(number: int = 1, state: JobState = JobState.TRAINING, **fields) -> ObservedJob:
    return ObservedJob(JobKey("slurm", "", str(number)), FACTS, fields.pop("created", T0), state, **fields)


def ended(number: int, at: float, outcome: Outcome, word: str = "") -> Attempt:
    return Attempt(number, T0, T0, at, outcome, ("n1",), Evidence(state=word))


@pytest.fixture
def book() -> Iterator[Book]:
    store = Store(None)
    one = Book(store, classify, trigger_of)
    one.apply(Observation("slurm", T0 - 10))  # it has looked before, so that what comes now is new
    yield one
    store.close()


def look(book: Book, at: float, *jobs: ObservedJob, complete: bool = True) -> None:
    book.apply(Observation("slurm", at, jobs, complete=complete))


def values(book: Book, name: str) -> dict[tuple[str, ...], float]:
    """Series of a metric; of a counter those that counted something."""
    found = [sample for sample in book.samples() if sample.metric.name == f"gpuscope_training_{name}"]
    return {labels: value for metric, labels, value in found if value or not name.endswith("_total")}


def total(book: Book, name: str) -> float:
    return sum(values(book, name).values())


def test_a_job_that_succeeds_is_counted_once_however_often_it_is_seen(book: Book) -> None:
    for at in (0, 5, 10):
        look(book, T0 + at, job(attempts=(Attempt(0, T0),)))
    done = job(outcome=Outcome.SUCCEEDED, ended=T0 + 12, attempts=(ended(0, T0 + 12, Outcome.SUCCEEDED),))
    for at in (15, 20, 25):
        look(book, T0 + at, done)
    assert values(book, "jobs_created_total") == {OWNER: 1}
    assert values(book, "jobs_ended_total") == {(*OWNER, "succeeded"): 1}
    assert values(book, "attempts_ended_total") == {(*OWNER, "succeeded"): 1}
    assert values(book, "faults_total") == {}
    assert total(book, "state_seconds_total") == 12
    assert values(book, "gpu_seconds_total") == {("slurm", "", "nlp", "h100", "training"): 12 * 16}


def test_what_can_be_foreseen_of_an_owner_is_0_before_it_counts(book: Book) -> None:
    def zeros() -> dict[str, int]:
        return Counter(sample.metric.name.removeprefix("gpuscope_training_") for sample in book.counters())

    foreseen = {
        "jobs_created_total": 1, "jobs_ended_total": 7, "jobs_forgotten_total": 1, "attempts_ended_total": 7,
        "restarts_total": 3, "faults_total": 1, "interruptions_total": 5,
    }  # fmt: skip
    old = job(created=T0 - 50)
    look(book, T0 - 5, old)
    assert zeros() == foreseen
    look(book, T0 - 4, old, job(2, created=T0 - 50))
    assert zeros() == foreseen
    look(book, T0 - 3, replace(old, facts=replace(FACTS, queue="a100")), job(2, created=T0 - 50))
    assert zeros() == {name: count * (1 if name.startswith(("f", "i")) else 2) for name, count in foreseen.items()}
    assert not any(sample.value for sample in book.counters())


def test_a_state_is_0_seconds_old_when_it_is_first_seen(book: Book) -> None:
    look(book, T0 - 5, job(state=JobState.QUEUED, created=T0 - 50))
    look(book, T0, job(created=T0 - 50))
    told = {sample.labels[-1]: sample.value for sample in book.job_series() if sample.metric is m.STATE_SECONDS}
    assert told == {"queued": 5, "training": 0}


def test_a_job_nobody_saw_alive_is_counted_from_what_the_scheduler_remembers(book: Book) -> None:
    attempts = (ended(0, T0 + 3, Outcome.INTERRUPTED, "node_down"), ended(1, T0 + 8, Outcome.SUCCEEDED))
    look(book, T0 + 60, job(outcome=Outcome.SUCCEEDED, ended=T0 + 8, attempts=attempts))
    assert total(book, "jobs_created_total") == 1
    assert values(book, "restarts_total") == {(*OWNER, "automatic", "node_down"): 1}
    assert values(book, "faults_total") == {("slurm", "", "nlp", "node_down", "infrastructure", "node"): 1}
    assert total(book, "state_seconds_total") == 8


def test_a_restart_names_the_fault_that_led_to_it(book: Book) -> None:
    first = ended(0, T0 + 10, Outcome.INTERRUPTED, "off_bus")
    look(book, T0 + 5, job(attempts=(Attempt(0, T0),)))
    look(book, T0 + 12, job(state=JobState.RECOVERING, attempts=(first,)))
    look(book, T0 + 20, job(attempts=(first, Attempt(1, T0 + 19))))
    second = ended(1, T0 + 30, Outcome.FAILED, "app_error")
    look(book, T0 + 35, job(attempts=(first, second)))
    look(book, T0 + 40, job(attempts=(first, second, Attempt(2, T0 + 39))))
    assert values(book, "restarts_total") == {
        (*OWNER, "automatic", "off_bus"): 1,
        (*OWNER, "automatic", "app_error"): 1,
    }
    assert total(book, "faults_total") == 2


def test_gpus_are_held_while_an_attempt_goes_on_and_not_in_the_queue(book: Book) -> None:
    first = ended(0, T0 + 10, Outcome.INTERRUPTED, "off_bus")
    look(book, T0, job(state=JobState.QUEUED))
    look(book, T0 + 4, job(attempts=(Attempt(0, T0 + 4),)))
    look(book, T0 + 10, job(state=JobState.RECOVERING, attempts=(first,)))
    look(book, T0 + 50, job(attempts=(first, Attempt(1, T0 + 50))))
    assert values(book, "gpu_seconds_total") == {("slurm", "", "nlp", "h100", "training"): 6 * 16}


def test_a_job_tells_since_when_it_is_in_its_state_and_its_last_fault(book: Book) -> None:
    key, first = JobKey("slurm", "", "1"), Attempt(0, T0 + 5, None, nodes=("n1",))
    look(book, T0 + 1, job(state=JobState.QUEUED))
    assert book.jobs[key].since == T0
    look(book, T0 + 10, job(attempts=(first,)))
    assert book.jobs[key].since == T0 + 5
    struck = replace(first, ended=T0 + 18, outcome=Outcome.INTERRUPTED, evidence=Evidence(state="node_lost"))
    look(book, T0 + 20, job(state=JobState.RECOVERING, attempts=(struck,)))
    assert book.jobs[key].since == T0 + 18
    look(book, T0 + 30, job(attempts=(struck, Attempt(1, T0 + 25, T0 + 27))))
    assert (book.jobs[key].since, book.jobs[key].last_fault) == (T0 + 27, "node_lost")
    again = replace(struck, number=1, started=T0 + 25, ended=T0 + 33)
    look(book, T0 + 40, job(attempts=(struck, again, Attempt(2, T0 + 35))))
    assert book.jobs[key].since == T0 + 35, "it ran at both looks, and not the same attempt"
    look(book, T0 + 50, job(state=JobState.SUSPENDED, attempts=(struck, again, Attempt(2, T0 + 35))))
    assert book.jobs[key].since == T0 + 50, "nobody says when, so when it was seen"
    assert read_record(write_record(book.jobs[key])) == book.jobs[key]


def test_restarts_from_before_the_first_look_stand_in_the_row_and_are_not_counted() -> None:
    store = Store(None)
    book = Book(store, classify, trigger_of)
    first = ended(0, T0 - 90, Outcome.INTERRUPTED, "node_lost")
    look(book, T0, job(created=T0 - 200, attempts=(first, Attempt(1, T0 - 50, T0 - 50))))
    record = book.jobs[JobKey("slurm", "", "1")]
    assert (record.restarts, record.since) == (1, T0 - 50)
    assert total(book, "gpuscope_training_restarts_total") == 0
    store.close()


def test_a_planned_end_is_no_fault(book: Book) -> None:
    preempted = ended(0, T0 + 10, Outcome.PREEMPTED, "planned")
    look(book, T0 + 12, job(attempts=(preempted,)))
    assert values(book, "attempts_ended_total") == {(*OWNER, "preempted"): 1}
    assert values(book, "faults_total") == {}


def test_what_was_over_before_the_first_look_is_not_counted() -> None:
    book = Book(Store(None), classify, trigger_of)
    over = ended(0, T0 - 50, Outcome.INTERRUPTED, "node_down")
    look(
        book,
        T0,
        job(1, created=T0 - 100, outcome=Outcome.FAILED, ended=T0 - 20, attempts=(over,)),
        job(2, created=T0 - 100, attempts=(over, Attempt(1, T0 - 30))),
    )
    look(book, T0 + 5, job(2, created=T0 - 100, attempts=(over, Attempt(1, T0 - 30))))
    for name in ("jobs_created", "jobs_ended", "attempts_ended", "restarts", "faults"):
        assert total(book, f"{name}_total") == 0, name
    assert values(book, "jobs") == {("slurm", "", "nlp", "h100", "training"): 1}


def test_a_job_that_vanishes_is_forgotten_and_not_failed(book: Book) -> None:
    look(book, T0 + 5, job())
    look(book, T0 + 10, complete=False)
    assert total(book, "jobs_forgotten_total") == 0, "an incomplete answer proves nothing"
    assert total(book, "jobs") == 1
    look(book, T0 + 15)
    assert values(book, "jobs_forgotten_total") == {OWNER: 1}
    assert total(book, "jobs_ended_total") == 0
    assert total(book, "jobs") == 0


def test_another_scheduler_s_silence_touches_no_job_of_ours(book: Book) -> None:
    look(book, T0 + 5, job())
    book.apply(Observation("kubernetes", T0 + 10))
    assert total(book, "jobs") == 1
    assert total(book, "jobs_forgotten_total") == 0


def test_a_long_gap_is_unknown(book: Book) -> None:
    look(book, T0 + 1, job())
    look(book, T0 + 1 + MAX_GAP_S + 1, job())
    seconds = {labels[-1]: value for labels, value in values(book, "state_seconds_total").items()}
    assert seconds == {"training": 1.0, "unknown": MAX_GAP_S + 1}


def test_series_of_a_job_end_a_day_after_it_and_it_is_not_counted_again(book: Book) -> None:
    done = job(outcome=Outcome.FAILED, ended=T0 + 10)
    look(book, T0 + 10, done)
    assert len(values(book, "job_info")) == 1
    for day in (1.01, 2, 3):
        look(book, T0 + 10 + day * KEEP_S, done)  # sacct lists it for months
    assert values(book, "job_info") == {}
    assert total(book, "jobs_ended_total") == 1
    assert len(book.jobs) == 1
    look(book, T0 + 4 * KEEP_S)
    assert book.jobs == {}


def test_progress_is_told_while_the_job_lives(book: Book) -> None:
    look(book, T0 + 1, job(progress=Progress(T0, ratio=0.25, remaining_s=600.0)))
    look(book, T0 + 2, job())
    assert list(values(book, "job_progress_ratio").values()) == [0.25]
    assert list(values(book, "job_remaining_seconds").values()) == [600.0]
    assert values(book, "job_step") == {}
    look(book, T0 + 3, job(outcome=Outcome.SUCCEEDED, ended=T0 + 3))
    assert values(book, "job_progress_ratio") == {}


def test_exactly_one_state_holds(book: Book) -> None:
    look(book, T0 + 1, job(state=JobState.QUEUED))
    assert {labels[-1]: value for labels, value in values(book, "job_state").items() if value} == {"queued": 1}
    assert len(values(book, "job_state")) == len(JobState)


def test_a_restart_of_the_collector_loses_and_repeats_nothing(tmp_path: Path) -> None:
    file = tmp_path / "book.sqlite"
    first = ended(0, T0 + 10, Outcome.INTERRUPTED, "off_bus")
    story = [
        (0, job(attempts=(Attempt(0, T0),))),
        (12, job(state=JobState.RECOVERING, attempts=(first,))),
        (20, job(attempts=(first, Attempt(1, T0 + 19)), progress=Progress(T0 + 19, ratio=0.5))),
        (30, job(outcome=Outcome.SUCCEEDED, ended=T0 + 28, attempts=(first, ended(1, T0 + 28, Outcome.SUCCEEDED)))),
    ]
    without = Book(Store(None), classify, trigger_of)
    look(without, T0 - 1)
    for at, seen in story:
        look(without, T0 + at, seen)
    store = Store(file)
    look(Book(store, classify, trigger_of), T0 - 1)
    store.close()
    for at, seen in story:
        store = Store(file)
        restarted = Book(store, classify, trigger_of)
        look(restarted, T0 + at, seen)
        told = sorted(restarted.samples(), key=lambda sample: (sample.metric.name, sample.labels))
        store.close()
    assert told == sorted(without.samples(), key=lambda sample: (sample.metric.name, sample.labels))


STEPS = st.lists(
    st.tuples(st.sampled_from(list(JobState)), st.floats(0.5, 200.0), st.booleans(), st.booleans()),
    min_size=1, max_size=25,
)  # fmt: skip


@given(STEPS)
@settings(max_examples=60)
def test_time_and_attempts_add_up_whatever_happens(steps) -> None:
    store = Store(None)
    book = Book(store, classify, trigger_of)
    look(book, T0 - 1)
    now, attempts, interrupted = T0, [Attempt(0, T0)], 0
    look(book, now, job(attempts=tuple(attempts)))
    for state, passed, interrupt, again in steps:
        now += passed
        if interrupt:
            attempts[-1] = replace(attempts[-1], ended=now, outcome=Outcome.INTERRUPTED)
            attempts.append(Attempt(len(attempts), now))
            interrupted += 1
        look(book, now, job(state=state, attempts=tuple(attempts)))
        if again:
            look(book, now, job(state=state, attempts=tuple(attempts)))
    assert total(book, "state_seconds_total") == pytest.approx(now - T0)
    assert total(book, "attempts_ended_total") == interrupted
    assert total(book, "restarts_total") == interrupted
    store.close()


def broken(path: Path) -> None:
    path.write_bytes(b"no database at all, but long enough to be looked at" * 40)


def later(path: Path) -> None:
    with sqlite3.connect(path) as file:
        file.execute("PRAGMA user_version=99")


@pytest.mark.parametrize("spoil", [broken, later, Path.mkdir])
def test_a_file_that_cannot_be_used_is_named(spoil: Callable[[Path], object], tmp_path: Path) -> None:
    file = tmp_path / "book.sqlite"
    spoil(file)
    with pytest.raises(ConfigError, match=str(file)):
        Store(file)


def test_one_unreadable_job_costs_that_job(tmp_path: Path, caplog) -> None:
    file = tmp_path / "book.sqlite"
    store = Store(file)
    book = Book(store, classify, trigger_of)
    look(book, T0 - 1)
    look(book, T0, job(1), job(2))
    store.close()
    with sqlite3.connect(file) as raw:
        raw.execute("UPDATE jobs SET record = '{}' WHERE key LIKE '%\"1\"%'")
    raw.close()
    store = Store(file)
    assert [key.uid for key in Book(store, classify, trigger_of).jobs] == ["2"]
    assert "cannot be read" in caplog.text
    store.close()

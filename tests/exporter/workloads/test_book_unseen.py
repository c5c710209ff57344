"""Restarts that happened while nobody looked: the number of a later attempt says that there were some."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from gpuscope.workloads.attempts import UNSEEN_AFTER_S
from gpuscope.workloads.book import Book
from gpuscope.workloads.fault import Classification, Domain, Scope, Trigger
from gpuscope.workloads.observation import Attempt, JobFacts, JobKey, JobState, Observation, ObservedJob, Outcome
from gpuscope.workloads.store import Store

T0 = 1_796_035_000.0
KEY = JobKey("slurm", "", "6", int(T0))
FACTS = JobFacts("llama", "job", team="nlp", queue="h100", gpus=8)


def open_book(store: Store) -> Book:
    what = Classification("node_down", Domain.INFRASTRUCTURE, Scope.NODE, "high", "as told")
    return Book(store, lambda attempt: what, lambda job, attempt: Trigger.AUTOMATIC)


@pytest.fixture
def book() -> Iterator[Book]:
    store = Store(None)
    one = open_book(store)
    one.apply(Observation("slurm", T0 - 10))
    yield one
    store.close()


def interrupted(number: int, at: float) -> Attempt:
    return Attempt(number, T0 + at - 5, None, T0 + at, Outcome.INTERRUPTED, ("n1",))


def job(*attempts: Attempt, state: JobState = JobState.TRAINING, created: float = T0, **fields) -> ObservedJob:
    return ObservedJob(KEY, FACTS, created, state, attempts, **fields)


def look(book: Book, at: float, *jobs: ObservedJob) -> None:
    book.apply(Observation("slurm", T0 + at, jobs))


def counted(book: Book, name: str) -> dict[str, float]:
    found = [one for one in book.counters() if one.metric.name == f"gpuscope_training_{name}_total" and one.value]
    return {one.labels[-1]: one.value for one in found}


def test_restarts_that_nobody_saw_are_counted_as_unknown(book: Book) -> None:
    seen = job(interrupted(4, 40), Attempt(5, T0 + 41))
    look(book, 50, seen)
    assert book.jobs[KEY].restarts == 5, "Slurm says so"
    assert counted(book, "restarts") == {"node_down": 1}
    look(book, 50 + UNSEEN_AFTER_S - 1, seen)
    assert counted(book, "restarts") == {"node_down": 1}, "slurmdbd may yet tell of the others"
    for later in (0, 15, 30):
        look(book, 50 + UNSEEN_AFTER_S + later, seen)
    assert counted(book, "restarts") == {"node_down": 1, "unknown": 4}
    assert counted(book, "attempts_ended") == {"interrupted": 1, "unknown": 4}
    assert counted(book, "interruptions") == {"infrastructure": 1, "unknown": 4}
    assert counted(book, "faults") == {"node": 1, "unknown": 4}
    assert book.jobs[KEY].gap_since is None


def test_attempts_that_slurmdbd_tells_later_are_counted_as_what_they_were(book: Book) -> None:
    look(book, 50, job(interrupted(2, 40), Attempt(3, T0 + 41)))
    every = job(interrupted(0, 10), interrupted(1, 20), interrupted(2, 40), Attempt(3, T0 + 41))
    for at in (60, 90, 60 + UNSEEN_AFTER_S, 90 + UNSEEN_AFTER_S):
        look(book, at, every)
    assert counted(book, "restarts") == {"node_down": 3}
    assert counted(book, "attempts_ended") == {"interrupted": 3}
    assert book.jobs[KEY].restarts == 3


@pytest.mark.parametrize("told", [False, True])
def test_a_job_that_ended_meanwhile_is_no_different(book: Book, told: bool) -> None:
    over = {"outcome": Outcome.SUCCEEDED, "ended": T0 + 60}
    last = Attempt(3, T0 + 41, None, T0 + 60, Outcome.SUCCEEDED)
    look(book, 65, job(interrupted(2, 40), last, **over))
    if told:
        look(book, 75, job(interrupted(0, 10), interrupted(1, 20), interrupted(2, 40), last, **over))
    for at in (80, 70 + UNSEEN_AFTER_S, 90 + UNSEEN_AFTER_S):
        look(book, at, job(interrupted(2, 40), last, **over))
    assert counted(book, "restarts") == ({"node_down": 3} if told else {"node_down": 1, "unknown": 2})
    assert sum(counted(book, "attempts_ended").values()) == 4


def test_restarts_of_before_the_first_look_are_shown_and_not_counted() -> None:
    store = Store(None)
    book = open_book(store)
    waits = job(interrupted(4, 40), state=JobState.RECOVERING)
    look(book, 50, waits)
    assert book.jobs[KEY].restarts == 4, "the fifth has not begun"
    running = job(interrupted(4, 40), Attempt(5, T0 + 60))
    for at in (65, 65 + UNSEEN_AFTER_S, 90 + UNSEEN_AFTER_S):
        look(book, at, running)
    assert book.jobs[KEY].restarts == 5
    assert counted(book, "restarts") == {"node_down": 1}
    assert counted(book, "attempts_ended") == {}
    store.close()


def test_several_requeues_while_the_collector_was_away_are_counted_once(tmp_path: Path) -> None:
    file = tmp_path / "state"
    later = job(interrupted(3, 400), Attempt(4, T0 + 405))
    for at, jobs in (
        (-10, ()), (5, (job(Attempt(0, T0)),)), (410, (later,)), (420 + UNSEEN_AFTER_S, (later,)),
        (450 + UNSEEN_AFTER_S, (later,)),
    ):  # fmt: skip
        store = Store(file)
        book = open_book(store)
        look(book, at, *jobs)
        store.close()
    assert counted(book, "restarts") == {"node_down": 1, "unknown": 3}
    assert counted(book, "attempts_ended") == {"interrupted": 1, "unknown": 3}
    assert book.jobs[KEY].restarts == 4

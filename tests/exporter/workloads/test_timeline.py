"""Time and GPU-time are those that the scheduler tells, however rarely anybody looks, and each second counts once."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuscope.workloads.book import Book
from gpuscope.workloads.fault import Classification, Domain, Scope, Trigger
from gpuscope.workloads.observation import Attempt, JobFacts, JobKey, JobState, Observation, ObservedJob, Outcome
from gpuscope.workloads.store import Store
from gpuscope.workloads.timeline import MAX_GAP_S

T0 = 1_796_035_000.0
SLURM, KUBERNETES = JobKey("slurm", "", "6", int(T0)), JobKey("kubernetes", "ml", "6")


def open_book(store: Store) -> Book:
    what = Classification("node_down", Domain.INFRASTRUCTURE, Scope.NODE, "high", "as told")
    return Book(store, lambda attempt: what, lambda job, attempt: Trigger.AUTOMATIC)


@pytest.fixture
def book() -> Iterator[Book]:
    store = Store(None)
    one = open_book(store)
    for scheduler in ("slurm", "kubernetes"):
        one.apply(Observation(scheduler, T0 - 10))
    yield one
    store.close()


def attempt(
    number: int, started: float, ended: float | None = None, running: float | None = None,
    outcome: Outcome = Outcome.SUCCEEDED,
) -> Attempt:  # fmt: skip
    return Attempt(
        number, T0 + started, None if running is None else T0 + running, None if ended is None else T0 + ended,
        None if ended is None else outcome, ("n1",),
    )  # fmt: skip


def look(book: Book, at: float, *attempts: Attempt, key: JobKey = SLURM, state: JobState = JobState.TRAINING,
         over: float | None = None, queue: str = "") -> None:  # fmt: skip
    facts = JobFacts("llama", "job", team="nlp", queue=queue, gpus=8)
    outcome, ended = (None, None) if over is None else (Outcome.SUCCEEDED, T0 + over)
    state = state if over is None else JobState.UNKNOWN
    jobs = [ObservedJob(key, facts, T0, state, attempts, outcome, ended)]
    book.apply(Observation(key.scheduler, T0 + at, jobs))


def spent(book: Book, key: JobKey = SLURM) -> dict[str, float]:
    return {state: seconds for state, seconds in book.jobs[key].seconds.items() if seconds}


def held(book: Book) -> dict[str, float]:
    """State -> seconds of 8 GPUs."""
    found = [one for one in book.counters() if one.metric.name == "gpuscope_training_gpu_seconds_total"]
    return {one.labels[-1]: one.value / 8 for one in found}


def test_a_job_that_begins_and_ends_between_two_looks(book: Book) -> None:
    for at in (14, 29):
        look(book, at, attempt(0, 4, 11), over=11)
    assert spent(book) == {"queued": 4, "training": 7}
    assert held(book) == {"training": 7}


def test_an_attempt_holds_its_gpus_from_its_start_on(book: Book) -> None:
    look(book, 5, state=JobState.QUEUED)
    look(book, 20, attempt(0, 7))
    look(book, 35, attempt(0, 7))
    look(book, 50, attempt(0, 7, 41), over=41)
    assert spent(book) == {"queued": 7, "training": 34}
    assert held(book) == {"training": 34}


def test_a_requeue_between_two_looks_is_two_attempts_and_the_time_between_them(book: Book) -> None:
    look(book, 5, attempt(0, 0))
    first = attempt(0, 0, 8, outcome=Outcome.INTERRUPTED)
    look(book, 20, first, attempt(1, 12))
    assert spent(book) == {"training": 16, "recovering": 4}
    assert held(book) == {"training": 16}
    second = attempt(1, 12, 22, outcome=Outcome.INTERRUPTED)
    look(book, 35, first, second, attempt(2, 25, 30, outcome=Outcome.INTERRUPTED), state=JobState.RECOVERING)
    assert spent(book) == {"training": 23, "recovering": 12}
    look(book, 50, first, second, attempt(2, 25, 30, outcome=Outcome.INTERRUPTED), attempt(3, 45))
    assert spent(book) == {"training": 28, "recovering": 22}
    assert held(book) == {"training": 28}


def test_a_job_that_ran_before_the_first_look_counts_from_there_on() -> None:
    store = Store(None)
    book = open_book(store)
    look(book, 100, attempt(0, 0))
    look(book, 110, attempt(0, 0, 108), over=108)
    assert spent(book) == {"training": 8}
    assert held(book) == {"training": 8}
    store.close()


def test_a_requeue_after_the_end_holds_gpus_from_its_start_on(book: Book) -> None:
    first = attempt(0, 0, 20, outcome=Outcome.FAILED)
    look(book, 25, first, over=20)
    look(book, 200, first, state=JobState.RECOVERING)
    look(book, 215, first, attempt(1, 210))
    assert held(book) == {"training": 25}
    assert spent(book) == {"training": 25, "recovering": 10}


def test_a_job_that_was_away_held_its_gpus_all_the_time(book: Book) -> None:
    look(book, 5, attempt(0, 0))
    book.apply(Observation("slurm", T0 + 10))
    look(book, 15, attempt(0, 0))
    look(book, 25, attempt(0, 0, 20), over=20)
    assert sum(held(book).values()) == 20
    assert held(book)["unknown"] == 5


@pytest.mark.parametrize(("queue", "waits"), [("", "scheduling"), ("h100", "unknown")])
def test_pods_of_kubernetes_start_before_they_run(book: Book, queue: str, waits: str) -> None:
    look(book, 20, attempt(0, 3, running=9), key=KUBERNETES, queue=queue)
    assert spent(book, KUBERNETES) == {waits: 3, "initializing": 6, "training": 11}
    look(book, 35, attempt(0, 3, 30, running=9), attempt(1, 31, 33), key=KUBERNETES, over=34, queue=queue)
    unknown = 2 if queue == "" else 2 + 3
    told = spent(book, KUBERNETES)
    assert (told["initializing"], told["training"], told["recovering"], told["unknown"]) == (6, 21, 2, unknown)
    assert held(book) == {"initializing": 6, "training": 21, "unknown": 2}


def test_ranks_that_ran_since_the_last_look_train_since_then(book: Book) -> None:
    look(book, 5, attempt(0, 3), key=KUBERNETES, state=JobState.PULLING)
    look(book, 20, attempt(0, 3, running=12), key=KUBERNETES)
    look(book, 35, attempt(0, 3, running=12), key=KUBERNETES)
    assert spent(book, KUBERNETES) == {"scheduling": 3, "pulling": 9, "training": 23}


def test_what_a_suspended_job_holds_is_counted_as_suspended(book: Book) -> None:
    look(book, 5, attempt(0, 0), state=JobState.SUSPENDED)
    look(book, 15, attempt(0, 0), state=JobState.SUSPENDED)
    assert held(book) == {"suspended": 15}


def test_gpu_time_of_a_long_gap_is_counted_and_what_it_was_for_is_unknown(tmp_path: Path) -> None:
    file = tmp_path / "state"
    for at, attempts, over in (
        (-10, None, None),
        (5, (attempt(0, 0),), None),
        (MAX_GAP_S * 2, (attempt(0, 0, 400),), 400),
    ):
        store = Store(file)
        book = open_book(store)
        if attempts is None:
            book.apply(Observation("slurm", T0 + at))
        else:
            look(book, at, *attempts, over=over)
        store.close()
    assert held(book) == {"training": 5, "unknown": 395}
    assert spent(book) == {"training": 5, "unknown": 395}


@pytest.mark.parametrize(
    "odd",
    [
        attempt(0, 50, 20),
        attempt(0, 500),
        attempt(0, -50, -20),
        attempt(0, 5, 500),
        attempt(0, 9, 9),
        attempt(0, 3, 8, 9),
    ],
)
def test_times_that_do_not_fit_make_no_negative_time_and_none_twice(book: Book, odd: Attempt) -> None:
    for at in (4, 10, 16):
        look(book, at, odd)
    assert sum(spent(book).values()) == pytest.approx(16)
    assert all(seconds >= 0 for seconds in spent(book).values())
    assert 0 <= sum(held(book).values()) <= 16


LIVES = st.lists(st.tuples(st.floats(0.0, 20.0), st.floats(0.0, 30.0)), min_size=1, max_size=5)


@given(LIVES, st.lists(st.floats(0.5, 60.0), min_size=1, max_size=12))
@settings(max_examples=80, deadline=None)
def test_gpu_time_is_that_of_the_attempts_whenever_anybody_looks(lives, pauses) -> None:
    at, attempts = 0.0, []
    for number, (waits, runs) in enumerate(lives):
        attempts.append((number, at + waits, at + waits + runs))
        at += waits + runs
    store = Store(None)
    book = open_book(store)
    book.apply(Observation("slurm", T0 - 10))
    now = 0.0
    for pause in [*pauses, at]:
        now += pause
        known = [
            attempt(number, started, ended if ended <= now else None, outcome=Outcome.INTERRUPTED)
            for number, started, ended in attempts
            if started <= now
        ]
        look(book, now, *known, over=at if now >= at else None)
    truth = sum(ended - started for _, started, ended in attempts)
    assert sum(held(book).values()) == pytest.approx(truth, abs=1e-3)
    assert sum(spent(book).values()) == pytest.approx(at, abs=1e-3)
    store.close()

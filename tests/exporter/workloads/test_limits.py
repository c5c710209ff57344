"""However many jobs and owners there are, series stay bounded, all is counted, and what is left out is told."""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpuscope.workloads.book import KEPT_FOR_S, Book
from gpuscope.workloads.fault import Classification, Domain, Scope, Trigger
from gpuscope.workloads.limits import Limits
from gpuscope.workloads.observation import Attempt, JobFacts, JobKey, JobState, Observation, ObservedJob, Outcome
from gpuscope.workloads.store import Store

T0 = 1_796_035_000.0


def open_book(store: Store, jobs: int = 4, owners: int = 3) -> Book:
    what = Classification("app_error", Domain.WORKLOAD, Scope.JOB, "high", "as told")
    return Book(store, lambda attempt: what, lambda job, attempt: Trigger.UNKNOWN, limits=Limits(jobs, owners))


@pytest.fixture
def book() -> Iterator[Book]:
    store = Store(None)
    one = open_book(store)
    one.apply(Observation("slurm", T0 - 10))
    yield one
    store.close()


def task(index: int, state: JobState = JobState.QUEUED, *attempts: Attempt, **fields) -> ObservedJob:
    facts = JobFacts("sweep", "array_task", team="nlp", queue="h100", gpus=1)
    return ObservedJob(JobKey("slurm", "", f"24_{index}"), facts, T0, state, attempts, **fields)


def job(number: int, state: JobState = JobState.QUEUED, *attempts: Attempt, team: str = "nlp", **fields) -> ObservedJob:
    facts = JobFacts(f"job-{number}", "job", team=team, queue="h100", gpus=8)
    return ObservedJob(JobKey("slurm", "", str(number)), facts, T0 + number, state, attempts, **fields)


def look(book: Book, at: float, *jobs: ObservedJob) -> None:
    book.apply(Observation("slurm", T0 + at, jobs))


def values(book: Book, name: str) -> dict[tuple[str, ...], float]:
    return {one.labels: one.value for one in book.samples() if one.metric.name == f"gpuscope_{name}"}


def shown(book: Book) -> list[str]:
    return sorted(labels[3] for labels in values(book, "training_job_info"))


def test_tasks_that_wait_are_one_series_of_their_array(book: Book) -> None:
    look(book, 5, *(task(index) for index in range(1000)))
    look(book, 20, task(0, JobState.TRAINING, Attempt(0, T0 + 10)), *(task(index) for index in range(1, 1000)))
    assert shown(book) == ["24_0"]
    assert values(book, "training_array_tasks_waiting") == {("slurm", "", "sweep", "24"): 999}
    assert values(book, "training_jobs") == {
        ("slurm", "", "nlp", "h100", "queued"): 999,
        ("slurm", "", "nlp", "h100", "training"): 1,
    }
    assert sum(values(book, "training_jobs_created_total").values()) == 1000
    assert values(book, "training_state_seconds_total")["slurm", "", "sweep", "24_0", "queued"] == 10
    assert len(list(book.samples())) < 100


def test_jobs_that_hold_gpus_come_first_then_those_that_live(book: Book) -> None:
    over = job(1, outcome=Outcome.FAILED, ended=T0 + 8)
    older = job(2, outcome=Outcome.FAILED, ended=T0 + 5)
    waiting = [job(number) for number in (3, 4)]
    running = job(5, JobState.TRAINING, Attempt(0, T0 + 6))
    look(book, 10, over, older, *waiting, running)
    assert shown(book) == ["1", "3", "4", "5"]
    assert values(book, "collector_left_out") == {("jobs",): 1, ("owners",): 0}
    look(book, 11, over, older, *waiting, running, *(job(number) for number in range(6, 20)))
    assert shown(book) == ["3", "4", "5", "6"], "those that had series keep them"
    assert values(book, "collector_left_out")["jobs",] == 15
    assert sum(values(book, "training_jobs").values()) == 17
    assert sum(values(book, "training_jobs_created_total").values()) == 19


def test_owners_that_are_too_many_are_counted_as_other(tmp_path: Path) -> None:
    file = tmp_path / "state"
    teams = [f"pr-{number}" for number in range(6)]
    for at in (0, 10, 20):
        store = Store(file)
        book = open_book(store)
        if at == 0:
            look(book, -10)
        alive = [job(number, JobState.TRAINING, Attempt(0, T0 + 7), team=team) for number, team in enumerate(teams)]
        if at == 20:
            gone = Attempt(0, T0 + 7, None, T0 + 18, Outcome.FAILED)
            alive = [
                job(number, JobState.UNKNOWN, gone, team=team, outcome=Outcome.FAILED, ended=T0 + 18)
                for number, team in enumerate(teams)
            ]
        look(book, at + 5, *alive)
        created = {labels[2]: value for labels, value in values(book, "training_jobs_created_total").items()}
        assert created == {"pr-0": 1, "pr-1": 1, "pr-2": 1, "other": 3}
        states = Counter[str]()
        for labels, value in values(book, "training_jobs").items():
            states[labels[2]] += int(value)
        assert states == ({} if at == 20 else {"pr-0": 1, "pr-1": 1, "pr-2": 1, "other": 3})
        assert values(book, "collector_left_out")["owners",] == 3
        store.close()
    ended = {labels[:4]: value for labels, value in values(book, "training_jobs_ended_total").items() if value}
    assert ended["slurm", "other", "other", "other"] == 3
    assert sum(values(book, "training_gpu_seconds_total").values()) == 6 * 8 * 11
    assert {labels[2] for labels in values(book, "training_interruptions_total")} == {"pr-0", "pr-1", "pr-2", "other"}


def written(file: Path, uid: str) -> float:
    with sqlite3.connect(file) as raw:
        (text,) = raw.execute("SELECT record FROM jobs WHERE key LIKE ?", (f'%"{uid}"%',)).fetchone()
    raw.close()
    return json.loads(text)["seen_at"] - T0


def test_what_only_waits_or_is_over_is_not_written_at_every_look(tmp_path: Path) -> None:
    file = tmp_path / "state"
    store = Store(file)
    book = open_book(store)
    look(book, -10)
    over = job(1, outcome=Outcome.SUCCEEDED, ended=T0 + 4)
    for at in (5, 20, 35):
        look(book, at, task(1), job(2), over)
    assert (written(file, "24_1"), written(file, "2")) == (5, 35)
    look(book, 5 + KEPT_FOR_S, task(1), job(2), over)
    assert written(file, "24_1") == 5 + KEPT_FOR_S
    look(book, 20 + KEPT_FOR_S, task(1), job(2), over)
    store.close()
    store = Store(file)
    book = open_book(store)
    look(book, 50 + KEPT_FOR_S, task(1, JobState.TRAINING, Attempt(0, T0 + 40 + KEPT_FOR_S)), job(2), over)
    seconds = book.jobs[JobKey("slurm", "", "24_1")].seconds
    assert (seconds["queued"], seconds["training"]) == (pytest.approx(40 + KEPT_FOR_S), 10)
    assert written(file, "24_1") == 50 + KEPT_FOR_S
    store.close()


def test_one_task_stands_for_all_of_a_long_array(book: Book) -> None:
    waits = task(0)
    facts = JobFacts("sweep", "array_task", team="nlp", queue="h100", gpus=1, tasks=5000)
    look(book, 1, ObservedJob(waits.key, facts, waits.created, waits.state))
    assert values(book, "training_array_tasks_waiting") == {("slurm", "", "sweep", "24"): 5000}
    assert values(book, "training_jobs") == {("slurm", "", "nlp", "h100", "queued"): 5000}
    rest = JobFacts("sweep", "array_task", team="nlp", queue="h100", gpus=1, tasks=4999)
    began = task(0, JobState.TRAINING, Attempt(0, T0 + 2))
    look(book, 3, began, ObservedJob(task(1).key, rest, waits.created, waits.state))
    assert values(book, "training_array_tasks_waiting") == {("slurm", "", "sweep", "24"): 4999}
    assert values(book, "training_jobs")["slurm", "", "nlp", "h100", "training"] == 1
    assert sum(values(book, "training_jobs_created_total").values()) == 2
    assert sum(values(book, "training_jobs_forgotten_total").values()) == 0

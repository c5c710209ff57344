"""Phases of recovery are histograms of what is known, and of nothing else."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics_families
from prometheus_client.parser import text_string_to_metric_families

from gpuscope.catalogue import training as m
from gpuscope.sampling.exposition import Exposition, render_blocks
from gpuscope.workloads.book import LIVE_S, Book
from gpuscope.workloads.fault import Classification, Domain, Scope, Trigger
from gpuscope.workloads.ledger import Ledger
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
from gpuscope.workloads.store import Store

T0 = 1_000_000.0
KEY = JobKey("slurm", "", "1")
LOST = Attempt(0, T0, T0, T0 + 10, Outcome.INTERRUPTED, ("n1",), Evidence(state="node_down"))


def verdict(attempt: Attempt) -> Classification:
    return Classification(attempt.evidence.state, Domain.INFRASTRUCTURE, Scope.NODE, "high", "as told")


def trigger_of(job: ObservedJob, attempt: Attempt) -> Trigger:
    return Trigger.AUTOMATIC


def make_book(store: Store | None = None) -> Book:
    one = Book(store or Store(None), verdict, trigger_of)
    if not one.jobs:
        one.apply(Observation("slurm", T0 - 10))
    return one


def look(one: Book, at: float, *attempts: Attempt, state: JobState = JobState.TRAINING, **fields) -> None:
    facts = JobFacts("llama", "slurm", team="nlp", gpus=8)
    one.apply(Observation("slurm", T0 + at, [ObservedJob(KEY, facts, T0, state, attempts, **fields)]))


def seconds(one: Book) -> dict[str, list[float]]:
    """Phase or goal -> sum and number of its observations."""
    found: dict[str, list[float]] = {}
    for metric, labels, value in one.samples():
        if metric in (m.PHASE_SECONDS, m.RECOVERY_SECONDS) and labels[-1] in ("sum", "count"):
            prefix = "until_" if metric is m.RECOVERY_SECONDS else ""
            found.setdefault(prefix + labels[1], [0.0, 0.0])[labels[-1] == "count"] += value
    return found


def test_each_phase_is_counted_once_when_both_of_its_ends_are_known() -> None:
    one = make_book()
    look(one, 12, LOST, state=JobState.RECOVERING, progress=Progress(T0 + 8, step=5))
    look(one, 32, LOST, Attempt(1, T0 + 30), state=JobState.RECOVERING, progress=Progress(T0 + 8, step=5))
    assert seconds(one) == {"action": [20, 1], "until_resources": [20, 1]}
    again = Attempt(1, T0 + 30, T0 + 75)
    look(one, 80, LOST, again, progress=Progress(T0 + 8, step=5))
    look(one, 100, LOST, again, progress=Progress(T0 + 95, step=6))
    look(one, 120, LOST, again, progress=Progress(T0 + 115, step=7))
    assert seconds(one) == {
        "action": [20, 1],
        "start": [45, 1],
        "first_step": [20, 1],
        "until_resources": [20, 1],
        "until_running": [65, 1],
        "until_first_step": [85, 1],
    }


def test_what_the_scheduler_does_not_tell_is_absent() -> None:
    one = make_book()
    look(one, 40, LOST, Attempt(1, T0 + 30))
    look(one, 60, LOST, Attempt(1, T0 + 30))
    assert seconds(one) == {"action": [20, 1], "until_resources": [20, 1]}


def test_a_first_step_that_nobody_watched_is_not_guessed() -> None:
    one = make_book()
    again = Attempt(1, T0 + 30, T0 + 35)
    look(one, 40, LOST, again)
    look(one, 41 + LIVE_S, LOST, again, progress=Progress(T0 + 90, step=9))
    look(one, 50 + LIVE_S, LOST, again, progress=Progress(T0 + 99, step=10))
    assert "first_step" not in seconds(one)
    assert "until_first_step" not in seconds(one)


def test_a_recovery_that_fails_goes_on_with_the_next_attempt() -> None:
    one = make_book()
    second = replace(LOST, number=1, started=T0 + 20, running=None, ended=T0 + 25)
    look(one, 12, LOST)
    look(one, 27, LOST, second)
    look(one, 50, LOST, second, Attempt(2, T0 + 40, T0 + 45))
    assert seconds(one) == {
        "action": [10 + 15, 2],
        "start": [5, 1],
        "until_resources": [10 + 15, 2],
        "until_running": [35 + 20, 2],
    }


def test_clocks_that_differ_make_no_negative_time() -> None:
    one = make_book()
    look(one, 12, LOST, Attempt(1, T0 + 9, T0 + 8))
    assert seconds(one) == {}


def test_phases_wait_for_the_verdict_and_survive_a_restart(tmp_path: Path) -> None:
    def unsure(attempt: Attempt) -> Classification:
        return replace(verdict(attempt), confidence="low")

    store = Store(tmp_path / "book")
    one = Book(store, unsure, trigger_of)
    one.apply(Observation("slurm", T0 - 10))
    look(one, 12, LOST, Attempt(1, T0 + 11, T0 + 12))
    assert seconds(one) == {}
    store.close()
    store = Store(tmp_path / "book")
    one = Book(store, unsure, trigger_of)
    look(one, 320, LOST, Attempt(1, T0 + 11, T0 + 12))
    told = {"action": [1, 1], "start": [1, 1], "until_resources": [1, 1], "until_running": [2, 1]}
    assert seconds(one) == told
    store.close()
    store = Store(tmp_path / "book")
    assert seconds(Book(store, unsure, trigger_of)) == told
    store.close()


def test_interruptions_are_0_from_the_first_job_of_a_team_on() -> None:
    one = make_book()
    look(one, 1, Attempt(0, T0))
    told = {s.labels[-1]: s.value for s in one.samples() if s.metric is m.INTERRUPTIONS}
    assert told == dict.fromkeys(("workload", "infrastructure", "platform", "planned", "unknown"), 0)
    look(one, 12, LOST)
    told = {s.labels[-1]: s.value for s in one.samples() if s.metric is m.INTERRUPTIONS}
    assert {domain for domain, value in told.items() if value} == {"infrastructure"}


def stalls(*story: tuple[float, JobState, Progress | None]) -> list[str]:
    one, states = make_book(), []
    for at, state, told in story:
        look(one, at, Attempt(0, T0, T0), state=state, progress=told)
        states.append(one.jobs[KEY].state.value)
    return states


def test_progress_that_stands_still_is_a_stall_until_it_moves() -> None:
    def at_step(step: float) -> Progress:
        return Progress(T0, step=step)

    train, save = JobState.TRAINING, JobState.CHECKPOINTING
    assert stalls((0, train, at_step(1)), (600, train, at_step(1)), (601, train, at_step(1)), (602, train, None)) == [
        "training", "training", "stalled", "stalled",
    ]  # fmt: skip
    assert stalls((0, train, at_step(1)), (601, train, at_step(1)), (610, train, at_step(2)), (620, train, at_step(2)))[
        1:
    ] == ["stalled", "training", "training"]
    assert stalls((0, train, at_step(1)), (601, save, at_step(1)), (660, train, at_step(1))) == [
        "training", "checkpointing", "training",
    ]  # fmt: skip
    assert stalls((0, train, None), (700, train, None)) == ["training", "training"], "nobody says whether it moves"
    only_time = Progress(T0, remaining_s=5)
    assert stalls((0, train, only_time), (700, train, only_time)) == ["training", "training"]


def test_time_of_a_stall_is_accounted_to_it() -> None:
    one = make_book()
    for at in range(0, 901, 100):
        look(one, at, Attempt(0, T0, T0), progress=Progress(T0, ratio=0.5))
    assert one.jobs[KEY].seconds == {"training": 700, "stalled": 200}
    assert one.jobs[KEY].since == T0 + 700
    look(one, 910, Attempt(0, T0, T0), progress=Progress(T0, ratio=0.6))
    assert one.jobs[KEY].since == T0 + 910


def body(ledger: Ledger, *, openmetrics: bool) -> str:
    text = Exposition([render_blocks(ledger.samples([m.RECOVERY_SECONDS]))], [m.RECOVERY_SECONDS])
    return text.body(openmetrics=openmetrics).decode()


LABELS = ("slurm", "running", "unknown")


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=30))
@settings(max_examples=40)
def test_a_histogram_reads_back_in_both_formats(observed: list[float]) -> None:
    ledger = Ledger({})
    for value in observed:
        ledger.observe(m.RECOVERY_SECONDS, LABELS, value)
        ledger.observe(m.RECOVERY_SECONDS, ("kubernetes", "running", "unknown"), value)
    for openmetrics, parse in ((False, text_string_to_metric_families), (True, openmetrics_families)):
        (family,) = parse(body(ledger, openmetrics=openmetrics))
        assert (family.name, family.type) == ("gpuscope_training_recovery_seconds", "histogram")
        own = [sample for sample in family.samples if sample.labels["scheduler"] == "slurm"]
        buckets = {float(sample.labels["le"]): sample.value for sample in own if sample.name.endswith("_bucket")}
        assert buckets == {bound: sum(v <= bound for v in observed) for bound in (*m.RECOVERY_BUCKETS, float("inf"))}
        rest = {sample.name.rpartition("_")[2]: sample.value for sample in own if "le" not in sample.labels}
        assert rest == {"sum": pytest.approx(sum(observed)), "count": len(observed)}


def test_promtool_accepts_a_histogram(promtool) -> None:
    ledger = Ledger({})
    ledger.observe(m.RECOVERY_SECONDS, LABELS, 12.5)
    assert promtool(body(ledger, openmetrics=False)) == ""
    assert body(ledger, openmetrics=False).count("# TYPE") == 1


@pytest.mark.parametrize("value", [-1.0, float("nan"), float("inf")])
def test_what_is_no_length_of_time_is_refused(value: float) -> None:
    ledger = Ledger({})
    with pytest.raises(ValueError, match="no length of time"):
        ledger.observe(m.RECOVERY_SECONDS, LABELS, value)
    assert list(ledger.samples([m.RECOVERY_SECONDS])) == []


def test_a_histogram_with_holes_is_absent() -> None:
    ledger = Ledger({m.RECOVERY_SECONDS.name: {(*LABELS, "1.0"): 1.0, (*LABELS, "count"): 1.0, (*LABELS, "sum"): 0.5}})
    assert list(ledger.samples([m.RECOVERY_SECONDS])) == []

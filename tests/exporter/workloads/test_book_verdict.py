"""The verdict on an end waits for late knowledge, is counted once, and can be seen while it waits."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from gpuscope.catalogue import training as m
from gpuscope.catalogue.metric import Metric, Sample
from gpuscope.faults.xids import XidCatalogue
from gpuscope.workloads.attribution_window import NodeEvent
from gpuscope.workloads.book import Book
from gpuscope.workloads.classification import classify
from gpuscope.workloads.fault import Classification
from gpuscope.workloads.node_faults import NodeFaults
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
from gpuscope.workloads.record import read_record, write_record
from gpuscope.workloads.store import Store
from gpuscope.workloads.trigger import trigger_of

T0 = 1_000_000.0
XIDS = XidCatalogue.load(None)


def judged(attempt: Attempt) -> Classification:
    return classify(attempt.evidence, attempt.outcome or Outcome.UNKNOWN, XIDS)


def book(store: Store | None = None, faults: NodeFaults | None = None) -> Book:
    one = Book(store or Store(None), judged, trigger_of, faults)
    if not one.jobs:
        one.apply(Observation("slurm", T0 - 10))
    return one


def job(*attempts: Attempt, uid: str = "1", user: str = "eve", **fields) -> ObservedJob:
    facts = JobFacts("llama", "slurm", team="nlp", user=user, gpus=8)
    return ObservedJob(JobKey("slurm", "", uid), facts, T0, fields.pop("state", JobState.TRAINING), attempts, **fields)


def look(one: Book, at: float, *jobs: ObservedJob) -> None:
    one.apply(Observation("slurm", T0 + at, jobs))


def failed(at: float, number: int = 0, nodes: Sequence[str] = ("n1",), **evidence) -> Attempt:
    return Attempt(number, T0, T0, T0 + at, Outcome.FAILED, tuple(nodes), Evidence(**evidence))


def counted(one: Book, metric: Metric) -> list[Sample]:
    """Those of its series that counted something."""
    return [sample for sample in one.counters() if sample.metric is metric and sample.value]


def faults_of(one: Book) -> dict[str, float]:
    return {sample.labels[3]: sample.value for sample in counted(one, m.FAULTS)}


def restarts_of(one: Book) -> dict[str, float]:
    return {sample.labels[-1]: sample.value for sample in counted(one, m.RESTARTS)}


def xid(memory: NodeFaults, code: int, at: float, node: str = "n1") -> None:
    memory.note(node, [NodeEvent(node, code, T0 + at, "GPU-1")], (), None)


def read(memory: NodeFaults, at: float, *nodes: str) -> None:
    for node in nodes:
        memory.note(node, (), (), T0 + at)
    memory.ended_round(T0 + at)


def test_an_end_that_nothing_explains_waits_until_its_window_is_closed() -> None:
    one = book()
    end = failed(10)
    look(one, 12, job(end))
    look(one, 300, job(end))
    assert faults_of(one) == {}
    (episode,) = one.jobs[JobKey("slurm", "", "1")].episodes
    assert (episode.fault_type, episode.final) == ("unknown", False), "it can be seen before it is counted"
    look(one, 311, job(end))
    look(one, 312, job(end))
    assert faults_of(one) == {"unknown": 1}
    assert episode.final


def test_evidence_that_comes_late_decides() -> None:
    one = book()
    look(one, 12, job(failed(10)))
    look(one, 40, job(failed(10, nodes_lost=("n1",))))
    assert faults_of(one) == {"node_down": 1}
    look(one, 400, job(failed(10)))
    assert faults_of(one) == {"node_down": 1}


@pytest.mark.parametrize(
    ("outcome", "evidence", "faults"),
    [
        (Outcome.PREEMPTED, Evidence(), {}),
        (Outcome.CANCELLED, Evidence(requested_by_user=True), {}),
        (Outcome.INTERRUPTED, Evidence(state="NODE_FAIL"), {"node_down": 1}),
        (Outcome.FAILED, Evidence(state="OUT_OF_MEMORY"), {"host_oom": 1}),
    ],
)
def test_what_is_decided_waits_for_nothing(outcome: Outcome, evidence: Evidence, faults: dict[str, float]) -> None:
    one = book()
    look(one, 12, job(replace(failed(10), outcome=outcome, evidence=evidence)))
    assert faults_of(one) == faults
    assert one.jobs[JobKey("slurm", "", "1")].episodes[0].final


def test_a_restart_that_begins_before_the_verdict_gets_it_later() -> None:
    one = book()
    look(one, 12, job(failed(10)))
    look(one, 30, job(failed(10), Attempt(1, T0 + 25)))
    assert restarts_of(one) == {}
    look(one, 60, job(failed(10, nodes_lost=("n1",)), Attempt(1, T0 + 25)))
    look(one, 70, job(failed(10, nodes_lost=("n1",)), Attempt(1, T0 + 25)))
    assert restarts_of(one) == {"node_down": 1}


def test_late_evidence_also_tells_who_began_the_next_attempt() -> None:
    one = book()
    look(one, 30, job(failed(10), Attempt(1, T0 + 25)))
    assert one.jobs[JobKey("slurm", "", "1")].episodes[0].trigger == "unknown"
    look(one, 60, job(failed(10, nodes_lost=("n1",)), Attempt(1, T0 + 25)))
    assert [sample.labels[-2] for sample in counted(one, m.RESTARTS)] == ["automatic"]


@pytest.mark.parametrize("at", [11, 20, 35, 200, 311])
def test_a_restart_of_the_collector_at_any_time_counts_all_once(at: int, tmp_path: Path) -> None:
    store = Store(tmp_path / "book")
    one = book(store)
    for now in sorted({11, 20, 35, 200, 311, 330}):
        seen = [failed(10)] if now < 30 else [failed(10), Attempt(1, T0 + 25, T0 + 28)]
        look(one, now, job(*seen))
        if now == at:
            before = one.jobs[JobKey("slurm", "", "1")]
            store.close()
            store = Store(tmp_path / "book")
            one = book(store)
            assert one.jobs[JobKey("slurm", "", "1")] == before
    assert (faults_of(one), restarts_of(one)) == ({"unknown": 1}, {"unknown": 1})
    store.close()


def test_a_job_that_is_over_or_gone_gets_its_verdict_too() -> None:
    one = book()
    over = job(failed(10), outcome=Outcome.FAILED, ended=T0 + 10)
    look(one, 12, over, job(failed(10), uid="2"))
    late = replace(over, attempts=(failed(10, nodes_lost=("n1",)),))
    look(one, 20, late)
    assert faults_of(one) == {"node_down": 1}
    look(one, 311, late)
    assert faults_of(one) == {"node_down": 1, "unknown": 1}


def test_an_xid_on_its_node_explains_the_end_and_tells_how_long_nobody_noticed() -> None:
    memory = NodeFaults()
    one = book(faults=memory)
    end = failed(40, exit_codes=(134,))
    look(one, 42, job(end))
    xid(memory, 79, 28)
    xid(memory, 45, 39)
    xid(memory, 48, 28, node="n2")
    read(memory, 60, "n1")
    look(one, 62, job(end))
    assert faults_of(one) == {"off_bus": 1}
    (episode,) = one.jobs[JobKey("slurm", "", "1")].episodes
    assert episode.measured["detection"] == 12
    assert episode.attempt.evidence.xids == ((79, 12.0), (45, 1.0))
    assert episode.attempt.evidence.nodes_watched


def test_an_xid_after_the_end_explains_it_and_tells_no_time_of_detection() -> None:
    memory = NodeFaults()
    one = book(faults=memory)
    look(one, 12, job(failed(10)))
    xid(memory, 79, 15)
    read(memory, 25, "n1")
    look(one, 27, job(failed(10)))
    assert faults_of(one) == {"off_bus": 1}
    assert "detection" not in one.jobs[JobKey("slurm", "", "1")].episodes[0].measured


def test_a_decided_end_waits_for_the_agents_to_be_read_but_not_for_ever() -> None:
    memory = NodeFaults()
    one = book(faults=memory)
    end = failed(10, state="NODE_FAIL")
    look(one, 12, job(end))
    look(one, 400, job(end))
    assert faults_of(one) == {}, "the agents were not read since the end"
    look(one, 911, job(end))
    assert faults_of(one) == {"node_down": 1}


def test_what_happened_on_the_nodes_after_another_attempt_began_there_is_not_this_one_s() -> None:
    memory = NodeFaults()
    one = book(faults=memory)
    end = failed(10)
    look(one, 12, job(end), job(Attempt(0, T0 + 20, None, None, None, ("n1",)), uid="2"))
    xid(memory, 79, 30)
    read(memory, 330, "n1")
    look(one, 332, job(end), job(Attempt(0, T0 + 20, None, None, None, ("n1",)), uid="2"))
    assert faults_of(one) == {"unknown": 1}


def test_an_xid_on_a_node_that_others_share_is_less_sure() -> None:
    memory = NodeFaults()
    one = book(faults=memory)
    other = job(Attempt(0, T0, None, None, None, ("n1",)), uid="2")
    look(one, 12, job(failed(10)), other)
    xid(memory, 79, 8)
    read(memory, 330, "n1")
    look(one, 332, job(failed(10)), other)
    verdict = one.jobs[JobKey("slurm", "", "1")].episodes[0].verdict
    assert verdict is not None
    assert (verdict.fault_type, verdict.confidence) == ("off_bus", "medium")


def test_many_unrelated_jobs_that_lose_their_nodes_at_once_are_one_event() -> None:
    one = book()
    jobs = [
        job(failed(10, nodes=(f"n{number}",), state="NODE_FAIL"), uid=str(number), user=f"user{number}")
        for number in range(5)
    ]
    look(one, 12, *jobs)
    assert faults_of(one) == {"mass_event": 5}


def test_xids_that_an_earlier_run_learned_are_kept(tmp_path: Path) -> None:
    memory, store = NodeFaults(), Store(tmp_path / "book")
    xid(memory, 79, 9)
    memory.ended_round(T0 + 15)
    one = book(store, memory)
    look(one, 12, job(failed(10)))
    store.close()
    store = Store(tmp_path / "book")
    empty = NodeFaults()
    empty.ended_round(T0 + 30)
    one = book(store, empty)
    look(one, 40, job(failed(10)))
    assert faults_of(one) == {"off_bus": 1}
    store.close()


def test_what_ended_before_the_first_look_is_named_by_the_restart_and_not_counted() -> None:
    one = Book(Store(None), judged, trigger_of)
    before = failed(-50, state="NODE_FAIL")
    look(one, 0, job(before, state=JobState.RECOVERING))
    look(one, 10, job(before, Attempt(1, T0 + 5)))
    assert faults_of(one) == {}
    assert restarts_of(one) == {"node_down": 1}


def test_a_job_of_many_ends_keeps_the_latest_and_can_be_read_again() -> None:
    one = book()
    ends: list[Attempt] = []
    for number in range(30):
        ends.append(failed(10 + number, number, state="NODE_FAIL", xids=((79, 3.0),)))
        look(one, 11 + number, job(*ends))
    record = one.jobs[JobKey("slurm", "", "1")]
    assert [episode.number for episode in record.episodes] == list(range(10, 30))
    assert read_record(write_record(record)) == record
    assert sum(faults_of(one).values()) == 30

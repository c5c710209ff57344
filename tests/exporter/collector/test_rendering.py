"""What is kept of the last rendering is never older than what is known."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from gpuscope.catalogue import scheduler as s
from gpuscope.catalogue.metric import Sample
from gpuscope.collector.debut import Debut
from gpuscope.collector.publishing import exposition
from gpuscope.collector.rendering import Rendering
from gpuscope.workloads.book import KEEP_S, Book
from gpuscope.workloads.fault import Classification, Domain, Scope, Trigger
from gpuscope.workloads.observation import (
    Attempt,
    JobFacts,
    JobKey,
    JobState,
    NodeState,
    Observation,
    ObservedJob,
    ObservedNode,
    Outcome,
    Progress,
)
from gpuscope.workloads.store import Store

T0 = 1_000_000.0
FACTS = JobFacts("llama", "Job", team="nlp", queue="h100", user="eve", gpus=16)
UNKNOWN = Classification("unknown", Domain.UNKNOWN, Scope.UNKNOWN, "low", "")


def job(uid: str, state: JobState = JobState.TRAINING, **fields: object) -> ObservedJob:
    facts = fields.pop("facts", FACTS)
    return ObservedJob(JobKey("kubernetes", "red", uid), facts, T0, state, (Attempt(0, T0),), **fields)  # type: ignore[arg-type]


def node(name: str, **fields: object) -> ObservedNode:
    return ObservedNode(name, **{"state": NodeState.READY, "gpus": 8, **fields})  # type: ignore[arg-type]


def pods(**owners: str) -> dict[tuple[str, str], JobKey]:
    return {("red", name): JobKey("kubernetes", "red", uid) for name, uid in owners.items()}


A, B = job("a"), job("b")
STORY = [
    ((A, B), (node("n1"), node("n2")), pods(p="a", q="b")),
    ((A, B), (node("n1"), node("n2")), pods(p="a", q="b")),
    ((job("a", JobState.RECOVERING), B), (node("n1", gpus_allocated=8), node("n2")), pods(p="a", q="b")),
    ((job("a", progress=Progress(T0, ratio=0.5)), B), (node("n2"),), pods(p="b", q="b")),
    ((job("a", progress=Progress(T0, ratio=0.6)), B), (node("n2"),), pods(q="b")),
    ((job("a", facts=replace(FACTS, queue="a100")), B), (node("n1"), node("n2")), pods(p="a", q="b")),
    (
        (job("a", outcome=Outcome.FAILED, ended=T0 + 70), B),
        (node("n1", state=NodeState.DOWN, reason="x"),),
        pods(q="b"),
    ),
    ((B,), (), {}),
]


@pytest.fixture
def book() -> Iterator[Book]:
    store = Store(None)
    one = Book(store, lambda _: UNKNOWN, lambda *_: Trigger.AUTOMATIC)
    one.apply(Observation("kubernetes", T0 - 10))
    yield one
    store.close()


def lines(book: Book, seen: Observation, rendering: Rendering) -> list[str]:
    text = exposition(book, [], {"kubernetes": seen}, Debut(0), rendering).body().decode()
    return sorted(line for line in text.splitlines() if line.startswith("gpuscope"))


def test_kept_lines_are_those_that_would_be_made_anew(book: Book) -> None:
    kept = Rendering()
    told = []
    for step, (jobs, nodes, owners) in enumerate(STORY):
        seen = Observation("kubernetes", T0 + 10 * step, jobs, nodes, pods=owners)
        book.apply(seen)
        told.append(lines(book, seen, kept))
        assert told[-1] == lines(book, seen, Rendering())
    assert any(
        'progress_ratio{scheduler="kubernetes",namespace="red",workload="llama",job_id="a"} 0.6' in one
        for one in told[4]
    )
    over = Observation("kubernetes", T0 + 2 * KEEP_S, (B,))
    book.apply(over)
    assert not [one for one in lines(book, over, kept) if 'job_id="a"' in one]


def test_only_what_changed_is_made_anew() -> None:
    rendering = Rendering()
    made: list[str] = []

    def samples(name: str, value: float) -> list[Sample]:
        made.append(name)
        return [Sample(s.NODE_GPUS, ("slurm", name, "total"), value)]

    def render(**values: float) -> str:
        for name, value in values.items():
            rendering.keep(name, value, lambda name=name, value=value: samples(name, value))
        return "".join(rendering.finish().values())

    render(a=1, b=1)
    assert 'node="b",kind="total"} 2' in render(a=1, b=2)
    assert made == ["a", "b", "b"]
    assert 'node="b"' not in render(a=1)
    render(a=1, b=2)
    assert made == ["a", "b", "b", "b"]

"""Joins and shares on Prometheus' own engine: doubled, missing and zero series change nothing else."""

from pathlib import Path

import pytest
from tests.generator.promtool import expect

from gpuscope_generator.promql import (
    QueryError,
    Vector,
    first_of,
    gauge,
    info,
    join,
    on,
    ratio,
    select,
    sum_by,
    with_zero,
)

PART = select(gauge("part", "cluster", "node", source="test"))
WHOLE = select(gauge("whole", "cluster", "node", source="test"))
FACTS = select(info("facts", "cluster", "node", "model", source="test"))
BY_NODE = ("node",)
TWO = {'{node="a"}': 1.0, '{node="b"}': 2.0}


def by_node(vector: Vector) -> Vector:
    return sum_by(vector, "node")


def ask(folder: Path, samples: dict[str, str], query: Vector, found: dict[str, float] | None) -> None:
    expect(folder, samples, {query: found}, rules=False)


def test_a_join_takes_labels_over_from_one_of_several_equals(tmp_path: Path) -> None:
    samples = {
        'part{node="a"}': "5x20",
        'part{node="b"}': "7x20",
        'facts{node="a",model="H100",instance="ksm-0"}': "1x20",
        'facts{node="a",model="H100",instance="ksm-1"}': "1x20",
        'facts{node="a",model="A100",instance="ksm-1"}': "0x20",
    }
    query = join(by_node(PART), FACTS, on=BY_NODE, take=("model",))
    ask(tmp_path, samples, query, {'{node="a",model="H100"}': 5})


def test_a_join_without_labels_only_filters(tmp_path: Path) -> None:
    samples = {'part{node="a"}': "5x20", 'part{node="b"}': "7x20", 'facts{node="b",model="x"}': "1x20"}
    ask(tmp_path, samples, join(by_node(PART), FACTS, on=BY_NODE, take=()), {'{node="b"}': 7})


def test_a_share_of_nothing_is_no_sample(tmp_path: Path) -> None:
    samples = {
        'part{node="a"}': "1x20",
        'whole{node="a"}': "4x20",
        'part{node="b"}': "0x20",
        'whole{node="b"}': "0x20",
        'part{node="c"}': "1x20",
    }
    ask(tmp_path, samples, ratio(by_node(PART), by_node(WHOLE)), {'{node="a"}': 0.25})


def test_a_share_on_some_labels_keeps_those_of_the_many(tmp_path: Path) -> None:
    samples = {'part{node="a"}': "1x20", 'part{node="b"}': "3x20", 'whole{node="a"}': "4x20", 'whole{node="b"}': "4x20"}
    total = sum_by(WHOLE)
    query = ratio(by_node(PART), total, on=(), many="left")
    assert query.labels == {"node"}
    ask(tmp_path, samples, query, {'{node="a"}': 0.125, '{node="b"}': 0.375})
    assert ratio(total, total, on=()).labels == frozenset()


def test_zero_is_filled_in_where_the_other_exists(tmp_path: Path) -> None:
    samples = {'part{node="a"}': "3x20", 'whole{node="a"}': "9x20", 'whole{node="b"}': "9x20"}
    ask(tmp_path, samples, with_zero(by_node(PART), by_node(WHOLE)), {'{node="a"}': 3, '{node="b"}': 0})


def test_the_first_that_has_it_wins(tmp_path: Path) -> None:
    samples = {'part{node="a"}': "3x20", 'whole{node="a"}': "9x20", 'whole{node="b"}': "8x20"}
    ask(tmp_path, samples, first_of(by_node(PART), by_node(WHOLE), on=BY_NODE), {'{node="a"}': 3, '{node="b"}': 8})


def test_calculations_on_some_labels(tmp_path: Path) -> None:
    samples = {'part{node="a"}': "3x20", 'part{node="b"}': "4x20", 'whole{node="a"}': "9x20"}
    query = on(by_node(PART) - 1, "*", sum_by(WHOLE) + 1, (), many="left")
    assert query.labels == {"node"}
    ask(tmp_path, samples, query, {'{node="a"}': 20, '{node="b"}': 30})
    assert on(sum_by(WHOLE), "-", by_node(PART), (), many="right").labels == {"node"}
    assert on(by_node(PART), "/", by_node(WHOLE), BY_NODE).labels == {"node"}


@pytest.mark.parametrize(
    "build",
    [
        lambda: join(PART, FACTS, on=("pod",), take=()),
        lambda: join(PART, FACTS, on=("node",), take=("pod",)),
        lambda: join(PART, FACTS, on=("node",), take=("node",)),
        lambda: on(PART, "%", WHOLE, ("node",)),
        lambda: on(PART, "+", WHOLE, ("pod",)),
        lambda: ratio(by_node(PART), WHOLE),
        lambda: ratio(by_node(PART), by_node(WHOLE), on=("pod",)),
        lambda: with_zero(by_node(PART), WHOLE),
        lambda: first_of(),
    ],
)
def test_sides_that_do_not_fit_are_refused(build: object) -> None:
    with pytest.raises(QueryError):
        build()  # type: ignore[operator]

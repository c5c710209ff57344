"""Expressions: what is written is what is meant, and what cannot be meant is refused."""

import itertools
import math

import promql_parser
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuscope_generator.promql import (
    Matcher,
    QueryError,
    Scalar,
    Vector,
    counter,
    gauge,
    histogram,
    info,
    matchers,
    number,
    select,
    sum_by,
)

POWER = gauge("node:power:sum", "cluster", "node")
OTHER = gauge("node:other:sum", "cluster", "node")
EVENTS = counter("events_total", "node", source="test")
FACTS = info("node:info:union", "node", "model")
SECONDS = histogram("request_seconds", "model", source="test")
A, B, C = select(POWER), select(OTHER), select(POWER, node="c")


def tree(expression: Vector) -> str:
    """The query as its parser reads it, every operator in parentheses."""
    return _written(promql_parser.parse(expression.text))


def _written(found: promql_parser.Expr) -> str:
    if isinstance(found, promql_parser.ParenExpr):
        return _written(found.expr)
    if isinstance(found, promql_parser.BinaryExpr):
        return f"({_written(found.lhs)} {found.op} {_written(found.rhs)})"
    if isinstance(found, promql_parser.UnaryExpr):
        return f"-{_written(found.expr)}"
    return found.prettify()


OPERATIONS = {
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
    "/": lambda left, right: left / right,
    ">": lambda left, right: left.compare(">", right),
    "==": lambda left, right: left.compare("==", right),
    "or": lambda left, right: left.or_(right),
    "and": lambda left, right: left.and_(right),
    "unless": lambda left, right: left.unless(right),
}


@pytest.mark.parametrize(("outer", "inner"), list(itertools.product(OPERATIONS, OPERATIONS)))
def test_operators_bind_as_they_were_put_together(outer: str, inner: str) -> None:
    within = OPERATIONS[inner](A, B)
    left = OPERATIONS[outer](within, C)
    right = OPERATIONS[outer](C, within)
    a, b, c = (select.prettify() for select in map(promql_parser.parse, (A.text, B.text, C.text)))
    assert tree(left) == f"(({a} {inner} {b}) {outer} {c})"
    assert tree(right) == f"({c} {outer} ({a} {inner} {b}))"


@given(
    st.recursive(
        st.sampled_from([A, B, C]),
        lambda inner: st.tuples(st.sampled_from(sorted(OPERATIONS)), inner, inner),
        max_leaves=12,
    )
)
def test_any_nesting_is_read_as_it_was_built(found: object) -> None:
    def build(part: object) -> tuple[Vector, str]:
        if isinstance(part, Vector):
            return part, promql_parser.parse(part.text).prettify()
        assert isinstance(part, tuple)
        (left, left_text), (right, right_text) = build(part[1]), build(part[2])
        return OPERATIONS[part[0]](left, right), f"({left_text} {part[0]} {right_text})"

    expression, expected = build(found)
    assert tree(expression) == expected


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (A * -1, "node:power:sum * (-1)"),
        (A - 0.5, "node:power:sum - 0.5"),
        (A.compare("<", 3, as_bool=True) + 1, "(node:power:sum < bool 3) + 1"),
        (A.offset("1h") * 2, "node:power:sum offset 1h * 2"),
        (A.and_(B, on=("node",)), "node:power:sum and on (node) node:other:sum"),
        (A.unless(B, on=()), "node:power:sum unless on () node:other:sum"),
        (sum_by(A + B), "sum(node:power:sum + node:other:sum)"),
        (C, 'node:power:sum{node="c"}'),
    ],
)
def test_texts(expression: Vector, text: str) -> None:
    assert str(expression) == text
    promql_parser.parse(text)


@given(st.floats(allow_nan=False))
def test_numbers_keep_their_value(value: float) -> None:
    found = promql_parser.parse(f"x * {number(value).inside(number(-1).binding)}").rhs
    while isinstance(found, promql_parser.ParenExpr):
        found = found.expr
    sign = 1
    if isinstance(found, promql_parser.UnaryExpr):
        sign, found = -1, found.expr
    assert math.isclose(sign * found.val, value, rel_tol=1e-15)


@given(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")), st.sampled_from(["=", "!=", "=~", "!~"])
)
def test_any_value_of_a_label_survives(value: str, operator: str) -> None:
    text = str(Matcher("node", operator, value))
    assert matchers(text) == (Matcher("node", operator, value),)
    try:
        (parsed,) = promql_parser.parse(f"x{{{text}}}").matchers.matchers
    except ValueError:
        # Not every text is a regular expression.
        assert "~" in operator
        return
    assert parsed.value == value


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", ()),
        ("  ", ()),
        ('job="a"', (Matcher("job", "=", "a"),)),
        (' job = "a" , x!~"b|c", ', (Matcher("job", "=", "a"), Matcher("x", "!~", "b|c"))),
        (r'a="\"\\\n\t"', (Matcher("a", "=", '"\\\n\t'),)),
    ],
)
def test_conditions_as_people_write_them(text: str, found: tuple[Matcher, ...]) -> None:
    assert matchers(text) == found


@pytest.mark.parametrize(
    "text", ["job", "job=a", 'job="a"x="b"', '1a="b"', 'job=="a"', 'job="a', ',a="b"', r'a=~"\d"', "a='b'"]
)
def test_what_is_no_condition_is_refused(text: str) -> None:
    with pytest.raises(QueryError):
        matchers(text)


@pytest.mark.parametrize(
    "build",
    [
        lambda: Matcher("a", "~", "b"),
        lambda: select(POWER, gpu="0"),
        lambda: select(POWER, Matcher("pod", "=~", ".*")),
        lambda: select(SECONDS),
        lambda: A.compare("=", 1),
        lambda: sum_by(A, "pod"),
    ],
)
def test_what_could_not_mean_it_is_refused(build: object) -> None:
    with pytest.raises(QueryError):
        build()  # type: ignore[operator]


def test_raw_series_carry_what_a_scrape_adds_and_recorded_ones_do_not() -> None:
    assert select(EVENTS, instance="a").text == 'events_total{instance="a"}'
    with pytest.raises(QueryError, match="carries no label 'instance'"):
        select(POWER, instance="a")
    assert select(EVENTS).also(*matchers('env="x"')).text == 'events_total{env="x"}'
    assert select(EVENTS, node="a").also(*matchers('env="x"')).text == 'events_total{node="a",env="x"}'
    assert select(EVENTS, node="a").also().text == 'events_total{node="a"}'
    assert select(SECONDS.buckets, le="1").labels == frozenset({"model", "le", "cluster", "node", "instance", "job"})
    assert (SECONDS.sums.name, SECONDS.counts.name) == ("request_seconds_sum", "request_seconds_count")


def test_labels_and_series_follow_the_expression() -> None:
    assert (A + 1).labels == {"cluster", "node"}
    assert A.or_(select(FACTS)).labels == {"cluster", "node", "model"}
    assert A.and_(select(FACTS)).labels == {"cluster", "node"}
    assert [series.name for series in (A / B).series] == ["node:power:sum", "node:other:sum"]
    assert isinstance(number(1), Scalar)
    assert A.over("5m").text == "node:power:sum[5m]"
    assert A.or_(Vector("x")).labels == {"cluster", "node"}

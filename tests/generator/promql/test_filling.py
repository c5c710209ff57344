"""Variables, filled in as Grafana fills them in."""

import re

import promql_parser
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuscope_generator.promql.filling import Filling, filled, rate_interval, seconds, step, variables_of


@pytest.mark.parametrize(
    ("text", "values", "found"),
    [
        ('{node=~"$node"}', {"node": ".*"}, '{node=~".*"}'),
        ('{node=~"$node"}', {"node": ["a"]}, '{node=~"a"}'),
        ('{node=~"$node"}', {"node": ["a", "b"]}, '{node=~"(a|b)"}'),
        ('{node=~"${node}x"}', {"node": ["a.b"]}, r'{node=~"a\\.bx"}'),
        ('{node=~"[[node]]"}', {"node": ["a"]}, '{node=~"a"}'),
        ('{node=~"$node"}', {"node": [r"a\b", "c(d)"]}, r'{node=~"(a\\\\b|c\\(d\\))"}'),
        ('{node=~"$node"}', {"node": ["a/b-c d"]}, '{node=~"a/b-c d"}'),
        ("topk(${top}, x)", {"top": ["5"]}, "topk(5, x)"),
        ("${x:pipe} ${x:csv} ${x:raw}", {"x": ["a.b", "c"]}, "a.b|c a.b,c a.b,c"),
        ("${x:regex}", {"x": ["a.b", "c"]}, r"(a\.b|c)"),
        ('label_replace(x, "a", "$1", "b", "(.*)")', {}, 'label_replace(x, "a", "$1", "b", "(.*)")'),
        ("x[$__rate_interval]", {}, "x[120s]"),
        ("x[$__interval] $__interval_ms", {}, "x[30s] 30000"),
        ("x[$__range] ${__range_s} $__range_ms", {}, "x[21600s] 21600 21600000"),
    ],
)
def test_filled(text: str, values: dict[str, str], found: str) -> None:
    assert filled(text, Filling(values=values)) == found


def test_what_nothing_stands_for_is_an_error() -> None:
    with pytest.raises(KeyError, match="node"):
        filled("$node", Filling())
    with pytest.raises(ValueError, match="sqlstring"):
        filled("${node:sqlstring}", Filling(values={"node": ["a"]}))


@given(
    st.lists(
        st.text(st.characters(categories=["L", "N", "P", "S", "Zs"], exclude_characters='"')), min_size=1, max_size=3
    )
)
def test_whatever_is_chosen_matches_itself(chosen: list[str]) -> None:
    query = filled('x{node=~"$node"}', Filling(values={"node": chosen}))
    (matcher,) = promql_parser.parse(query).matchers.matchers
    assert all(re.fullmatch(matcher.value, value) for value in chosen)
    assert not re.fullmatch(matcher.value, "".join(chosen) + "more")


@pytest.mark.parametrize(
    ("step_s", "scrape_s", "found"), [(15, 15, 60), (30, 30, 120), (60, 15, 75), (300, 30, 330), (15, 60, 240)]
)
def test_rate_interval_spans_four_scrapes_or_a_point_and_a_scrape(step_s: int, scrape_s: int, found: int) -> None:
    assert rate_interval(step_s, scrape_s) == found


@pytest.mark.parametrize(
    ("range_s", "points", "least", "found"),
    [
        (3600, 1440, 15, 15),
        (21_600, 1440, 15, 15),
        (86_400, 1440, 15, 60),
        (86_400, 480, 30, 120),
        (604_800, 1440, 30, 300),
        (2_592_000, 720, 30, 3600),
        (2_592_000, 1, 30, 2_592_000),
        (10**9, 1, 30, 31_536_000),
        (1, 1000, 0.001, 1),
    ],
)
def test_step_is_what_grafana_rounds_to(range_s: float, points: int, least: float, found: float) -> None:
    assert step(range_s, points, least) == found


@given(st.integers(1, 10**8), st.integers(1, 10_000))
def test_prometheus_takes_every_number_of_points(range_s: int, points: int) -> None:
    assert range_s / step(range_s, points, 0.01) <= 11_000


@pytest.mark.parametrize(
    ("text", "found"), [("30s", 30), ("1h30m", 5400), ("500ms", 0.5), ("1.5d", 129_600), ("2w", 1_209_600)]
)
def test_durations(text: str, found: float) -> None:
    assert seconds(text) == found


@pytest.mark.parametrize("text", ["", "30", "s", "30 s", "-5m", "1y", "5m x"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a duration"):
        seconds(text)


def test_variables_that_a_text_asks_for() -> None:
    text = '$a ${b:regex} [[c]] $__range ${__data.fields} "$1"'
    assert variables_of(text) == {"a", "b", "c"}

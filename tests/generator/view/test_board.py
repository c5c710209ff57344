"""Places on the grid, ids, and what a board refuses to be."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.generator.live.conftest import EXPLANATION, NODE_INFO, graph

from gpuscope_generator.promql import QueryError, Vector, select
from gpuscope_generator.view import (
    Choice,
    Explanation,
    LabelColumn,
    LabelValues,
    Prose,
    Row,
    Stat,
    Table,
    ValueColumn,
    panel_id,
    placed,
)
from gpuscope_generator.view.panel import COLUMNS


def prose(number: int, width: int, height: int) -> Prose:
    return Prose(key=f"p{number}", title="P", explanation=EXPLANATION, width=width, height=height)


@given(st.lists(st.tuples(st.integers(1, COLUMNS), st.integers(1, 20)), max_size=30), st.integers(0, 1000))
def test_no_two_panels_share_a_cell_and_none_leaves_the_grid(sizes: list[tuple[int, int]], top: int) -> None:
    found = placed(tuple(prose(number, *size) for number, size in enumerate(sizes)), top)
    assert [panel.key for panel, _ in found] == [f"p{number}" for number in range(len(sizes))]
    for _, place in found:
        assert place.y >= top
        assert 0 <= place.x < place.x + place.width <= COLUMNS
    for (_, one), (_, other) in itertools.combinations(found, 2):
        beside = one.x + one.width <= other.x or other.x + other.width <= one.x
        assert beside or one.y + one.height <= other.y or other.y + other.height <= one.y


def test_panels_stand_side_by_side_then_below() -> None:
    found = placed((prose(0, 12, 4), prose(1, 12, 8), prose(2, 6, 2)), 5)
    assert [(place.x, place.y) for _, place in found] == [(0, 5), (12, 5), (0, 13)]


def test_ids_never_change() -> None:
    assert (panel_id("power"), panel_id("node_power"), panel_id("row Power")) == (948321, 544861, 443521)


@pytest.mark.parametrize(
    "build",
    [
        lambda: prose(0, 25, 1),
        lambda: prose(0, 0, 1),
        lambda: Prose(key="Power", title="P", explanation=EXPLANATION),
        lambda: Prose(key="a-b", title="P", explanation=EXPLANATION),
        lambda: Explanation(shows="It", source="A.", good="B.", do="C."),
        lambda: Explanation(shows="It.", source=" ", good="B.", do="C."),
        lambda: Row(title="Raw", panels=(), drill_down=True),
        lambda: Choice(name="x", label="X", options=(("a, b", "c"),)),
        lambda: Choice(name="x", label="X", options=(("a", "b:c"),)),
        lambda: graph("x").cell_title("node"),
        lambda: Table(
            key="t",
            title="T",
            explanation=EXPLANATION,
            columns=(LabelColumn(label="node", title="Node"), ValueColumn(title="V", expression=Vector("x"))),
        ).cell_title("pod"),
    ],
)
def test_what_cannot_be_shown_is_refused(build: object) -> None:
    with pytest.raises(ValueError):
        build()  # type: ignore[operator]


def test_a_variable_of_a_label_that_is_not_there_is_refused() -> None:
    with pytest.raises(TypeError, match="node:info:union carries no pod"):
        LabelValues(name="pod", label="Pod", selector=select(NODE_INFO), values_of="pod")
    with pytest.raises(QueryError):
        LabelValues(name="node", label="Node", selector=select(NODE_INFO, pod="x"), values_of="node")


def test_a_stat_asks_over_time_only_for_its_line() -> None:
    assert Stat(key="x", title="X", explanation=EXPLANATION).always_instant
    assert not Stat(key="x", title="X", explanation=EXPLANATION, sparkline=True).always_instant


def test_explanation_has_four_parts() -> None:
    text = Explanation(shows="What.", source="Where.", good="Much.", do="Run.").text
    assert text == "What.\n\n**Source:** Where.\n\n**Good:** Much.\n\n**What to do:** Run."

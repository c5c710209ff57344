"""Tables that GitHub reads as they were meant."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuscope_generator.markdown import anchored, code, codes, details, table


def test_table_has_a_heading_and_a_row_for_each() -> None:
    assert table(("a", "b"), [("1", "2"), ("3", "")]) == "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 |  |"


def test_bar_inside_a_cell_does_not_end_it() -> None:
    assert table(("a",), [("x|y",)]).splitlines()[-1] == "| x\\|y |"


@pytest.mark.parametrize("row", [("1",), ("1", "2", "3"), ("1", "two\nlines")])
def test_row_that_would_break_the_table_is_refused(row: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match=r"cells under 2 headings|line break"):
        table(("a", "b"), [row])


@given(st.lists(st.tuples(st.text("ab|\\ ", max_size=5), st.text("ab|", max_size=5)), max_size=5))
def test_a_table_keeps_its_number_of_rows_and_columns(rows: list[tuple[str, str]]) -> None:
    lines = table(("a", "b"), rows).splitlines()
    assert len(lines) == len(rows) + 2
    assert all(line.replace("\\|", "").count("|") == 3 for line in lines)


def test_empty_stays_empty() -> None:
    assert code("") == ""
    assert codes(["", "a", "", "b"]) == "`a`, `b`"
    assert codes(["a", "b"], "<br>") == "`a`<br>`b`"


def test_anchor_and_details_are_html_that_github_keeps() -> None:
    assert anchored("x") == '<a id="x"></a>`x`'
    assert details("more", "text") == "<details>\n<summary>more</summary>\n\ntext\n\n</details>"

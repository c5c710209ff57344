"""Tables inside pages that people write."""

import pytest

from gpuscope.catalogue import SUBJECTS
from gpuscope_generator.tables import TABLES, fill

END = "<!-- end of table -->"


def test_only_what_is_between_the_comments_changes() -> None:
    page = f"# Title\r\n\n<!-- table: collectors -->\nstale rows\nof old\n{END}\n\nafter | it\n"
    filled = fill(page)
    assert filled.startswith("# Title\r\n\n<!-- table: collectors; made by")
    assert filled.endswith(f"{TABLES['collectors']()}\n{END}\n\nafter | it\n")
    assert "stale rows" not in filled
    assert fill(filled) == filled


def test_a_page_may_ask_twice() -> None:
    page = f"<!-- table: collectors -->\n{END}\n" * 2
    assert fill(page).count("| [power](docs/metrics.md#power) |") == 2


def test_collector_table_has_a_row_for_each_with_its_flag() -> None:
    rows = TABLES["collectors"]().splitlines()[2:]
    assert [row.split("](")[0].removeprefix("| [") for row in rows] == list(SUBJECTS)
    power = next(row for row in rows if row.startswith("| [power]"))
    assert power == (
        "| [power](docs/metrics.md#power) | 7 | on | `--collector.power` | Power, power limits and energy. |"
    )
    assert "| always on |  |" in rows[0]


@pytest.mark.parametrize(
    ("page", "message"),
    [
        ("text\n", "no table in it"),
        ("", "no table in it"),
        (f"a\n<!-- table: nothing -->\n{END}\n", r"line 2: no table 'nothing'; there are collectors"),
        ("<!-- table: collectors -->\n\n", "line 1: table 'collectors' has no <!-- end of table -->"),
        (
            f"<!-- table: collectors -->\n<!-- table: collectors -->\n{END}\n",
            "line 1: table 'collectors' has no <!-- end of table -->",
        ),
        (f"a\nb\n{END}\n", "line 3: an end without a table"),
    ],
)
def test_bad_page_is_refused_with_the_line(page: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fill(page)

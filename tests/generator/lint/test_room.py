"""What has room on a screen of 1280 pixels: titles, columns, and panels side by side."""

from collections import defaultdict
from collections.abc import Iterator

import pytest

from gpuscope_generator.dashboards.boards import boards
from gpuscope_generator.settings import Settings
from gpuscope_generator.view import BarGauge, Board, Gauge, Panel, Stat, Table, palette, placed
from gpuscope_generator.view.extent import panel_px, text_px, title_px
from gpuscope_generator.view.panel import COLUMNS

BOARDS = boards(Settings())


def panels() -> Iterator[tuple[str, Panel]]:
    for board in BOARDS:
        for panel in board.panels:
            yield f"{board.noun}/{panel.key}", panel


def test_no_title_is_cut() -> None:
    cut = [(name, panel.title) for name, panel in panels() if text_px(panel.title) > title_px(panel.width)]
    assert cut == []


def test_no_table_is_wider_than_its_panel() -> None:
    wide = [
        (name, round(sum(need.least for need in panel.needs())))
        for name, panel in panels()
        if isinstance(panel, Table) and sum(need.least for need in panel.needs()) > panel_px(panel.width)
    ]
    assert wide == []


@pytest.mark.parametrize("board", BOARDS, ids=lambda board: str(board.noun))
def test_panels_side_by_side_are_of_one_height_and_leave_no_gap(board: Board) -> None:
    for row in board.rows:
        lines = defaultdict(list)
        for _, place in placed(row.panels, 0):
            lines[place.y].append(place)
        for line in lines.values():
            assert sum(place.width for place in line) == COLUMNS, row.title
            assert len({place.height for place in line}) == 1, row.title


def test_no_value_has_no_color_that_says_good_or_bad() -> None:
    for name, panel in panels():
        if isinstance(panel, Stat | Gauge | BarGauge):
            shown = panel.defaults()["mappings"][-1]["options"]
            assert shown == {"match": "null", "result": {"text": panel.no_value, "color": palette.TEXT}}, name

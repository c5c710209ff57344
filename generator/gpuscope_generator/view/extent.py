"""How much room text takes, so that what does not fit is seen before it is drawn.

Numbers are pixels of Grafana's font (Inter, 14 pixels) on a screen of 1280 pixels, the smallest that the boards are
made for. They are estimates: each width leaves a little room.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Need", "column_widths", "panel_px", "text_px", "title_px"]

_BOARD_PX = 1256
_GAP_PX = 8
_NARROW = frozenset("ijlftrI .,:;|!'()[]/-")
_WIDE = frozenset("mwMW%@")
_TITLE_ROOM_PX = 56
"""Padding at both ends of a title, and the sign behind which the explanation is."""


def text_px(text: str) -> float:
    """Width of one line of text."""
    return sum(4.6 if c in _NARROW else 12.0 if c in _WIDE else 9.4 if c.isupper() else 7.9 for c in text)


def panel_px(columns: int) -> float:
    """Width of a panel that takes so many of a board's 24 columns."""
    return columns / 24 * _BOARD_PX - _GAP_PX


def title_px(columns: int) -> float:
    """What a panel of so many columns has for its title."""
    return panel_px(columns) - _TITLE_ROOM_PX


@dataclass(frozen=True, slots=True)
class Need:
    """What a column of a table needs.

    Attributes:
        least: it is still readable.
        best: nothing is cut, as far as is known.
        grows: it takes what is left over, because its texts may be long.
    """

    least: float
    best: float
    grows: bool = False


def column_widths(needs: Sequence[Need], room: float) -> list[int | None]:
    """A width for each column; None for those that share what is left.

    Args:
        needs: of the columns, from left to right.
        room: width of the table.
    """
    if not any(need.grows for need in needs):
        # The last one then takes what is left: a table ends where its panel does.
        needs = [*needs[:-1], Need(needs[-1].least, needs[-1].best, grows=True)]
    kept = sum(need.best for need in needs if need.grows)
    fixed = [need for need in needs if not need.grows]
    spare = room - kept - sum(need.least for need in fixed)
    wanted = sum(need.best - need.least for need in fixed)
    part = 1.0 if wanted <= 0 else min(1.0, max(0.0, spare / wanted))
    return [None if need.grows else round(need.least + part * (need.best - need.least)) for need in needs]

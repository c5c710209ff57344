"""A board: rows of panels, what may be chosen above them, and where they lie on the grid."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from gpuscope_generator.promql import Expression
from gpuscope_generator.view.link import Noun
from gpuscope_generator.view.panel import COLUMNS, Panel
from gpuscope_generator.view.variable import Variable

__all__ = ["Annotation", "Board", "Place", "Row", "panel_id", "placed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotation:
    """Events drawn across all graphs.

    Attributes:
        name: what the switch at the top says.
        expression: a sample at each event, or as long as a state lasts.
        title: text of an event, such as ``{{alertname}}``.
        text: more of it.
        color: of the mark.
        enabled: on when the board opens.
        step: distance of two samples.
    """

    name: str
    expression: Expression
    title: str
    text: str = ""
    color: str
    enabled: bool = True
    step: str = "60s"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Panels under one heading.

    Attributes:
        title: the heading; empty for the panels at the top.
        panels: from left to right, then down.
        collapsed: closed when the board opens; its queries then cost nothing.
        drill_down: its panels may read series of one exporter as they are, beside those that rules record; such a
            row must be collapsed.
    """

    title: str
    panels: tuple[Panel, ...]
    collapsed: bool = False
    drill_down: bool = False

    def __post_init__(self) -> None:
        if self.drill_down and not self.collapsed:
            raise ValueError(f"row {self.title}: a drill-down row must be collapsed")


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """One dashboard.

    Attributes:
        noun: which board; uid and file follow from it.
        title: its name.
        description: what question it answers, in one sentence.
        variables: from left to right; a later one may depend on an earlier one.
        rows: from the top.
        annotations: events over the graphs.
        time_from: start of the time range when the board opens.
        refresh: how often it asks anew.
    """

    noun: Noun
    title: str
    description: str
    variables: tuple[Variable, ...]
    rows: tuple[Row, ...]
    annotations: tuple[Annotation, ...] = ()
    time_from: str = "now-6h"
    refresh: str = "1m"

    @property
    def panels(self) -> Iterator[Panel]:
        """All panels, from the top."""
        for row in self.rows:
            yield from row.panels


@dataclass(frozen=True, slots=True)
class Place:
    """Where something lies on the grid, in columns and in rows of 30 pixels."""

    x: int
    y: int
    width: int
    height: int


def placed(panels: tuple[Panel, ...], top: int) -> list[tuple[Panel, Place]]:
    """Puts panels side by side, and below each other where 24 columns are full: they cannot overlap, and leave no gap.

    Panels of one line are as high as the highest of them, and the last one takes the columns that are left.

    Args:
        panels: in reading order.
        top: first free row of the grid.
    """
    lines: list[list[Panel]] = []
    taken = COLUMNS
    for panel in panels:
        if taken + panel.width > COLUMNS:
            lines.append([])
            taken = 0
        lines[-1].append(panel)
        taken += panel.width
    found: list[tuple[Panel, Place]] = []
    y = top
    for line in lines:
        x = 0
        height = max(panel.height for panel in line)
        for panel in line:
            width = COLUMNS - x if panel is line[-1] else panel.width
            found.append((panel, Place(x, y, width, height)))
            x += width
        y += height
    return found


def panel_id(key: str) -> int:
    """The number of a panel on its board, the same for ever: links to single panels name it."""
    return zlib.crc32(key.encode()) % 1_000_000 + 1

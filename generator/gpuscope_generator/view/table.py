"""Tables: one row an entity, one column a label or a query."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, ClassVar

from gpuscope_generator.promql import Vector
from gpuscope_generator.view import palette
from gpuscope_generator.view.extent import Need, column_widths, panel_px, text_px
from gpuscope_generator.view.field import Thresholds, ValueText, no_value_mapping, value_mappings
from gpuscope_generator.view.link import Link, WebLink
from gpuscope_generator.view.panel import Panel
from gpuscope_generator.view.query import Query
from gpuscope_generator.view.unit import Unit

__all__ = ["Cell", "LabelColumn", "Table", "ValueColumn"]

_EDGES_PX = 16
_FILTER_PX = 22
_SORTED_PX = 22
_NUMBER_PX: Mapping[Unit, float] = {Unit.NONE: 44, Unit.COUNT: 44, Unit.RATIO: 50}
_LONG_NUMBER_PX = 74
"""A number with its unit, such as 34.6 weeks."""
_BAR_PX = 110
_DASH = "–"
_TYPICAL_PX: Mapping[str, float] = {
    "cluster": 62,
    "node": 92,
    "gpu": 24,
    "gi": 24,
    "xid": 30,
    "id": 44,
    "namespace": 96,
    "team": 76,
    "user": 54,
    "queue": 82,
    "owner_kind": 86,
    "workload_kind": 86,
    "kind": 86,
    "phase": 62,
    "engine": 54,
    "profile": 68,
    "component": 90,
    "exit_code": 40,
    "job_id": 60,
    "pool": 54,
    "fabric": 70,
}
"""Texts of labels that are nearly always short; those of other labels take what is left."""
_LONG_PX: Mapping[str, float] = {"model": 175, "pod": 175}
_ELSE_LONG_PX = 130
_LEAST_PX = 84
_UNFILTERED: Mapping[str, Any] = {"id": "custom.filterable", "value": False}
_LONGEST_PX = 300


class Cell(StrEnum):
    """How a cell looks."""

    PLAIN = "auto"
    COLORED_TEXT = "color-text"
    COLORED_BACKGROUND = "color-background"
    BAR = "gauge"


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelColumn:
    """A label of the rows.

    Attributes:
        label: its name in the answers.
        title: what the reader sees.
        links: where the cell leads.
        width: in pixels; what its texts need when not given.
        texts: words in place of values.
        hidden: not shown, but links may name it.
    """

    label: str
    title: str
    links: tuple[Link | WebLink, ...] = ()
    width: int | None = None
    texts: Mapping[str, ValueText] = field(default_factory=dict)
    hidden: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueColumn:
    """A number for each row.

    Attributes:
        title: what the reader sees.
        expression: the query, which carries the labels of the rows.
        unit: of the value.
        cell: how it looks.
        thresholds: from which value on which color.
        texts: words in place of values.
        links: where the cell leads.
        width: in pixels; what its title and its numbers need when not given.
        low: lower end of a bar.
        high: upper end of a bar.
        decimals: digits behind the point.
        hidden: not shown: the query is there for the labels that it brings.
    """

    title: str
    expression: Vector
    unit: Unit = Unit.NONE
    cell: Cell = Cell.PLAIN
    thresholds: Thresholds | None = None
    texts: Mapping[str, ValueText] = field(default_factory=dict)
    links: tuple[Link | WebLink, ...] = ()
    width: int | None = None
    low: float | None = None
    high: float | None = None
    decimals: int | None = None
    hidden: bool = False


@dataclass(frozen=True, kw_only=True)
class Table(Panel):
    """A table, merged from one instant query a value column.

    Rows are joined where all labels that both answers carry are equal: aggregate every column by the same labels.

    Attributes:
        columns: from left to right.
        sort_by: title of the column to sort by.
        descending: the largest first.
        paginate: pages in place of a scroll bar.
    """

    kind: ClassVar[str] = "table"

    width: int = 24
    height: int = 10
    columns: tuple[LabelColumn | ValueColumn, ...] = ()
    sort_by: str = ""
    descending: bool = True
    paginate: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        titles = [column.title for column in self.columns]
        if len(set(titles)) != len(titles):
            raise ValueError(f"table {self.key}: two columns of one title")
        if self.sort_by and self.sort_by not in titles:
            raise ValueError(f"table {self.key}: sorted by {self.sort_by!r}, which is no column")
        if self.queries:
            raise ValueError(f"table {self.key}: queries come from its columns")
        object.__setattr__(self, "queries", tuple(Query(expression=c.expression, instant=True) for c in self.values))

    @property
    def values(self) -> tuple[ValueColumn, ...]:
        """The columns that ask."""
        return tuple(column for column in self.columns if isinstance(column, ValueColumn))

    @property
    def answer_format(self) -> str:
        return "table"

    @property
    def always_instant(self) -> bool:
        return True

    def cell_title(self, label: str) -> str:
        for column in self.columns:
            if isinstance(column, LabelColumn) and column.label == label:
                return column.title
        raise ValueError(f"table {self.key}: a link names {label}, which is no column")

    def options(self) -> dict[str, Any]:
        return {
            "showHeader": True,
            "cellHeight": "sm",
            "footer": {"show": False, "reducer": ["sum"], "countRows": False, "enablePagination": self.paginate},
            "sortBy": [{"displayName": self.sort_by, "desc": self.descending}] if self.sort_by else [],
        }

    def custom(self) -> dict[str, Any]:
        return {
            "align": "auto",
            "cellOptions": {"type": "auto"},
            "inspect": False,
            "filterable": True,
            "minWidth": 50,
            "wrapHeaderText": True,
        }

    def color(self) -> dict[str, Any]:
        return {"mode": "thresholds"}

    def transformations(self) -> list[dict[str, Any]]:
        source: dict[str, str] = {}
        values = self.values
        for column in self.columns:
            if isinstance(column, LabelColumn):
                source[column.label] = column.title
            else:
                source[value_field(values.index(column), len(values))] = column.title
        order = {name: index for index, name in enumerate(source)}
        found: list[dict[str, Any]] = [{"id": "merge", "options": {}}] if len(values) > 1 else []
        found.append(
            {
                "id": "organize",
                "options": {
                    "excludeByName": {"Time": True} | dict.fromkeys(self._unshown(), True),
                    "indexByName": order,
                    "renameByName": source,
                },
            }
        )
        return found

    def _unshown(self) -> list[str]:
        shown = {column.label for column in self.columns if isinstance(column, LabelColumn)}
        carried = {label for column in self.values for label in column.expression.labels or ()}
        return sorted(carried - shown)

    def overrides(self) -> list[dict[str, Any]]:
        # What stands in a table without rows would otherwise stand in each cell without a value, in the color of the
        # lowest threshold.
        cells: list[dict[str, Any]] = [
            {"id": "noValue", "value": _DASH},
            {"id": "mappings", "value": no_value_mapping(_DASH)},
        ]
        shown = [column for column in self.columns if not column.hidden]
        widths = dict(zip((column.title for column in shown), self.widths(), strict=True))
        return [
            {"matcher": {"id": "byRegexp", "options": "/.*/"}, "properties": cells},
            {"matcher": {"id": "byType", "options": "number"}, "properties": [_UNFILTERED]},
            *(
                {"matcher": {"id": "byName", "options": column.title}, "properties": properties}
                for column in self.columns
                if (properties := _properties(column, widths.get(column.title)))
            ),
        ]

    def needs(self) -> list[Need]:
        """What each shown column needs, from left to right."""
        return [_need(column, sorted_by=column.title == self.sort_by) for column in self.columns if not column.hidden]

    def widths(self) -> list[int | None]:
        """Widths of the shown columns in pixels; None for those that share what is left."""
        needs = self.needs()
        if not any(need.grows for need in needs):
            # No text is long: labels share what is left, as numbers and bars far from each other are hard to compare.
            labels = [isinstance(column, LabelColumn) for column in self.columns if not column.hidden]
            needs = [replace(need, grows=label) for need, label in zip(needs, labels, strict=True)]
        return column_widths(needs, panel_px(self.width))


def _need(column: LabelColumn | ValueColumn, *, sorted_by: bool) -> Need:
    if column.width is not None:
        return Need(column.width, column.width)
    words = column.title.split()
    room = _EDGES_PX + (_SORTED_PX if sorted_by else 0)
    texts = max((text_px(shown.text) for shown in column.texts.values()), default=0.0)
    if isinstance(column, ValueColumn):
        number = _BAR_PX if column.cell is Cell.BAR else _NUMBER_PX.get(column.unit, _LONG_NUMBER_PX)
        content = (texts or number) + _EDGES_PX
        longest = max(map(text_px, words)) + room
        return Need(max(content, longest), max(content, text_px(column.title) + room))
    room += _FILTER_PX
    longest, title = max(map(text_px, words)) + room, text_px(column.title) + room
    known = texts or _TYPICAL_PX.get(column.label, 0)
    if known > _LONGEST_PX:
        return Need(max(longest, _LONGEST_PX), max(title, known + _EDGES_PX), grows=True)
    if known:
        return Need(max(longest, known + _EDGES_PX), max(title, known + _EDGES_PX))
    return Need(max(longest, _LEAST_PX), max(title, _LONG_PX.get(column.label, _ELSE_LONG_PX)), grows=True)


def value_field(index: int, count: int) -> str:
    """What Grafana calls the values of a query in a table."""
    return f"Value #{ref_id(index)}" if count > 1 else "Value"


def ref_id(index: int) -> str:
    """A, B … Z, AA, AB …: the name of a query inside its panel."""
    letters = ""
    index += 1
    while index:
        index, rest = divmod(index - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters


def _properties(column: LabelColumn | ValueColumn, width: int | None) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    if width is not None:
        found.append({"id": "custom.width", "value": width})
    if column.texts:
        found.append({"id": "mappings", "value": [*value_mappings(column.texts), *no_value_mapping(_DASH)]})
    if column.hidden:
        found.append({"id": "custom.hidden", "value": True})
    if isinstance(column, LabelColumn):
        if any(shown.color != palette.TEXT for shown in column.texts.values()):
            found.append({"id": "custom.cellOptions", "value": {"type": Cell.COLORED_TEXT.value}})
        return found
    found.append({"id": "unit", "value": column.unit.value})
    if column.decimals is not None:
        found.append({"id": "decimals", "value": column.decimals})
    if column.low is not None:
        found.append({"id": "min", "value": column.low})
    if column.high is not None:
        found.append({"id": "max", "value": column.high})
    if column.thresholds is not None:
        found.append({"id": "thresholds", "value": column.thresholds.as_json()})
    if column.cell is not Cell.PLAIN:
        options: dict[str, Any] = {"type": column.cell.value}
        if column.cell is Cell.BAR:
            options |= {"mode": "basic", "valueDisplayMode": "text"}
        found.append({"id": "custom.cellOptions", "value": options})
    return found

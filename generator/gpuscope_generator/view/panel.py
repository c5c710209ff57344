"""What all panels have in common."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from gpuscope_generator.view.explanation import Explanation
from gpuscope_generator.view.field import Thresholds, ValueText, field_defaults
from gpuscope_generator.view.link import Link, WebLink
from gpuscope_generator.view.query import Query
from gpuscope_generator.view.unit import Unit

__all__ = ["COLUMNS", "Panel"]

COLUMNS = 24
"""Width of a board in units of the grid."""
_KEY = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True, kw_only=True)
class Panel(ABC):
    """One panel of a board.

    Attributes:
        key: short name, unique on its board and stable for ever: settings switch panels off by it, and links name
            the panel by the number that follows from it.
        title: what it shows, without a full stop.
        explanation: the text behind the (i).
        queries: what it asks.
        unit: of its values.
        width: of 24.
        height: in rows of 30 pixels.
        no_value: what stands there when there is no data, with the reason.
        links: from its values to other boards.
        thresholds: from which value on which color.
        texts: words in place of values.
        low: lower end of the scale.
        high: upper end of the scale.
        decimals: digits behind the point; what Grafana thinks best when not given.
        spaced_names: names of series are label values in which an underscore stands for a space.
    """

    kind: ClassVar[str]
    no_cells: ClassVar[bool] = True
    """``no_value`` stands in the middle of the panel, in Grafana's own color, and not in place of a number."""

    key: str
    title: str
    explanation: Explanation
    queries: tuple[Query, ...] = ()
    unit: Unit = Unit.NONE
    width: int = 8
    height: int = 8
    no_value: str = "No data: the row Data health says why"
    links: tuple[Link | WebLink, ...] = ()
    thresholds: Thresholds | None = None
    texts: Mapping[str, ValueText] = field(default_factory=dict)
    low: float | None = None
    high: float | None = None
    decimals: int | None = None
    spaced_names: bool = False

    def __post_init__(self) -> None:
        if not _KEY.fullmatch(self.key):
            raise ValueError(f"panel key {self.key!r} is not a lower-case word")
        if not 1 <= self.width <= COLUMNS:
            raise ValueError(f"panel {self.key}: a width of {self.width}; a board has {COLUMNS} columns")

    @abstractmethod
    def options(self) -> dict[str, Any]:
        """The options of this kind of panel."""

    def custom(self) -> dict[str, Any]:
        """What ``fieldConfig.defaults.custom`` holds for this kind of panel."""
        return {}

    def color(self) -> dict[str, Any]:
        """How values get their color."""
        return {"mode": "thresholds" if self.thresholds is not None else "palette-classic"}

    def defaults(self) -> dict[str, Any]:
        """``fieldConfig.defaults``, without links."""
        found = field_defaults(
            unit=self.unit,
            thresholds=self.thresholds,
            texts=self.texts,
            low=self.low,
            high=self.high,
            decimals=self.decimals,
            no_value=self.no_value,
            neutral_without=self.color()["mode"] == "thresholds" and not self.no_cells,
        )
        found["color"] = self.color()
        custom = self.custom()
        if custom:
            found["custom"] = custom
        return found

    def overrides(self) -> list[dict[str, Any]]:
        """``fieldConfig.overrides``."""
        return []

    def transformations(self) -> list[dict[str, Any]]:
        """What happens to the answers before they are drawn."""
        # The expression replaces the last one only: three are more than any of these names has.
        spaced = {"id": "renameByRegex", "options": {"regex": "(.*)_(.*)", "renamePattern": "$1 $2"}}
        return [spaced] * 3 if self.spaced_names else []

    @property
    def answer_format(self) -> str:
        """How Grafana shall lay out the answers: ``time_series``, ``table`` or ``heatmap``."""
        return "time_series"

    @property
    def always_instant(self) -> bool:
        """Whether one value at the end of the time range is enough, whatever the query says."""
        return False

    def cell_title(self, label: str) -> str:
        """The title of the column that shows a label; for links from cells.

        Raises:
            ValueError: this kind of panel has no cells, or no such column.
        """
        raise ValueError(f"panel {self.key}: {self.kind} has no cell of {label}")

"""Panels that show figures as of now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from gpuscope_generator.view.panel import Panel

__all__ = ["BarGauge", "Gauge", "Pie", "Stat"]


def _reduced(reducer: str) -> dict[str, Any]:
    return {"values": False, "calcs": [reducer], "fields": ""}


@dataclass(frozen=True, kw_only=True)
class Stat(Panel):
    """One number, or a few, large.

    Attributes:
        reducer: how a line becomes a number.
        sparkline: the line behind the number; the query then goes over the time range.
        color_background: the whole tile takes the color of the threshold.
        text_mode: what stands there: ``auto``, ``value``, ``value_and_name`` or ``name``.
    """

    kind: ClassVar[str] = "stat"
    no_cells: ClassVar[bool] = False

    width: int = 3
    height: int = 4
    reducer: str = "lastNotNull"
    sparkline: bool = False
    color_background: bool = False
    text_mode: str = "auto"

    @property
    def always_instant(self) -> bool:
        return not self.sparkline

    def options(self) -> dict[str, Any]:
        return {
            "reduceOptions": _reduced(self.reducer),
            "orientation": "auto",
            "textMode": self.text_mode,
            "wideLayout": True,
            "colorMode": "background" if self.color_background else "value",
            "graphMode": "area" if self.sparkline else "none",
            "justifyMode": "auto",
            "showPercentChange": False,
        }

    def color(self) -> dict[str, Any]:
        return {"mode": "thresholds"}


@dataclass(frozen=True, kw_only=True)
class Gauge(Panel):
    """One number on a scale from ``low`` to ``high``.

    Attributes:
        reducer: how a line becomes a number.
        marked: an outer ring shows the thresholds; not where all but the end of it would be of one color.
    """

    kind: ClassVar[str] = "gauge"
    no_cells: ClassVar[bool] = False

    width: int = 4
    height: int = 6
    reducer: str = "lastNotNull"
    marked: bool = True

    @property
    def always_instant(self) -> bool:
        return True

    def options(self) -> dict[str, Any]:
        return {
            "reduceOptions": _reduced(self.reducer),
            "orientation": "auto",
            "showThresholdLabels": False,
            "showThresholdMarkers": self.marked,
            "sizing": "auto",
            "minVizWidth": 75,
            "minVizHeight": 75,
        }

    def color(self) -> dict[str, Any]:
        return {"mode": "thresholds"}


@dataclass(frozen=True, kw_only=True)
class BarGauge(Panel):
    """One bar a series: for comparing a few.

    Attributes:
        reducer: how a line becomes a number.
        colors: fixed color by the name of a bar.
        names_above: names are long, and stand above their bars.
    """

    kind: ClassVar[str] = "bargauge"
    no_cells: ClassVar[bool] = False

    reducer: str = "lastNotNull"
    colors: Mapping[str, str] = field(default_factory=dict)
    names_above: bool = False

    @property
    def always_instant(self) -> bool:
        return True

    def options(self) -> dict[str, Any]:
        return {
            "reduceOptions": _reduced(self.reducer),
            "orientation": "horizontal",
            "displayMode": "basic",
            "valueMode": "text",
            "namePlacement": "top" if self.names_above else "auto",
            "showUnfilled": True,
            # Few bars in a large panel would otherwise get letters of many times the usual size.
            "sizing": "manual",
            "minVizWidth": 8,
            "minVizHeight": 16,
            "maxVizHeight": 40,
            # Otherwise both grow with the bars, and names are cut that there is room for.
            "text": {"titleSize": 12, "valueSize": 16},
            "legend": {"showLegend": False, "displayMode": "list", "placement": "bottom", "calcs": []},
        }

    def defaults(self) -> dict[str, Any]:
        # Without it the shortest bar has no length, however large its number is.
        return {"min": 0} | Panel.defaults(self)

    def color(self) -> dict[str, Any]:
        return {"mode": "thresholds"}

    def overrides(self) -> list[dict[str, Any]]:
        return _fixed_colors(self.colors)


@dataclass(frozen=True, kw_only=True)
class Pie(Panel):
    """Shares of a whole, a few of them.

    Attributes:
        colors: fixed color by the name of a slice.
    """

    kind: ClassVar[str] = "piechart"

    colors: Mapping[str, str] = field(default_factory=dict)

    @property
    def always_instant(self) -> bool:
        return True

    def options(self) -> dict[str, Any]:
        return {
            "reduceOptions": _reduced("lastNotNull"),
            "pieType": "donut",
            "displayLabels": ["percent"],
            "legend": {
                "showLegend": True,
                "displayMode": "table",
                "placement": "right",
                "values": ["value", "percent"],
            },
            "tooltip": {"mode": "single", "sort": "none"},
        }

    def custom(self) -> dict[str, Any]:
        return {"hideFrom": {"legend": False, "tooltip": False, "viz": False}}

    def overrides(self) -> list[dict[str, Any]]:
        return _fixed_colors(self.colors)


def _fixed_colors(colors: Mapping[str, str]) -> list[dict[str, Any]]:
    return [
        {
            "matcher": {"id": "byName", "options": name},
            "properties": [{"id": "color", "value": {"mode": "fixed", "fixedColor": color}}],
        }
        for name, color in colors.items()
    ]

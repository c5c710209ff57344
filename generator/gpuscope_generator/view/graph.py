"""Panels with time on the horizontal axis."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from gpuscope_generator.view.panel import Panel
from gpuscope_generator.view.unit import Unit

__all__ = ["Heatmap", "LineStyle", "StateTimeline", "StatusHistory", "TimeSeries"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LineStyle:
    """How one line differs from the others.

    Attributes:
        color: fixed color.
        dashed: for limits and other lines that are no measurement.
        below_zero: drawn downwards, as what is written or sent beside what is read or received.
        unit: another unit, on an axis at the right.
        stacked: ``False`` leaves a limit out of a stack.
    """

    color: str = ""
    dashed: bool = False
    below_zero: bool = False
    unit: Unit | None = None
    stacked: bool = True


@dataclass(frozen=True, kw_only=True)
class TimeSeries(Panel):
    """Lines over time, or bars.

    Attributes:
        styles: by the name of a line (the whole legend), or by ``/regular expression/``.
        stacked: values are parts of a sum.
        bars: for counts of events.
        legend: ``table`` with last, mean and maximum, the highest last value first, as few rows are seen;
            ``list``; or ``hidden``.
        limits_as_lines: thresholds are drawn across the graph.
    """

    kind: ClassVar[str] = "timeseries"

    styles: Mapping[str, LineStyle] = field(default_factory=dict)
    stacked: bool = False
    bars: bool = False
    legend: str = "table"
    limits_as_lines: bool = False

    def color(self) -> dict[str, Any]:
        return {"mode": "palette-classic"}

    def options(self) -> dict[str, Any]:
        calcs = {"table": ["lastNotNull", "mean", "max"]}.get(self.legend, [])
        return {
            "legend": {
                "showLegend": self.legend != "hidden",
                "displayMode": "table" if self.legend == "table" else "list",
                "placement": "bottom",
                "calcs": calcs,
                **({"sortBy": "Last *", "sortDesc": True} if calcs else {}),
            },
            "tooltip": {"mode": "multi", "sort": "desc"},
        }

    def custom(self) -> dict[str, Any]:
        # A line of zeros would otherwise stand on an axis up to 100.
        soft = {Unit.NONE: 1, Unit.COUNT: 1, Unit.COUNT_PER_SECOND: 0.1}.get(self.unit)
        return {
            **({"axisSoftMax": soft} if soft is not None and self.high is None else {}),
            "drawStyle": "bars" if self.bars else "line",
            "lineInterpolation": "linear",
            "lineWidth": 1,
            "fillOpacity": 60 if self.bars else 25 if self.stacked else 0,
            "gradientMode": "none",
            "showPoints": "auto",
            "pointSize": 4,
            "spanNulls": False,
            "insertNulls": False,
            "stacking": {"mode": "normal" if self.stacked else "none", "group": "A"},
            "axisPlacement": "auto",
            "axisLabel": "",
            "axisColorMode": "text",
            "scaleDistribution": {"type": "linear"},
            "hideFrom": {"legend": False, "tooltip": False, "viz": False},
            "thresholdsStyle": {"mode": "dashed" if self.limits_as_lines else "off"},
        }

    def overrides(self) -> list[dict[str, Any]]:
        return [{"matcher": _matcher(name), "properties": _properties(style)} for name, style in self.styles.items()]


def _matcher(name: str) -> dict[str, Any]:
    return {"id": "byRegexp" if name.startswith("/") and name.endswith("/") else "byName", "options": name}


def _properties(style: LineStyle) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    if style.color:
        found.append({"id": "color", "value": {"mode": "fixed", "fixedColor": style.color}})
    if style.dashed:
        found.append({"id": "custom.lineStyle", "value": {"fill": "dash", "dash": [10, 10]}})
        found.append({"id": "custom.fillOpacity", "value": 0})
    if style.below_zero:
        found.append({"id": "custom.transform", "value": "negative-Y"})
    if style.unit is not None:
        found.append({"id": "unit", "value": style.unit.value})
        found.append({"id": "custom.axisPlacement", "value": "right"})
    if not style.stacked:
        found.append({"id": "custom.stacking", "value": {"mode": "none", "group": "A"}})
    return found


@dataclass(frozen=True, kw_only=True)
class Heatmap(Panel):
    """How many are in which range, over time; the queries give counts with the label ``le``, or one line a row.

    Attributes:
        y_unit: unit of the bounds.
        from_buckets: the answers are histogram buckets; else each line becomes one row of cells.
    """

    kind: ClassVar[str] = "heatmap"

    y_unit: Unit = Unit.SECONDS
    from_buckets: bool = True

    @property
    def answer_format(self) -> str:
        return "heatmap" if self.from_buckets else "time_series"

    def color(self) -> dict[str, Any]:
        return {"mode": "palette-classic"}

    def options(self) -> dict[str, Any]:
        return {
            "calculate": False,
            "yAxis": {"axisPlacement": "left", "reverse": False, "unit": self.y_unit.value},
            "rowsFrame": {"layout": "auto"},
            "color": {
                "mode": "scheme",
                "scheme": "Viridis",
                "fill": "dark-orange",
                "exponent": 0.5,
                "steps": 64,
                "reverse": False,
                **({"min": self.low} if self.low is not None else {}),
                **({"max": self.high} if self.high is not None else {}),
            },
            "cellGap": 1,
            "cellValues": {"unit": self.unit.value},
            "filterValues": {"le": 1e-9},
            "showValue": "never",
            "tooltip": {"mode": "single", "yHistogram": False, "showColorScale": True},
            "legend": {"show": True},
            "exemplars": {"color": "rgba(213,94,0,0.8)"},
        }

    def custom(self) -> dict[str, Any]:
        return {
            "scaleDistribution": {"type": "linear"},
            "hideFrom": {"legend": False, "tooltip": False, "viz": False},
        }


@dataclass(frozen=True, kw_only=True)
class StateTimeline(Panel):
    """A bar a series, which changes color with the state; the values need ``texts``."""

    kind: ClassVar[str] = "state-timeline"

    def options(self) -> dict[str, Any]:
        return {
            "mergeValues": True,
            "showValue": "auto",
            "alignValue": "left",
            "rowHeight": 0.85,
            "legend": {"showLegend": True, "displayMode": "list", "placement": "bottom"},
            "tooltip": {"mode": "single", "sort": "none"},
        }

    def custom(self) -> dict[str, Any]:
        return {
            "lineWidth": 0,
            "fillOpacity": 80,
            "spanNulls": False,
            "insertNulls": False,
            "hideFrom": {"legend": False, "tooltip": False, "viz": False},
        }


@dataclass(frozen=True, kw_only=True)
class StatusHistory(Panel):
    """A grid of cells, a row a series and a column a time: for many series whose values are compared."""

    kind: ClassVar[str] = "status-history"

    def options(self) -> dict[str, Any]:
        return {
            "showValue": "never",
            "rowHeight": 0.85,
            "colWidth": 0.9,
            "legend": {"showLegend": True, "displayMode": "list", "placement": "bottom"},
            "tooltip": {"mode": "single", "sort": "none"},
        }

    def custom(self) -> dict[str, Any]:
        return {
            "lineWidth": 0,
            "fillOpacity": 80,
            "hideFrom": {"legend": False, "tooltip": False, "viz": False},
        }

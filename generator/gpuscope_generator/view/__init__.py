"""Boards and panels as data, and how each kind of panel is set up; `gpuscope_generator.grafana` makes JSON of it."""

from gpuscope_generator.view import palette
from gpuscope_generator.view.board import Annotation, Board, Place, Row, panel_id, placed
from gpuscope_generator.view.explanation import Explanation
from gpuscope_generator.view.field import Thresholds, ValueText
from gpuscope_generator.view.figure import BarGauge, Gauge, Pie, Stat
from gpuscope_generator.view.graph import Heatmap, LineStyle, StateTimeline, StatusHistory, TimeSeries
from gpuscope_generator.view.link import Link, Noun, WebLink, cell, line
from gpuscope_generator.view.panel import Panel
from gpuscope_generator.view.prose import AlertList, Prose
from gpuscope_generator.view.query import Query
from gpuscope_generator.view.table import Cell, LabelColumn, Table, ValueColumn
from gpuscope_generator.view.unit import Unit
from gpuscope_generator.view.variable import (
    ALL_NEGATED,
    ALL_OR_NONE,
    ALL_PRESENT,
    Choice,
    DataSource,
    LabelValues,
    Variable,
)

__all__ = [
    "ALL_NEGATED",
    "ALL_OR_NONE",
    "ALL_PRESENT",
    "AlertList",
    "Annotation",
    "BarGauge",
    "Board",
    "Cell",
    "Choice",
    "DataSource",
    "Explanation",
    "Gauge",
    "Heatmap",
    "LabelColumn",
    "LabelValues",
    "LineStyle",
    "Link",
    "Noun",
    "Panel",
    "Pie",
    "Place",
    "Prose",
    "Query",
    "Row",
    "Stat",
    "StateTimeline",
    "StatusHistory",
    "Table",
    "Thresholds",
    "TimeSeries",
    "Unit",
    "ValueColumn",
    "ValueText",
    "Variable",
    "WebLink",
    "cell",
    "line",
    "palette",
    "panel_id",
    "placed",
]

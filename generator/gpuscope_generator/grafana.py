"""The door to grafanalib: boards as the JSON of Grafana's classic model, as Grafana 9 to 13 read it.

grafanalib writes shapes of Grafana 6: Angular-era options, a string in place of the base threshold, targets with a
halved resolution. So only its frames are used (dashboard, panel with its place and targets, variable, annotation), the
options come from our own panels, and what no Grafana of today knows is taken out at the end.
"""

from __future__ import annotations

import json
import re
from typing import Any

import attr
from grafanalib import core
from grafanalib._gen import DashboardEncoder

from gpuscope_generator.json_text import json_text
from gpuscope_generator.promql import RATE_INTERVAL
from gpuscope_generator.settings import Settings
from gpuscope_generator.view import (
    Annotation,
    Board,
    Choice,
    DataSource,
    LabelValues,
    Link,
    Noun,
    Panel,
    Row,
    Table,
    Variable,
    WebLink,
    panel_id,
    placed,
)
from gpuscope_generator.view.board import Place
from gpuscope_generator.view.table import ref_id

__all__ = ["SCHEMA_VERSION", "TAG", "board_json", "board_text"]

SCHEMA_VERSION = 39
"""Of Grafana 10.4: older ones read it, newer ones migrate it in a few steps."""
TAG = "gpuscope"
"""Every board carries it, and the drop-down between the boards finds them by it."""

_DATASOURCE = {"type": "prometheus", "uid": "${datasource}"}
_CELL = re.compile("\x00cell:([a-z_]+)\x00")
_LEGACY_PANEL = ("cacheTimeout", "editable", "error", "height", "minSpan", "span", "thresholds", "hideTimeOverride")
_LEGACY_TARGET = ("intervalFactor", "metric", "query", "step", "target")
_LEGACY_BOARD = ("__inputs", "gnetId", "hideControls", "rows", "sharedCrosshair", "style")
_LEGACY_VARIABLE = ("auto", "auto_count", "auto_min", "tagValuesQuery", "tags", "tagsQuery", "useTags")


def board_text(board: Board, settings: Settings) -> str:
    """A board as a JSON file: the same on every machine."""
    return json_text(board_json(board, settings)) + "\n"


def board_json(board: Board, settings: Settings) -> dict[str, Any]:
    """A board in Grafana's classic model.

    Args:
        board: what to show.
        settings: link prefix, tags and panels that are switched off.

    Raises:
        ValueError: a link names a column that the table does not have.
    """
    dashboard = core.Dashboard(
        title=board.title,
        description=board.description,
        uid=board.noun.uid,
        tags=[TAG, *settings.extra_tags],
        schemaVersion=SCHEMA_VERSION,
        editable=settings.editable,
        graphTooltip=1,
        refresh=board.refresh,
        time=core.Time(board.time_from, "now"),
        timezone="browser",
        templating=core.Templating([_Verbatim(_variable(variable)) for variable in board.variables]),
        annotations=core.Annotations([_annotation(annotation) for annotation in board.annotations]),
        links=[_board_menu()],
        panels=_panels(board, settings),
    )
    found = json.loads(json.dumps(dashboard.to_json_data(), cls=DashboardEncoder, sort_keys=False))
    return _modern(found)


@attr.s
class _Verbatim:
    """Something that grafanalib has no class for, or an outdated one."""

    data: Any = attr.ib()

    def to_json_data(self) -> dict[str, Any]:
        found: dict[str, Any] = self.data
        return found


@attr.s
class _AnyPanel(core.Panel):  # type: ignore[misc]
    """Any kind of panel of today: grafanalib gives the frame, and the options come as they are."""

    kind: str = attr.ib(default="")
    options: dict[str, Any] = attr.ib(factory=dict)
    field_config: dict[str, Any] = attr.ib(factory=dict)

    def to_json_data(self) -> dict[str, Any]:
        found: dict[str, Any] = self.panel_json(
            {"type": self.kind, "options": self.options, "fieldConfig": self.field_config}
        )
        return found


def _panels(board: Board, settings: Settings) -> list[Any]:
    found: list[Any] = []
    top = 0
    for row in board.rows:
        panels = tuple(panel for panel in row.panels if f"{board.noun}/{panel.key}" not in settings.panels_off)
        if not panels:
            continue
        if row.title:
            head = _row(row, top)
            found.append(head)
            top += 1
        places = placed(panels, top)
        drawn = [_panel(panel, place, settings) for panel, place in places]
        top = max(place.y + place.height for _, place in places)
        if row.collapsed:
            head.data["panels"] = drawn
            top = head.data["gridPos"]["y"] + 1
        else:
            found.extend(drawn)
    return found


def _row(row: Row, top: int) -> _Verbatim:
    return _Verbatim(
        {
            "type": "row",
            "id": panel_id(f"row {row.title}"),
            "title": row.title,
            "collapsed": row.collapsed,
            "gridPos": {"h": 1, "w": 24, "x": 0, "y": top},
            "panels": [],
        }
    )


def _panel(panel: Panel, place: Place, settings: Settings) -> _AnyPanel:
    defaults = panel.defaults()
    if panel.links:
        defaults["links"] = [_link(link, panel, settings) for link in panel.links]
    make: Any = _AnyPanel
    found: _AnyPanel = make(
        id=panel_id(panel.key),
        title=panel.title,
        description=panel.explanation.text,
        kind=panel.kind,
        dataSource=_DATASOURCE if panel.queries else None,
        gridPos=core.GridPos(place.height, place.width, place.x, place.y),
        interval=settings.scrape_interval if panel.queries else None,
        maxDataPoints=None,
        targets=[_target(panel, index, settings.scrape_interval) for index in range(len(panel.queries))],
        transformations=panel.transformations(),
        options=panel.options(),
        field_config={"defaults": defaults, "overrides": _overrides(panel, settings)},
    )
    return found


def _target(panel: Panel, index: int, scrape_interval: str) -> _Verbatim:
    query = panel.queries[index]
    instant = query.instant or panel.always_instant
    # $__rate_interval follows from the min step of a query, else from what the data source says about its scrapes.
    interval = query.min_step or (scrape_interval if RATE_INTERVAL in query.expression.text else "")
    found: dict[str, Any] = {
        "refId": ref_id(index),
        "datasource": _DATASOURCE,
        "editorMode": "code",
        "expr": query.expression.text,
        "format": panel.answer_format,
        "instant": instant,
        "range": not instant,
        "exemplar": query.exemplar,
        "legendFormat": query.legend or "__auto",
    }
    if interval:
        found["interval"] = interval
    return _Verbatim(found)


def _overrides(panel: Panel, settings: Settings) -> list[dict[str, Any]]:
    found = panel.overrides()
    if not isinstance(panel, Table):
        return found
    by_title = {override["matcher"]["options"]: override for override in found}
    for column in panel.columns:
        if not column.links:
            continue
        if column.title not in by_title:
            override = {"matcher": {"id": "byName", "options": column.title}, "properties": []}
            by_title[column.title] = override
            found.append(override)
        links = [_link(link, panel, settings) for link in column.links]
        by_title[column.title]["properties"].append({"id": "links", "value": links})
    return found


def _link(link: Link | WebLink, panel: Panel, settings: Settings) -> dict[str, Any]:
    if isinstance(link, WebLink):
        return {"title": link.title, "url": link.url, "targetBlank": True}
    carried = dict(link.carry)
    cluster = carried.pop("cluster", "")
    parts = ["${__url_time_range}", "${datasource:queryparam}"]
    parts.append(f"var-cluster={cluster}" if cluster else "${cluster:queryparam}")
    parts.extend(f"var-{name}={value}" for name, value in carried.items())
    query = _CELL.sub(lambda found: _cell_value(panel.cell_title(found[1])), "&".join(parts))
    return {"title": link.title, "url": f"{board_url(link.board, settings)}?{query}"}


def _cell_value(title: str) -> str:
    path = f".{title}" if re.fullmatch(r"\w+", title) else f'["{title}"]'
    return f"${{__data.fields{path}:percentencode}}"


def board_url(noun: Noun, settings: Settings) -> str:
    """Address of a board, without a query."""
    return f"{settings.link_prefix}/d/{noun.uid}/{noun.value}"


def _board_menu() -> _Verbatim:
    return _Verbatim(
        {
            "type": "dashboards",
            "title": "GPU boards",
            "tags": [TAG],
            "asDropdown": True,
            "includeVars": True,
            "keepTime": True,
            "targetBlank": False,
            "icon": "external link",
            "tooltip": "",
            "url": "",
        }
    )


def _annotation(annotation: Annotation) -> dict[str, Any]:
    return {
        "name": annotation.name,
        "datasource": _DATASOURCE,
        "enable": annotation.enabled,
        "hide": False,
        "iconColor": annotation.color,
        "expr": annotation.expression.text,
        "step": annotation.step,
        "titleFormat": annotation.title,
        "textFormat": annotation.text,
        "tagKeys": "",
        "useValueForTime": False,
    }


def _variable(variable: Variable) -> dict[str, Any]:
    if isinstance(variable, DataSource):
        return {
            "type": "datasource",
            "name": variable.name,
            "label": variable.label,
            "query": variable.type,
            "regex": variable.regex,
            "refresh": 1,
            "hide": 0,
            "multi": False,
            "includeAll": False,
            "skipUrlSync": False,
            "options": [],
            "current": {},
        }
    if isinstance(variable, LabelValues):
        every = (
            {"selected": True, "text": ["All"], "value": ["$__all"]}
            if variable.multi
            else {"selected": True, "text": "All", "value": "$__all"}
        )
        found = {
            "type": "query",
            "name": variable.name,
            "label": variable.label,
            "datasource": _DATASOURCE,
            "definition": variable.query,
            "query": {"qryType": 1, "query": variable.query, "refId": "PrometheusVariableQueryEditor-VariableQuery"},
            "refresh": 2,
            "sort": 1,
            "regex": "",
            "hide": 0,
            "multi": variable.multi,
            "includeAll": variable.include_all,
            "skipUrlSync": False,
            "options": [],
            "current": every if variable.include_all else {},
        }
        if variable.include_all:
            found["allValue"] = variable.all_value
        return found
    return _choice(variable)


def _choice(variable: Choice) -> dict[str, Any]:
    options = [
        {"selected": index == 0, "text": text, "value": value} for index, (text, value) in enumerate(variable.options)
    ]
    first = dict(options[0])
    if variable.multi:
        first |= {"text": [first["text"]], "value": [first["value"]]}
    return {
        "type": "custom",
        "name": variable.name,
        "label": variable.label,
        "query": ", ".join(f"{text} : {value}" for text, value in variable.options),
        "hide": 0,
        "multi": variable.multi,
        "includeAll": False,
        "skipUrlSync": False,
        "options": options,
        "current": first,
    }


def _modern(found: dict[str, Any]) -> dict[str, Any]:
    """Takes out what today's Grafana does not know, at the board, its panels and their targets."""
    board: dict[str, Any] = _without(_pruned(found), _LEGACY_BOARD)
    board["panels"] = [_modern_panel(panel) for panel in board["panels"]]
    board["templating"]["list"] = [_without(variable, _LEGACY_VARIABLE) for variable in board["templating"]["list"]]
    board["timepicker"] = {"refresh_intervals": board.get("timepicker", {}).get("refresh_intervals", [])}
    return board


def _modern_panel(panel: dict[str, Any]) -> dict[str, Any]:
    if panel["type"] == "row":
        return panel | {"panels": [_modern_panel(inner) for inner in panel["panels"]]}
    modern = _without(panel, _LEGACY_PANEL)
    modern["targets"] = [_without(target, _LEGACY_TARGET) for target in panel["targets"]]
    if not modern["targets"]:
        del modern["targets"]
    defaults = modern["fieldConfig"]["defaults"]
    for found in (defaults, *_overridden(modern)):
        if not found.get("thresholds", {}).get("steps"):
            found.pop("thresholds", None)
        else:
            found["thresholds"]["steps"][0]["value"] = None
    return modern


def _overridden(panel: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"thresholds": found["value"]}
        for override in panel["fieldConfig"]["overrides"]
        for found in override["properties"]
        if found["id"] == "thresholds"
    ]


def _without(found: dict[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    return {key: value for key, value in found.items() if key not in keys}


def _pruned(found: Any) -> Any:
    if isinstance(found, dict):
        return {key: _pruned(value) for key, value in found.items() if value is not None}
    if isinstance(found, list):
        return [_pruned(item) for item in found]
    return found

"""A board with every kind of panel, drawn in a real browser."""

import json
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.generator.preview.conftest import Upstream

from gpuscope_generator.preview.server import STATIC, require_page
from gpuscope_generator.preview.shelf import Shelf

FRONT_END = Path(__file__).parents[4] / "generator/preview"
QUERIES = {
    "stat": {"instant": True},
    "gauge": {"instant": True},
    "bargauge": {"instant": True},
    "piechart": {"instant": True},
    "timeseries": {},
    "state-timeline": {},
    "status-history": {},
    "heatmap": {"format": "heatmap"},
    "table": {"instant": True, "format": "table"},
    "text": None,
    "alertlist": None,
    "logs": {"instant": True, "format": "table"},
}
REDUCED = {"reduceOptions": {"calcs": ["lastNotNull"], "values": False, "fields": ""}}
LEGEND = {"legend": {"showLegend": True, "displayMode": "list", "placement": "bottom", "calcs": []}}
LIMITS = {"mode": "absolute", "steps": [{"color": "#009E73", "value": None}, {"color": "#D55E00", "value": 3}]}


def panels() -> Iterator[dict[str, Any]]:
    for number, (kind, target) in enumerate(QUERIES.items()):
        asked = {"refId": "A", "expr": 'up{node=~"$node"}', "format": "time_series", "instant": False}
        yield {
            "id": number + 1,
            "type": kind,
            "title": f"{kind} of $node",
            "description": "**Shows** it.",
            "gridPos": {"x": 8 * (number % 3), "y": 8 * (number // 3), "w": 8, "h": 8},
            "options": REDUCED
            | LEGEND
            | {"mode": "markdown", "content": "Some **words**", "colorMode": "value", "textMode": "auto"}
            | {"rowHeight": 0.9, "colWidth": 0.9, "mergeValues": True, "showHeader": True, "displayLabels": ["percent"]}
            | {"alertInstanceLabelFilter": '{node=~"$node"}', "showThresholdMarkers": True, "displayMode": "basic"},
            "fieldConfig": {"defaults": {"unit": "bytes", "noValue": "None", "thresholds": LIMITS}, "overrides": []},
            "targets": [] if target is None else [asked | target],
        }


def board(*, closed: bool = False) -> dict[str, Any]:
    row = {"id": 99, "type": "row", "title": "More", "collapsed": True, "gridPos": {"y": 0}, "panels": list(panels())}
    query = {"query": 'label_values(up{cluster=~"$cluster"}, node)'}
    named = {"type": "query", "multi": True, "includeAll": True, "allValue": ".+", "current": {"value": ["$__all"]}}
    return {
        "title": "Every kind",
        "panels": [row] if closed else list(panels()),
        "templating": {
            "list": [
                {"name": "datasource", "type": "datasource"},
                named | {"name": "cluster", "query": "label_values(up, cluster)"},
                named | {"name": "node", "query": query},
            ]
        },
        "annotations": {"list": [{"name": "Alerts", "expr": "ALERTS", "enable": True, "iconColor": "#E69F00"}]},
    }


def prometheus(path: str) -> Any:
    """Two series of every answer."""
    route = urlsplit(path).path
    now = time.time()
    labels = [{"node": "gpu-1", "le": "1"}, {"node": "gpu-2", "le": "+Inf"}]
    times = [now - 300 + 15 * index for index in range(20)]
    if route.endswith("/values"):
        return {"status": "success", "data": ["gpu-1", "gpu-2"]}
    if route.endswith("/alerts"):
        alert = {"labels": {"alertname": "Hot", "node": "gpu-1"}, "state": "firing", "annotations": {}}
        return {"status": "success", "data": {"alerts": [alert]}}
    if route.endswith("/query"):
        result = [{"metric": one, "value": [now, str(index + 2)]} for index, one in enumerate(labels)]
        return {"status": "success", "data": {"resultType": "vector", "result": result}}
    values = [[[at, str(index + position % 3)] for position, at in enumerate(times)] for index in (1, 4)]
    result = [{"metric": one, "values": two} for one, two in zip(labels, values, strict=True)]
    return {"status": "success", "data": {"resultType": "matrix", "result": result}}


def look(tmp_path: Path, url: str) -> dict[str, Any]:
    require_page()
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    assert chromium, "no Chromium on PATH; `make test-preview` fetches one"
    picture = tmp_path / "board.png"
    page = {"name": "board", "url": url, "width": 1280, "height": 720, "picture": str(picture), "whole": True}
    (tmp_path / "plan.json").write_text(json.dumps({"chromium": chromium, "pages": [page]}))
    done = subprocess.run(
        ["node", "look.mjs", str(tmp_path / "plan.json")], cwd=FRONT_END, capture_output=True, text=True, timeout=280
    )
    assert done.returncode == 0, done.stderr
    assert picture.read_bytes().startswith(b"\x89PNG")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_every_kind_of_panel_is_drawn(preview: Callable[..., str], upstream: Upstream, tmp_path: Path) -> None:
    upstream.content = prometheus
    url = preview(shelf=Shelf({"every": board()}), page=STATIC)
    found = look(tmp_path, f"{url}/d/every/every?from=now-5m&to=now&theme=light&var-node=gpu-1")
    assert found["console"] == []
    assert found["problems"] == []
    assert {panel["kind"]: panel["state"] for panel in found["panels"]} == dict.fromkeys(QUERIES, "ok")
    assert any("up%7Bnode%3D~%22gpu-1%22%7D" in body for _, _, body, _ in upstream.asked)
    assert any("match%5B%5D=up%7Bcluster%3D~%22.%2B%22%7D" in path for _, path, _, _ in upstream.asked)


def test_an_error_and_an_empty_answer_are_told_and_a_closed_row_asks_nothing(
    preview: Callable[..., str], upstream: Upstream, tmp_path: Path
) -> None:
    def answer(path: str) -> Any:
        if urlsplit(path).path.endswith("/query"):
            return {"status": "error", "error": "too many samples"}
        empty = {"resultType": "matrix", "result": []}
        return prometheus(path) if path.endswith("s") or "values" in path else {"status": "success", "data": empty}

    upstream.content = answer
    url = preview(shelf=Shelf({"every": board(closed=True)}), page=STATIC)
    found = look(tmp_path, f"{url}/d/every/every?open=all")
    states = {panel["kind"]: (panel["state"], panel["message"]) for panel in found["panels"]}
    assert states["stat"] == ("error", "too many samples")
    assert states["timeseries"] == ("empty", "")
    upstream.asked.clear()
    closed = look(tmp_path, f"{url}/d/every/every")
    assert closed["panels"] == []
    assert {urlsplit(path).path.rpartition("/")[2] for _, path, _, _ in upstream.asked} == {"values", "query_range"}
    assert [body for _, _, body, _ in upstream.asked if body and "query=ALERTS" not in body] == []

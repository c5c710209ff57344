"""The JSON of boards: each kind of panel, links, variables, and no trace of Grafana 6."""

import json
from typing import Any

import pytest
from tests.generator.lint.artefacts import leaves
from tests.generator.lint.test_typed_model import lost
from tests.generator.live.conftest import EXPLANATION, IN_CLUSTER, IN_NODE, POWER, board, every_kind, graph

from gpuscope_generator.grafana import board_json, board_text
from gpuscope_generator.live.panels import panels_of
from gpuscope_generator.promql import RATE_INTERVAL, Vector, select
from gpuscope_generator.settings import Settings
from gpuscope_generator.view import (
    AlertList,
    Annotation,
    BarGauge,
    Cell,
    Gauge,
    Heatmap,
    LabelColumn,
    LineStyle,
    Link,
    Noun,
    Panel,
    Pie,
    Prose,
    Query,
    Stat,
    StateTimeline,
    StatusHistory,
    Table,
    Thresholds,
    TimeSeries,
    Unit,
    ValueColumn,
    ValueText,
    WebLink,
    cell,
    line,
    palette,
)

NODE_POWER = select(POWER, IN_CLUSTER, IN_NODE)
LIMITS = Thresholds(base=palette.OK, steps=((0.5, palette.WARN), (0.9, palette.BAD)))
WORDS = {"0": ValueText("down", palette.BAD), "1": ValueText("up", palette.OK)}
LINKS = (
    Link("Node", Noun.CLUSTER, {"node": line("node"), "cluster": line("cluster")}),
    WebLink("Runbook", "https://wiki.example/x"),
)
COMMON: dict[str, Any] = {
    "title": "T",
    "explanation": EXPLANATION,
    "unit": Unit.RATIO,
    "thresholds": LIMITS,
    "texts": WORDS,
    "low": 0,
    "high": 1,
    "decimals": 1,
    "links": LINKS,
    "queries": (
        Query(expression=NODE_POWER, legend="{{node}}", exemplar=True, min_step="1m"),
        Query(expression=NODE_POWER),
    ),
}
TABLE = Table(
    key="table",
    title="T",
    explanation=EXPLANATION,
    sort_by="GPU power",
    columns=(
        LabelColumn(
            label="node", title="Node name", links=(Link("Open", Noun.CLUSTER, {"node": cell("node")}),), width=90
        ),
        LabelColumn(label="cluster", title="Cluster", hidden=True, texts=WORDS),
        ValueColumn(
            title="GPU power", expression=NODE_POWER, unit=Unit.WATTS, cell=Cell.BAR, low=0, high=9, decimals=0
        ),
        ValueColumn(
            title="Up",
            expression=NODE_POWER,
            cell=Cell.COLORED_BACKGROUND,
            thresholds=LIMITS,
            texts=WORDS,
            links=(Link("Go", Noun.CLUSTER, {"node": cell("node"), "cluster": cell("cluster")}),),
        ),
    ),
)
PANELS: tuple[Panel, ...] = (
    TimeSeries(
        key="lines",
        stacked=True,
        limits_as_lines=True,
        styles={
            "limit": LineStyle(color=palette.BAD, dashed=True, stacked=False),
            "/tx.*/": LineStyle(below_zero=True, unit=Unit.BYTES),
        },
        **COMMON,
    ),
    TimeSeries(key="bars", bars=True, legend="hidden", **COMMON),
    Stat(key="stat", sparkline=True, color_background=True, **COMMON),
    Gauge(key="gauge", **COMMON),
    BarGauge(key="bar_gauge", colors={"a": palette.OK}, **COMMON),
    Pie(key="pie", colors={"a": palette.OK}, **COMMON),
    Heatmap(key="heat", **COMMON),
    Heatmap(key="rows", from_buckets=False, **COMMON),
    StateTimeline(key="states", **COMMON),
    StatusHistory(key="history", **COMMON),
    TABLE,
    AlertList(key="alerts", title="T", explanation=EXPLANATION, label_filter='{cluster=~"$cluster"}'),
    Prose(key="words", title="T", explanation=EXPLANATION, content="# Words"),
)


def built(*panels: Panel, settings: Settings | None = None) -> list[dict[str, Any]]:
    return [dict(panel) for panel in panels_of(board_json(board(*panels), settings or Settings()))]


@pytest.mark.parametrize("panel", PANELS, ids=lambda panel: panel.key)
def test_no_kind_of_panel_loses_a_key_in_the_typed_model(panel: Panel) -> None:
    assert lost(board_json(board(panel), Settings())) == []


def test_annotations_variables_and_rows_lose_no_key() -> None:
    mark = Annotation(name="XID", expression=Vector("x"), title="{{xid}}", text="t", color=palette.BAD, enabled=False)
    assert lost(board_json(board(*PANELS, annotations=(mark,)), Settings(extra_tags=("ml",), editable=True))) == []
    assert lost(board_json(every_kind(), Settings())) == []


def test_nothing_of_old_grafana_is_left() -> None:
    found = board_json(board(*PANELS), Settings())
    keys = {part for path, _ in leaves(found) for part in path.replace("]", "").replace("[", ".").split(".")}
    assert keys & {
        "intervalFactor", "step ", "metric", "target", "gnetId", "sharedCrosshair", "hideControls", "rows", "style",
        "maxDataPoints", "reduceCalc", "displayMode ", "valueName", "cards", "dataFormat", "yBucketBound", "colorMode ",
        "renderer", "nullPointMode", "aliasColors", "seriesOverrides", "__inputs", "span", "minSpan",
        "cacheTimeout", "hideTimeOverride", "auto_count", "auto_min", "tagsQuery", "tagValuesQuery", "useTags",
    } == set()  # fmt: skip
    assert found["schemaVersion"] == 39
    assert all(value is not None for path, value in leaves(found) if not path.endswith("steps[0].value"))
    stat = next(panel for panel in panels_of(found) if panel["type"] == "stat")
    assert stat["options"]["reduceOptions"]["calcs"] == ["lastNotNull"]
    steps = stat["fieldConfig"]["defaults"]["thresholds"]["steps"]
    assert steps == [
        {"color": palette.OK, "value": None},
        {"color": palette.WARN, "value": 0.5},
        {"color": palette.BAD, "value": 0.9},
    ]
    heat = next(panel for panel in panels_of(found) if panel["type"] == "heatmap")
    assert heat["targets"][0]["format"] == "heatmap"
    assert heat["options"]["calculate"] is False
    assert all(isinstance(variable.get("current"), dict) for variable in found["templating"]["list"])


def test_queries_have_letters_steps_and_one_way_of_asking() -> None:
    lines, table = built(PANELS[0], TABLE)
    assert [target["refId"] for target in lines["targets"]] == ["A", "B"]
    first, second = lines["targets"]
    assert (first["interval"], first["exemplar"], first["legendFormat"]) == ("1m", True, "{{node}}")
    assert ("interval" in second, second["legendFormat"], second["range"], second["instant"]) == (
        False,
        "__auto",
        True,
        False,
    )
    assert all(
        (target["instant"], target["range"], target["format"]) == (True, False, "table") for target in table["targets"]
    )
    many = graph("many", *[NODE_POWER] * 28)
    assert [target["refId"] for target in built(many)[0]["targets"]][24:] == ["Y", "Z", "AA", "AB"]


def test_a_rate_says_its_scrape_interval_so_that_the_data_source_need_not() -> None:
    rates, level = built(
        graph("rates", Vector(f"rate(x[{RATE_INTERVAL}])")),
        graph("level", NODE_POWER),
        settings=Settings(scrape_interval="45s"),
    )
    assert (rates["targets"][0]["interval"], rates["interval"]) == ("45s", "45s")
    assert "interval" not in level["targets"][0]


def test_links_carry_time_data_source_cluster_and_the_entity() -> None:
    (lines,) = built(PANELS[0], settings=Settings(link_prefix="/grafana"))
    link, page = lines["fieldConfig"]["defaults"]["links"]
    assert link["url"] == (
        "/grafana/d/gpuscope-cluster/cluster?${__url_time_range}&${datasource:queryparam}"
        "&var-cluster=${__field.labels.cluster:percentencode}&var-node=${__field.labels.node:percentencode}"
    )
    assert page == {"title": "Runbook", "url": "https://wiki.example/x", "targetBlank": True}


def test_cells_of_tables_link_by_the_titles_of_their_columns() -> None:
    (table,) = built(TABLE)
    overrides = {one["matcher"]["options"]: one["properties"] for one in table["fieldConfig"]["overrides"]}
    (open_node,) = [one["value"] for one in overrides["Node name"] if one["id"] == "links"]
    assert open_node[0]["url"].endswith('&${cluster:queryparam}&var-node=${__data.fields["Node name"]:percentencode}')
    (go,) = [one["value"] for one in overrides["Up"] if one["id"] == "links"]
    assert "&var-cluster=${__data.fields.Cluster:percentencode}&var-node=" in go[0]["url"]
    assert table["options"]["sortBy"] == [{"displayName": "GPU power", "desc": True}]


def test_columns_of_tables_get_their_names_and_order() -> None:
    (table,) = built(TABLE)
    merge, organize = table["transformations"]
    assert merge["id"] == "merge"
    options = organize["options"]
    assert options["renameByName"] == {
        "node": "Node name",
        "cluster": "Cluster",
        "Value #A": "GPU power",
        "Value #B": "Up",
    }
    assert options["indexByName"] == {"node": 0, "cluster": 1, "Value #A": 2, "Value #B": 3}
    assert options["excludeByName"] == {"Time": True}
    one = Table(
        key="one",
        title="T",
        explanation=EXPLANATION,
        columns=(LabelColumn(label="node", title="Node"), ValueColumn(title="W", expression=NODE_POWER)),
    )
    (organize,) = built(one)[0]["transformations"]
    assert organize["options"]["renameByName"] == {"node": "Node", "Value": "W"}
    assert organize["options"]["excludeByName"] == {"Time": True, "cluster": True}


def test_panels_that_are_off_leave_no_gap() -> None:
    off = Settings(panels_off=frozenset({"cluster/lines"}))
    found = board_json(board(PANELS[1], PANELS[0], PANELS[2]), off)
    assert [panel["title"] for panel in panels_of(found)] == ["T", "T"]
    assert [panel["gridPos"]["x"] for panel in panels_of(found)] == [0, 0]
    alone = board_json(board(PANELS[1], PANELS[0]), off)
    assert [panel["type"] for panel in alone["panels"]] == ["timeseries"]


def test_rows_hold_their_panels_only_while_they_are_closed() -> None:
    found = board_json(board(PANELS[0], PANELS[1], PANELS[2]), Settings())
    first, row = found["panels"]
    assert (first["type"], row["type"], row["collapsed"], len(row["panels"])) == ("timeseries", "row", True, 2)
    assert row["gridPos"] == {"h": 1, "w": 24, "x": 0, "y": 8}


def test_variables_open_as_grafana_expects() -> None:
    found = {one["name"]: one for one in board_json(board(PANELS[0]), Settings())["templating"]["list"]}
    assert found["cluster"]["current"] == {"selected": True, "text": "All", "value": "$__all"}
    assert found["node"]["current"] == {"selected": True, "text": ["All"], "value": ["$__all"]}
    assert (found["workload"]["current"], "allValue" in found["workload"]) == ({}, False)
    assert found["top"]["query"] == "five : 5, ten : 10"
    assert found["top"]["current"]["value"] == "5"
    assert found["node"]["definition"] == 'label_values(node:info:union{cluster=~"$cluster"}, node)'


def test_text_is_the_same_every_time_and_ends_its_last_line() -> None:
    text = board_text(board(*PANELS), Settings())
    assert text == board_text(board(*PANELS), Settings())
    assert text.endswith("}\n")
    assert json.loads(text) == board_json(board(*PANELS), Settings())


def test_a_link_to_a_column_that_is_not_there_is_refused() -> None:
    wrong = Table(
        key="t",
        title="T",
        explanation=EXPLANATION,
        columns=(
            LabelColumn(label="node", title="N", links=(Link("L", Noun.TASK, {"pod": cell("pod")}),)),
            ValueColumn(title="V", expression=NODE_POWER),
        ),
    )
    with pytest.raises(ValueError, match="a link names pod, which is no column"):
        built(wrong)

"""Every board as Grafana reads it: shape, places, links, texts."""

import itertools
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from tests.generator.lint.artefacts import boards, documents, leaves, nouns, panels, texts

from gpuscope_generator.view import Noun, Table, Unit, palette

MAX_BYTES = 256 * 1024
MAX_PANELS = 45
MAX_FIRST_QUERIES = 12
LEGACY = ('schemaVersion": 12', "intervalFactor", "gnetId", "sharedCrosshair", "${DS_", "__inputs", "tagsQuery")
KINDS = {
    "timeseries", "stat", "gauge", "bargauge", "table", "heatmap", "state-timeline", "status-history", "piechart",
    "text", "alertlist", "logs",
}  # fmt: skip
GRAFANA_VARIABLES = {"datasource", "__url_time_range", "__from", "__to"}

each_board = pytest.mark.parametrize("noun", nouns())


@each_board
def test_board_is_fit_for_grafana_9_to_13(noun: str) -> None:
    board = documents()[noun]
    assert board["uid"] == f"gpuscope-{noun}"
    assert board["schemaVersion"] >= 39
    assert (board["graphTooltip"], board["editable"], board["timezone"]) == (1, False, "browser")
    assert board["title"]
    assert board["description"].endswith(("?", "."))
    assert "gpuscope" in board["tags"]
    assert [word for word in LEGACY if word in texts()[noun]] == []
    assert {panel["type"] for panel in panels(noun)} <= KINDS
    assert not any(value is None for path, value in leaves(board) if not path.endswith("steps[0].value"))
    assert len(texts()[noun].encode()) < MAX_BYTES
    (menu,) = board["links"]
    assert (menu["type"], menu["asDropdown"], menu["includeVars"], menu["keepTime"]) == ("dashboards", True, True, True)


@each_board
def test_board_is_small_enough_to_read_and_to_open(noun: str) -> None:
    first = [panel for panel in documents()[noun]["panels"] if panel["type"] != "row"]
    assert len(panels(noun)) <= MAX_PANELS
    assert sum(len(panel.get("targets", ())) for panel in first) <= MAX_FIRST_QUERIES


@each_board
def test_variables_are_chained_and_reload(noun: str) -> None:
    head, *rest = documents()[noun]["templating"]["list"]
    assert (head["type"], head["name"], head["label"]) == ("datasource", "datasource", "Data source")
    known = {"datasource"}
    for variable in rest:
        assert variable["label"]
        if variable["type"] == "query":
            assert (variable["refresh"], variable["datasource"]["uid"]) == (2, "${datasource}")
            asked = set(re.findall(r"\$\{?(\w+)", variable["query"]["query"]))
            assert asked <= known, f"{variable['name']} asks for {asked - known}, which is not left of it"
            assert variable["definition"] == variable["query"]["query"]
            assert not variable["includeAll"] or variable["allValue"] in (".*", ".+", ".*|")
        known.add(variable["name"])
    assert rest[0]["name"] == "cluster"
    assert (rest[0]["hide"], rest[0]["includeAll"], rest[0]["allValue"]) == (0, True, ".*")
    assert len(known) == len(rest) + 1


@each_board
def test_every_variable_of_the_board_is_known(noun: str) -> None:
    known = {variable["name"] for variable in documents()[noun]["templating"]["list"]}
    asked = {
        name
        for path, value in leaves(documents()[noun]["panels"])
        if isinstance(value, str) and path.endswith((".expr", ".title", ".alertInstanceLabelFilter"))
        for name in re.findall(r"\$\{?([a-zA-Z]\w*)", value)
    }
    assert asked - known == set()


@each_board
def test_ids_keys_and_titles_are_unique_and_stable(noun: str) -> None:
    every = documents()[noun]["panels"]
    ids = [panel["id"] for panel in (*every, *(inner for row in every for inner in row.get("panels", ())))]
    assert len(set(ids)) == len(ids)
    keys = [panel.key for panel in boards()[noun].panels]
    assert len(set(keys)) == len(keys)
    by_row = [(row.title, panel.title) for row in boards()[noun].rows for panel in row.panels]
    assert len(set(by_row)) == len(by_row)


@each_board
def test_panels_do_not_overlap(noun: str) -> None:
    board = documents()[noun]
    for group in (board["panels"], *(row["panels"] for row in board["panels"] if row["type"] == "row")):
        for panel in group:
            place = panel["gridPos"]
            assert 0 <= place["x"] < place["x"] + place["w"] <= 24, panel["title"]
            assert place["h"] >= 1
        for one, other in itertools.combinations(group, 2):
            assert not _overlap(one["gridPos"], other["gridPos"]), (one["title"], other["title"])


def _overlap(one: dict[str, int], other: dict[str, int]) -> bool:
    return (
        one["x"] < other["x"] + other["w"]
        and other["x"] < one["x"] + one["w"]
        and one["y"] < other["y"] + other["h"]
        and other["y"] < one["y"] + one["h"]
    )


@each_board
def test_every_panel_explains_itself(noun: str) -> None:
    for panel in panels(noun):
        assert panel["title"].strip(), panel["id"]
        assert not panel["title"].endswith("."), panel["title"]
        for part in ("**Source:**", "**Good:**", "**What to do:**"):
            assert part in panel["description"], panel["title"]
        if panel["type"] not in ("text", "alertlist"):
            assert panel["targets"], panel["title"]
            assert panel["datasource"]["uid"] == "${datasource}"
            assert panel["fieldConfig"]["defaults"]["noValue"].strip()
            assert panel["interval"]


@each_board
def test_every_number_has_a_unit_and_colors_come_from_the_palette(noun: str) -> None:
    known = {unit.value for unit in Unit}
    colors = {value for name in palette.__all__ for value in _flat(getattr(palette, name))} | {"transparent"}
    for panel in panels(noun):
        if panel["type"] in ("text", "alertlist"):
            continue
        units = [value for path, value in leaves(panel["fieldConfig"]) if path.endswith(".unit")]
        assert units, panel["title"]
        assert set(units) <= known, panel["title"]
        used = {value for path, value in leaves(panel["fieldConfig"]) if path.endswith(("olor", "fixedColor"))}
        assert used <= colors, (panel["title"], used - colors)
        for path, steps in _steps(panel["fieldConfig"]):
            values = [step["value"] for step in steps]
            assert values[0] is None, path
            assert values[1:] == sorted(set(values[1:])), (panel["title"], path)


@each_board
def test_low_use_is_colored_and_high_use_is_not(noun: str) -> None:
    """GPUs that work are what everybody wants: the color warns where one does little, never where it does much."""
    for panel in boards()[noun].panels:
        for what, limits in _activity(panel):
            if limits is not None:
                assert limits.steps[-1][1] not in (palette.WARN, palette.BAD), (panel.key, what)
                assert limits.base != palette.OK, (panel.key, what)


def _activity(panel: Any) -> Iterator[tuple[str, Any]]:
    """Title and limits of what shows how busy GPUs are; a table has them in its columns."""
    if isinstance(panel, Table):
        found = [(column.title, column.expression, column.thresholds) for column in panel.values]
    else:
        found = [(panel.title, query.expression, panel.thresholds) for query in panel.queries]
    for title, expression, limits in found:
        if any(":compute_active:" in series.name or ":tensor_active:" in series.name for series in expression.series):
            yield title, limits


def test_no_more_units_are_written_out_than_must_be() -> None:
    assert {unit for unit in Unit if unit.startswith("suffix:")} == {Unit.TOKENS_PER_SECOND, Unit.COUNT_PER_SECOND}


@each_board
def test_every_panel_asks_prometheus(noun: str) -> None:
    for panel in panels(noun):
        for target in panel.get("targets", ()):
            assert target["expr"]
            assert panel["datasource"]["type"] == "prometheus"
            assert target.get("datasource", panel["datasource"]) == panel["datasource"]


def _flat(found: Any) -> tuple[str, ...]:
    return (found,) if isinstance(found, str) else tuple(found)


def _steps(found: Any, path: str = "$") -> list[tuple[str, list[dict[str, Any]]]]:
    if isinstance(found, dict):
        here = [(path, found["steps"])] if isinstance(found.get("steps"), list) else []
        return here + [step for key, value in found.items() for step in _steps(value, f"{path}.{key}")]
    if isinstance(found, list):
        return [step for index, value in enumerate(found) for step in _steps(value, f"{path}[{index}]")]
    return []


def links(noun: str) -> list[tuple[str, str]]:
    return [
        (panel["title"], value)
        for panel in panels(noun)
        for path, value in leaves(panel["fieldConfig"])
        if path.endswith(".url")
    ]


@each_board
def test_links_carry_what_was_chosen_to_variables_that_exist(noun: str) -> None:
    nouns_by_uid = {one.uid: one.value for one in Noun}
    for title, url in links(noun):
        assert "\x00" not in url, (title, url)
        parts = urlsplit(url)
        if "/d/gpuscope-" not in parts.path:
            continue
        uid = parts.path.split("/d/")[1].split("/")[0]
        assert uid in nouns_by_uid, (title, url)
        assert parts.query.startswith("${__url_time_range}&${datasource:queryparam}&"), (title, url)
        assert "var-cluster=" in parts.query or "${cluster:queryparam}" in parts.query
        if nouns_by_uid[uid] in boards():
            known = {variable.name for variable in boards()[nouns_by_uid[uid]].variables}
            carried = {name for name, _ in parse_qsl(parts.query) if name.startswith("var-")}
            assert {name.removeprefix("var-") for name in carried} <= known, (title, url)

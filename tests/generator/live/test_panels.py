"""Boards on a real Prometheus."""

import json
from dataclasses import replace

import pytest
from tests.generator.live.conftest import ABSENT, END, board, every_kind, graph

from gpuscope_generator.grafana import board_json
from gpuscope_generator.live.choice import choose
from gpuscope_generator.live.panels import Status, TimeRange, check_board
from gpuscope_generator.live.prometheus import Prometheus
from gpuscope_generator.live.report import json_report, text_report
from gpuscope_generator.promql import select
from gpuscope_generator.settings import Settings


def test_each_panel_gets_its_status(prometheus: Prometheus, when: TimeRange) -> None:
    result = check_board(every_kind(), Settings(), prometheus, when, {})
    assert {panel.key: panel.status for panel in result.panels} == {
        "power": Status.OK,
        "nodes": Status.OK,
        "events": Status.OK,
        "absent": Status.EMPTY,
        "partly": Status.OK,
        "broken": Status.NAN,
        "mixed": Status.OK,
        "wrong": Status.ERROR,
        "job": Status.OK,
        "picked": Status.OK,
        "table": Status.OK,
        "text": Status.NO_QUERY,
    }
    assert {found.key: found.status for found in result.annotations} == {
        "annotation:Alerts": Status.OK,
        "annotation:Never": Status.OK,
        "annotation:Wrong": Status.ERROR,
    }
    assert [variable.status for variable in result.variables] == [Status.OK] * 3
    assert result.counts[Status.OK] == 8
    by_key = {panel.key: panel for panel in result.panels}
    assert "many-to-many" in by_key["wrong"].queries[0].answer.error
    assert by_key["nodes"].queries[0].answer.series == 3
    assert (by_key["mixed"].queries[0].answer.series, by_key["mixed"].queries[0].answer.finite) == (3, 2)


def test_queries_are_filled_as_grafana_does(prometheus: Prometheus, when: TimeRange) -> None:
    result = check_board(every_kind(), Settings(scrape_interval="60s"), prometheus, when, {})
    asked = {panel.key: panel.queries[0].query for panel in result.panels if panel.queries}
    assert asked["nodes"] == 'node:power:sum{cluster=~".*",node=~".*"}'
    assert asked["events"] == 'rate(node:events_total{cluster=~".*",node=~".*"}[240s])'
    assert asked["job"] == 'workload:jobs:count{cluster=~".*",workload="train"}'
    steps = replace(when, step_s=300.0)
    asked = {
        panel.key: panel.queries[0].query
        for panel in check_board(every_kind(), Settings(), prometheus, steps, {}).panels
        if panel.queries
    }
    assert asked["events"] == 'rate(node:events_total{cluster=~".*",node=~".*"}[330s])'


def test_a_panel_that_wants_a_choice_gets_real_values(prometheus: Prometheus, when: TimeRange) -> None:
    built = board_json(every_kind(), Settings())
    chosen = choose(built, prometheus, when.start, when.end)
    assert chosen.opening == {
        "datasource": "prometheus",
        "cluster": ".*",
        "node": ".*",
        "workload": ["train"],
        "top": ["5"],
    }
    assert chosen.picked == chosen.opening | {"cluster": ["a"], "node": ["gpu(2)"]}
    picked = next(
        panel for panel in check_board(every_kind(), Settings(), prometheus, when, {}).panels if panel.key == "picked"
    )
    assert picked.picked
    assert picked.queries[0].query == 'node:power:sum{cluster="a"}'


def test_values_of_any_spelling_find_their_series(prometheus: Prometheus, when: TimeRange) -> None:
    from gpuscope_generator.promql.filling import Filling, filled

    for node in ("gpu-1.x", "gpu(2)"):
        query = filled('node:power:sum{node=~"$node"}', Filling(values={"node": [node]}))
        assert prometheus.instant(query, END).series == 1
        both = filled('node:power:sum{node=~"$node"}', Filling(values={"node": [node, "other"]}))
        assert prometheus.instant(both, END).series == 1


def test_slow_queries_are_findings(prometheus: Prometheus, when: TimeRange) -> None:
    result = check_board(every_kind(), Settings(), prometheus, replace(when, slow_s=0.0), {})
    assert result.panels[0].status is Status.SLOW
    assert result.panels[0].is_finding


def test_what_may_be_empty_is_no_finding(prometheus: Prometheus, when: TimeRange) -> None:
    allowed = {"cluster/absent": "There is none."}
    result = check_board(every_kind(), Settings(), prometheus, when, allowed)
    absent = next(panel for panel in result.panels if panel.key == "absent")
    assert (absent.status, absent.is_finding, absent.reason) == (Status.EMPTY, False, "There is none.")
    lines = list(text_report([result]))
    assert any("may be empty: There is none." in line for line in lines)


def test_no_data_at_all_is_empty_everywhere(prometheus: Prometheus) -> None:
    before = TimeRange(start=END - 900_000, end=END - 800_000)
    result = check_board(board(graph("absent", select(ABSENT))), Settings(), prometheus, before, {})
    assert [variable.status for variable in result.variables] == [Status.EMPTY] * 3
    assert [panel.status for panel in result.panels] == [Status.EMPTY]


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ("  nodes                                ok        3 series, ", "nodes"),
        ("  partly                               ok        3 series, ", "partly"),
        ("  broken                               NaN only  1 series, ", "broken"),
        ("  text                                 no query", "text"),
        ("  12 panels: 1 error, 1 NaN only, 1 empty, 8 ok, 1 no query; 1 finding in variables and annotations", ""),
        ("1 boards, 12 panels: 4 findings", ""),
    ],
)
def test_report_says_it_in_lines(prometheus: Prometheus, when: TimeRange, line: str, key: str) -> None:
    lines = list(text_report([check_board(every_kind(), Settings(), prometheus, when, {})]))
    assert any(found.startswith(line) for found in lines), "\n".join(lines)
    if key == "partly":
        assert any("1 of 2 queries have data" in found for found in lines)


def test_report_for_programs(prometheus: Prometheus, when: TimeRange) -> None:
    result = check_board(every_kind(), Settings(), prometheus, when, {})
    document = json.loads(json_report([result], prometheus.url, when))
    assert document["findings"] == 4
    assert document["prometheus"] == prometheus.url
    panels = {panel["key"]: panel for panel in document["boards"][0]["panels"]}
    assert panels["nodes"]["queries"][0]["series"] == 3
    assert panels["wrong"]["finding"]

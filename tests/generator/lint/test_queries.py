"""Every query of every board: it parses, names what rules record, and cannot mislead."""

import json
import re
from collections.abc import Iterator

import pytest
from tests.generator.lint.artefacts import NAME, boards, documents, nouns, panels, rules
from tests.generator.lint.parsed import COUNTING, parse, selectors, unguarded_divisions

from gpuscope_generator.view import Panel, Query, Row, Table

PROMETHEUS_OWN = {"ALERTS", "ALERTS_FOR_STATE", "up"}
DEVICE_LEVELS = ("gpu:", "mig:", "pod:", "port:")
CHOSEN = {"node", "gpu", "workload", "pod", "namespace", "gi", "model", "target"}

each_board = pytest.mark.parametrize("noun", nouns())


def queries(noun: str) -> Iterator[tuple[Row, Panel, Query]]:
    for row in boards()[noun].rows:
        for panel in row.panels:
            for query in panel.queries:
                yield row, panel, query


@each_board
def test_every_query_parses(noun: str) -> None:
    for _, panel, query in queries(noun):
        try:
            parse(query.expression.text)
        except ValueError as error:
            pytest.fail(f"{panel.key}: {error}: {query.expression.text}")
    for annotation in boards()[noun].annotations:
        parse(annotation.expression.text)


@each_board
def test_queries_of_variables_parse(noun: str) -> None:
    for variable in documents()[noun]["templating"]["list"]:
        if variable["type"] == "query":
            inner = re.fullmatch(r"label_values\((.+), (\w+)\)", variable["query"]["query"])
            assert inner, variable["query"]
            assert len(selectors(inner[1])) == 1


@each_board
def test_panels_read_normalized_series_only(noun: str) -> None:
    raw = {
        (panel.key, found.name)
        for row, panel, query in queries(noun)
        if not row.drill_down
        for found in selectors(query.expression.text)
        if not NAME.fullmatch(found.name) and found.name not in PROMETHEUS_OWN
    }
    assert raw == set()


@each_board
def test_rows_that_read_raw_series_are_closed(noun: str) -> None:
    for row in boards()[noun].rows:
        assert row.collapsed or not row.drill_down, row.title


@each_board
def test_open_rows_read_devices_only_where_something_is_chosen(noun: str) -> None:
    for row, panel, query in queries(noun):
        if row.collapsed:
            continue
        for found in selectors(query.expression.text):
            if found.name.startswith(DEVICE_LEVELS):
                chosen = {label for label in found.labels if f"${label}" in query.expression.text}
                assert chosen & CHOSEN, f"{panel.key}: {found.name} in a row that is open"


@each_board
def test_every_selector_is_limited_to_the_cluster(noun: str) -> None:
    for _, panel, query in queries(noun):
        for found in selectors(query.expression.text):
            assert "cluster" in found.labels, f"{panel.key}: {found.name} of all clusters: {query.expression.text}"


@each_board
def test_counters_are_shown_as_rates(noun: str) -> None:
    for _, panel, query in queries(noun):
        for found in selectors(query.expression.text):
            if found.name.endswith(("_total", "_bucket", "_sum", "_count")) and ":" not in found.name:
                assert COUNTING & set(found.around), f"{panel.key}: {found.name}"
        for window in re.findall(r"\bi?rate\([^\[\]]*\[([^\]]+)\]", query.expression.text):
            assert window in ("$__rate_interval", "$__range"), f"{panel.key}: a rate over {window}"


@each_board
def test_no_query_looks_at_two_samples_only(noun: str) -> None:
    """What happens between the two samples of ``irate`` and ``idelta`` is seen on no board."""
    for _, panel, query in queries(noun):
        assert not re.search(r"\bi(rate|delta)\(", query.expression.text), panel.key


def test_no_query_and_no_rule_fixes_the_name_of_a_scrape_job() -> None:
    """Installations call their jobs as they like; whoever must choose among exporters has the settings for it."""
    texts = [query.expression.text for noun in boards() for _, _, query in queries(noun)]
    texts += [rule["expr"] for found in rules().values() for rule in found]
    assert {
        found.name for text in texts for found in selectors(text) if {"job", "instance"} & set(found.labels)
    } == set()


@each_board
def test_nothing_divides_by_zero_or_hides_a_gap(noun: str) -> None:
    for _, panel, query in queries(noun):
        assert unguarded_divisions(query.expression.text) == [], panel.key
        assert not re.search(r"\bor\s+(on\s*\(\)\s*)?vector\(", query.expression.text), panel.key


@each_board
def test_legends_and_links_name_labels_that_the_answer_has(noun: str) -> None:
    for _, panel, query in queries(noun):
        labels = query.expression.labels
        if labels is None or isinstance(panel, Table):
            continue
        named = set(re.findall(r"\{\{\s*(\w+)\s*\}\}", query.legend)) - {"__name__"}
        assert named <= labels, f"{panel.key}: legend {named - labels}"
        for link in panel.links:
            for text in (link.title, *getattr(link, "carry", {}).values()):
                used = set(re.findall(r"__field\.labels\.(\w+)", text))
                assert used <= labels, f"{panel.key}: link {used - labels}"


@each_board
def test_columns_of_tables_exist_in_the_answers(noun: str) -> None:
    for _, panel, _ in queries(noun):
        if not isinstance(panel, Table) or any(column.expression.labels is None for column in panel.values):
            continue
        carried = set().union(*(column.expression.labels or () for column in panel.values))
        shown = {column.label for column in panel.columns if hasattr(column, "label")}
        assert shown <= carried, f"{panel.key}: {shown - carried}"


@each_board
def test_tables_and_totals_ask_once_and_graphs_over_time(noun: str) -> None:
    for panel in panels(noun):
        for target in panel.get("targets", ()):
            assert target["instant"] != target["range"]
            if panel["type"] in ("table", "piechart", "bargauge", "gauge"):
                assert target["instant"], panel["title"]
            if panel["type"] in ("timeseries", "heatmap", "state-timeline", "status-history"):
                assert target["range"], panel["title"]
            if "$__range" in target["expr"]:
                assert target["instant"], panel["title"]
            if panel["type"] == "table":
                assert target["format"] == "table"


@each_board
def test_refs_are_unique_in_a_panel(noun: str) -> None:
    for panel in panels(noun):
        refs = [target["refId"] for target in panel.get("targets", ())]
        assert len(set(refs)) == len(refs)


@each_board
def test_all_of_a_negated_choice_is_read_alike_by_every_store(noun: str) -> None:
    """VictoriaMetrics takes `!~".*"` for "lacks the label": a fleet without node pools had no nodes there."""
    text = json.dumps(documents()[noun])
    stands_for = {one["name"]: one.get("allValue") for one in documents()[noun]["templating"]["list"]}
    negated = set(re.findall(r'!~\\"\$\{?(\w+)', text))
    assert negated or noun != "cluster"
    assert {name: stands_for[name] for name in negated} == dict.fromkeys(negated, ".*|")

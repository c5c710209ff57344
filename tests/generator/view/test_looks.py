"""What was seen to be unreadable once boards were drawn."""

from gpuscope_generator.promql import gauge, select, sum_by
from gpuscope_generator.view import (
    BarGauge,
    Explanation,
    Gauge,
    LabelColumn,
    Pie,
    Query,
    Stat,
    Table,
    Thresholds,
    TimeSeries,
    Unit,
    ValueColumn,
    palette,
)

EXPLANATION = Explanation(shows="It.", source="Tests.", good="One.", do="Nothing.")
POWER = sum_by(select(gauge("node:power:sum", "cluster", "node")), "node")


def test_a_number_without_limits_never_turns_red() -> None:
    stat = Stat(key="power", title="Power", explanation=EXPLANATION, queries=(Query(expression=POWER),))
    steps = stat.defaults()["thresholds"]["steps"]
    # Grafana's own default turns red from 80 on.
    assert steps == [{"color": palette.NEUTRAL, "value": None}]


def test_a_cell_without_a_value_does_not_say_why_the_whole_table_may_be_empty() -> None:
    table = Table(
        key="nodes",
        title="Nodes",
        explanation=EXPLANATION,
        no_value="No node is known",
        columns=(LabelColumn(label="node", title="Node"), ValueColumn(title="Power", expression=POWER)),
    )
    assert table.defaults()["noValue"] == "No node is known"
    cells = table.overrides()[0]
    assert cells["matcher"] == {"id": "byRegexp", "options": "/.*/"}
    assert cells["properties"][0] == {"id": "noValue", "value": "–"}
    (mapping,) = cells["properties"][1]["value"]
    assert mapping["options"] == {"match": "null", "result": {"text": "–", "color": palette.TEXT}}


def test_short_bars_can_be_read_and_few_bars_are_not_huge() -> None:
    bars = BarGauge(key="power", title="Power", explanation=EXPLANATION, queries=(Query(expression=POWER),))
    assert bars.options()["valueMode"] == "text"
    assert (bars.options()["sizing"], bars.options()["maxVizHeight"]) == ("manual", 40)
    assert bars.color() == {"mode": "thresholds"}
    assert (bars.defaults()["min"], bars.options()["text"]) == (0, {"titleSize": 12, "valueSize": 16})


def test_no_value_has_the_color_of_text_and_not_that_of_the_lowest_threshold() -> None:
    query = (Query(expression=POWER),)
    for kind in (Stat, Gauge, BarGauge):
        panel = kind(
            key="power",
            title="Power",
            explanation=EXPLANATION,
            queries=query,
            no_value="Nobody measures it",
            thresholds=Thresholds(base=palette.BAD, steps=((1, palette.OK),)),
        )
        (mapping,) = panel.defaults()["mappings"]
        assert mapping["options"] == {
            "match": "null",
            "result": {"text": "Nobody measures it", "color": palette.TEXT},
        }
    # A graph says so in its middle, in gray: a word there for a missing sample would be wrong.
    graph = TimeSeries(key="power", title="Power", explanation=EXPLANATION, queries=query, no_value="Nobody")
    assert graph.defaults()["mappings"] == []


def test_numbers_have_no_filter_and_columns_the_width_that_they_need() -> None:
    table = Table(
        key="nodes",
        title="Nodes",
        explanation=EXPLANATION,
        columns=(
            LabelColumn(label="node", title="Node"),
            LabelColumn(label="reason", title="Reason"),
            ValueColumn(title="Power", expression=POWER),
        ),
    )
    widths = {
        entry["matcher"]["options"]: one["value"]
        for entry in table.overrides()
        for one in entry["properties"]
        if one["id"] == "custom.width"
    }
    assert set(widths) == {"Node", "Power"}
    assert all(60 <= width <= 130 for width in widths.values())
    assert {
        "matcher": {"id": "byType", "options": "number"},
        "properties": [{"id": "custom.filterable", "value": False}],
    } in (table.overrides())


def test_zeros_stand_on_a_short_axis_and_lines_are_not_filled() -> None:
    query = (Query(expression=POWER),)
    lines = TimeSeries(key="power", title="Power", explanation=EXPLANATION, queries=query, unit=Unit.COUNT)
    assert (lines.custom()["axisSoftMax"], lines.custom()["fillOpacity"]) == (1, 0)
    bounded = TimeSeries(key="power", title="Power", explanation=EXPLANATION, queries=query, unit=Unit.COUNT, high=5)
    assert "axisSoftMax" not in bounded.custom()


def test_names_of_series_are_words() -> None:
    query = (Query(expression=POWER),)
    pie = Pie(key="power", title="Power", explanation=EXPLANATION, queries=query, spaced_names=True)
    assert {one["id"] for one in pie.transformations()} == {"renameByRegex"}
    assert Pie(key="power", title="Power", explanation=EXPLANATION, queries=query).transformations() == []


def test_where_no_text_is_long_labels_share_what_is_left() -> None:
    table = Table(
        key="nodes",
        title="Nodes",
        explanation=EXPLANATION,
        columns=(LabelColumn(label="node", title="Node"), ValueColumn(title="Power", expression=POWER)),
    )
    node, power = table.widths()
    assert node is None
    assert power is not None

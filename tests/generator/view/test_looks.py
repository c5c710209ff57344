"""What was seen to be unreadable once boards were drawn."""

from gpuscope_generator.promql import gauge, select, sum_by
from gpuscope_generator.view import BarGauge, Explanation, LabelColumn, Query, Stat, Table, ValueColumn, palette

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
    assert table.overrides()[0] == {
        "matcher": {"id": "byRegexp", "options": "/.*/"},
        "properties": [{"id": "noValue", "value": "–"}],
    }


def test_short_bars_can_be_read_and_few_bars_are_not_huge() -> None:
    bars = BarGauge(key="power", title="Power", explanation=EXPLANATION, queries=(Query(expression=POWER),))
    assert bars.options()["valueMode"] == "text"
    assert (bars.options()["sizing"], bars.options()["maxVizHeight"]) == ("manual", 40)
    assert bars.color() == {"mode": "thresholds"}

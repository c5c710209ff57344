"""The row "Data health" of every board: which sources are there, how fresh, and why a panel would be empty."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from gpuscope_generator.external.sources import SOURCES, Source, source_named
from gpuscope_generator.normalized import source
from gpuscope_generator.panels.variables import IN_CLUSTER
from gpuscope_generator.promql import Matcher, Vector, label_replace, max_by, select, sum_by, topk, vector
from gpuscope_generator.settings import Settings
from gpuscope_generator.view import (
    Cell,
    Explanation,
    LabelColumn,
    Link,
    Noun,
    Prose,
    Row,
    Table,
    Thresholds,
    Unit,
    ValueColumn,
    ValueText,
    cell,
    palette,
)

__all__ = ["OUR_AGENTS", "data_health_row", "problems", "refused_calls", "source_guide", "sources_present"]

OUR_AGENTS = ("gpuscope", "collector")
_RULES = "the rules in recording/health.yaml, which look for a few well-known series of each source."


def data_health_row(settings: Settings, sources: Sequence[str]) -> Row:
    """The collapsed row at the end of a board.

    Args:
        settings: for the age at which a source counts as stale.
        sources: keys of `gpuscope_generator.external.sources` that the board can read; ours are always among them.

    Raises:
        KeyError: a source that is not in the list.
    """
    wanted = {*OUR_AGENTS, *(source_named(key).key for key in sources)}
    known = tuple(one for one in SOURCES if one.key in wanted)
    return Row(
        title="Data health",
        collapsed=True,
        panels=(sources_present(settings, known), source_guide(known), problems(), refused_calls()),
    )


def sources_present(settings: Settings, known: Sequence[Source]) -> Table:
    """One row a source, the absent ones too."""
    among = Matcher("source", "=~", "|".join(one.key for one in known))
    keys = ("cluster", "source")
    present = max_by(select(source.PRESENT, IN_CLUSTER, among), *keys)
    absent = reduce(Vector.or_, (label_replace(vector(0), "source", one.key, "", "") for one in known))
    down = Thresholds(base=palette.OK, steps=((1, palette.BAD),))
    stale = Thresholds(base=palette.OK, steps=((settings.thresholds.stale_seconds, palette.WARN),))
    return Table(
        key="sources",
        title="Sources of this board",
        explanation=Explanation(
            shows="Each exporter that this board can read: whether it is there, how many of its scrape targets answer, "
            "and how old its oldest sample is. No board needs all of them.",
            source=_RULES,
            good="What you run is present, no target is down, and no sample is older than two scrapes.",
            do="Absent: see beside this table how to switch it on. Down: open Prometheus' page of targets for the "
            "error. Old samples: the exporter answers, yet repeats what it read earlier, or the clocks differ.",
        ),
        width=14,
        columns=(
            LabelColumn(label="cluster", title="Cluster"),
            LabelColumn(label="source", title="Source", texts={one.key: ValueText(one.title) for one in known}),
            ValueColumn(
                title="State",
                expression=present.or_(absent, on=("source",)),
                cell=Cell.COLORED_TEXT,
                texts={"1": ValueText("present", palette.OK), "0": ValueText("absent", palette.IDLE)},
            ),
            ValueColumn(
                title="Targets up",
                expression=sum_by(select(source.TARGETS, IN_CLUSTER, among, state="up"), *keys),
                unit=Unit.COUNT,
            ),
            ValueColumn(
                title="Targets down",
                expression=sum_by(select(source.TARGETS, IN_CLUSTER, among, state="down"), *keys),
                unit=Unit.COUNT,
                cell=Cell.COLORED_TEXT,
                thresholds=down,
            ),
            ValueColumn(
                title="Age of oldest sample",
                expression=max_by(select(source.AGE, IN_CLUSTER, among), *keys),
                unit=Unit.SECONDS,
                cell=Cell.COLORED_TEXT,
                thresholds=stale,
                decimals=0,
            ),
        ),
        sort_by="State",
        descending=False,
        no_value="No rules: load alert_rules/ into Prometheus",
    )


def source_guide(known: Sequence[Source]) -> Prose:
    """What each source brings, and how to get it."""
    lines = [f"- **{one.title}** gives {one.gives}. To get it: {one.enable}." for one in known]
    return Prose(
        key="source_guide",
        title="Why is a panel empty?",
        explanation=Explanation(
            shows="What each source brings, and how to switch it on.",
            source="the list of sources that these boards know.",
            good="Every source that you need is marked as present in the table beside this text.",
            do="Switch on what is missing; the panels fill within two minutes, without a change of the board.",
        ),
        width=10,
        height=10,
        content="A panel is empty when nothing happened, when the source is absent, or when the rules are not "
        "loaded. Nothing is shown as 0 because it is unknown.\n\n" + "\n".join(lines),
    )


def problems() -> Table:
    """Parts of our agents that have no data, with the reason."""
    return Table(
        key="data_problems",
        title="Parts of our agents without data",
        explanation=Explanation(
            shows="What an agent or the collector cannot read at present, on which node, and the reason that it gives.",
            source="the gpuscope agent and the gpuscope collector, about themselves.",
            good="The table is empty.",
            do="Follow the reason; the log of that node's agent says more.",
        ),
        width=14,
        columns=(
            LabelColumn(label="cluster", title="Cluster"),
            LabelColumn(
                label="node",
                title="Node",
                links=(
                    Link("Node on the cluster board", Noun.CLUSTER, {"cluster": cell("cluster"), "node": cell("node")}),
                ),
            ),
            LabelColumn(label="source", title="Source"),
            LabelColumn(label="part", title="Part"),
            LabelColumn(label="reason", title="Reason"),
            ValueColumn(
                title="Since the rules saw it",
                expression=topk(
                    200,
                    max_by(select(source.PROBLEM, IN_CLUSTER), "cluster", "node", "source", "part", "reason"),
                ),
                hidden=True,
            ),
        ),
        paginate=True,
        no_value="None: every part of our agents has data",
    )


def refused_calls() -> Table:
    """Calls that the driver does not support, or fails."""
    keys = ("cluster", "call")
    return Table(
        key="refused_calls",
        title="Calls that the driver refuses",
        explanation=Explanation(
            shows="Calls of NVML, NVIDIA's management library: on how many GPUs and MIG instances the driver does not "
            "support them, and how often they fail.",
            source="the gpuscope agent, about itself.",
            good="What your GPUs can do is supported; no call fails again and again.",
            do="Unsupported calls explain panels that stay empty on older GPUs, drivers or with MIG; a newer driver "
            "may help. For failing calls look at the node's XID errors and at the agent's log.",
        ),
        width=10,
        columns=(
            LabelColumn(label="cluster", title="Cluster"),
            LabelColumn(label="call", title="Call"),
            ValueColumn(
                title="Unsupported on",
                expression=sum_by(select(source.UNSUPPORTED, IN_CLUSTER), *keys),
                unit=Unit.COUNT,
            ),
            ValueColumn(
                title="Failures a second",
                expression=sum_by(select(source.FAILING_CALLS, IN_CLUSTER), *keys),
                unit=Unit.COUNT_PER_SECOND,
                thresholds=Thresholds(base=palette.WARN),
                cell=Cell.COLORED_TEXT,
            ),
        ),
        sort_by="Unsupported on",
        paginate=True,
        no_value="None, or no gpuscope agent",
    )

"""Communication between GPUs: bandwidth of collective operations, and the rank that all others wait for."""

from __future__ import annotations

from gpuscope_generator.normalized import nccl
from gpuscope_generator.panels.variables import IN_CLUSTER
from gpuscope_generator.promql import Matcher, max_by, min_by, quantile_by, ratio, select, topk
from gpuscope_generator.view import (
    BarGauge,
    Explanation,
    Heatmap,
    Link,
    Noun,
    Query,
    Thresholds,
    TimeSeries,
    Unit,
    line,
    palette,
)

__all__ = ["bus_bandwidth", "rank_times", "stragglers"]

_SOURCE = "NCCL's inspector plug-in (NCCL 2.28.3 or newer), through node-exporter's text files."
_NONE = "No data: no job runs with NCCL's inspector plug-in"
_NODE = Link(
    "Node ${__field.labels.node} on the cluster board",
    Noun.CLUSTER,
    {"cluster": line("cluster"), "node": line("node")},
)


def bus_bandwidth() -> TimeSeries:
    """Bandwidth by operation, inside of nodes and between them."""
    slowest = min_by(select(nccl.NODE_BUS_BANDWIDTH, IN_CLUSTER), "cluster", "span", "collective")
    middle = quantile_by(0.5, select(nccl.NODE_BUS_BANDWIDTH, IN_CLUSTER), "cluster", "span", "collective")
    return TimeSeries(
        key="bus_bandwidth",
        title="Bus bandwidth of collective operations",
        explanation=Explanation(
            shows="Bus bandwidth of each operation: of the middle node, and of the slowest one, which all wait for. "
            "Span node stays on NVLink inside one node; network goes between nodes.",
            source=_SOURCE,
            good="Slowest and middle lie close together, at what your links can do.",
            do="Network low and node high: look at NICs and switches. One node far below: see the bars beside.",
        ),
        queries=(
            Query(expression=middle, legend="middle {{span}} {{collective}}"),
            Query(expression=slowest, legend="slowest {{span}} {{collective}}"),
        ),
        unit=Unit.BYTES_PER_SECOND,
        low=0,
        width=12,
        no_value=_NONE,
    )


def rank_times() -> Heatmap:
    """Time of the longest operation by GPU."""
    times = max_by(select(nccl.EXEC_SECONDS, IN_CLUSTER, Matcher("span", "=", "network")), "cluster", "node", "gpu")
    return Heatmap(
        key="rank_times",
        title="Time of collective operations by rank (the 64 longest)",
        explanation=Explanation(
            shows="A row for each GPU; the color is the time of its longest kind of operation between nodes. All ranks "
            "of an operation end together, so that a slow one shows in its own row.",
            source=_SOURCE,
            good="All rows have one color.",
            do="One row that differs for long: open its node, and look at clocks, links and errors there.",
        ),
        queries=(Query(expression=topk(64, times), legend="{{node}} GPU {{gpu}}"),),
        unit=Unit.SECONDS,
        from_buckets=False,
        y_unit=Unit.TEXT,
        width=12,
        height=10,
        no_value=_NONE,
    )


def stragglers() -> BarGauge:
    """How much slower the slowest are."""
    keys = ("cluster", "span", "collective")
    times = select(nccl.EXEC_SECONDS, IN_CLUSTER)
    slower = ratio(times, quantile_by(0.5, times, *keys), on=keys, many="left")
    found = max_by(slower, "cluster", "node", "gpu", "span", "collective").compare(">", 1.1)
    return BarGauge(
        key="stragglers",
        title="Slowest GPUs, times the median",
        explanation=Explanation(
            shows="GPUs whose operation takes at least a tenth longer than that of the median GPU, and by how much.",
            source=_SOURCE,
            good="None.",
            do="The same GPU for long: drain its node, and test its links and memory.",
        ),
        queries=(
            Query(expression=topk(12, found), legend="{{node}} GPU {{gpu}} {{span}} {{collective}}", instant=True),
        ),
        unit=Unit.COUNT,
        decimals=2,
        low=1,
        width=24,
        height=6,
        thresholds=Thresholds(base=palette.WARN, steps=((1.5, palette.BAD),)),
        links=(_NODE,),
        no_value="None is slower than the others, or no job runs with NCCL's inspector plug-in",
    )

"""How busy the GPUs of the fleet are, and which nodes are not."""

from __future__ import annotations

from gpuscope_generator.normalized import cluster, node
from gpuscope_generator.panels.fleet_choice import node_line_links, of_nodes
from gpuscope_generator.panels.variables import IN_CLUSTER
from gpuscope_generator.promql import Vector, bottomk, count_by, max_by, ratio, select
from gpuscope_generator.settings import Settings
from gpuscope_generator.view import (
    Explanation,
    Heatmap,
    LineStyle,
    Query,
    StatusHistory,
    Thresholds,
    TimeSeries,
    Unit,
    palette,
)

__all__ = ["activity", "activity_by_node", "activity_spread", "least_active_nodes"]

_SOURCE = (
    "the gpuscope agent, dcgm-exporter or AMD's exporter. SM and tensor activity need GPM (Hopper and newer) or "
    "profiling metrics of dcgm-exporter."
)
_LIMIT = 64
"""More rows than this nobody can read in a grid."""


def activity() -> TimeSeries:
    """Means of the fleet, and the spread."""

    def mean(what: str, legend: str) -> Query:
        return Query(expression=max_by(select(cluster.ACTIVITY, IN_CLUSTER, what=what), "cluster"), legend=legend)

    def quantile(value: str, legend: str) -> Query:
        found = select(cluster.QUANTILE, IN_CLUSTER, quantile=value)
        return Query(expression=max_by(found, "cluster"), legend=legend)

    return TimeSeries(
        key="gpu_activity",
        title="GPU activity",
        explanation=Explanation(
            shows="Means over all GPUs. Busy: share of time in which any kernel ran. SMs: share of the processors that "
            "had work. Tensor cores and memory: share of cycles in which they worked. Dashed: the tenth of the held "
            "GPUs that works least is below the lower line, one in twenty is above the upper one.",
            source=_SOURCE,
            good="All are high. Busy alone says little: a GPU may be busy with one tiny kernel.",
            do="Busy high and SMs low: batches are too small, or CPUs are too slow. SMs high and tensor cores low: the "
            "work does not use them. The lower dashed line at 0: some GPUs are held for nothing.",
        ),
        queries=(
            mean("compute", "busy"),
            mean("sm", "SMs"),
            mean("tensor", "tensor cores"),
            mean("memory_bandwidth", "memory"),
            quantile("0.1", "busy: lowest tenth of held GPUs"),
            quantile("0.95", "busy: highest twentieth of held GPUs"),
        ),
        unit=Unit.RATIO,
        width=12,
        height=10,
        low=0,
        high=1,
        styles={
            "/^busy: lowest/": LineStyle(color=palette.WARN, dashed=True),
            "/^busy: highest/": LineStyle(color=palette.OK, dashed=True),
        },
        no_value="No source tells the activity of GPUs: see Data health",
    )


def activity_spread() -> Heatmap:
    """How many GPUs are how busy."""
    shares = max_by(select(cluster.SHARE, IN_CLUSTER), "cluster", "le")
    return Heatmap(
        key="activity_spread",
        title="How many GPUs are how busy",
        explanation=Explanation(
            shows="Each cell counts the GPUs whose share of busy time lies in that tenth. A mean of one half may be "
            "all GPUs at one half, or half of them at nothing: here one sees which.",
            source=_SOURCE,
            good="One bright band at the top; a band at the bottom only where GPUs are free.",
            do="A band at the bottom that is brighter than the number of free GPUs: GPUs are held and idle. See the "
            "GPU-hours of teams.",
        ),
        queries=(Query(expression=shares, legend="{{le}}"),),
        unit=Unit.COUNT,
        y_unit=Unit.RATIO,
        width=12,
        height=10,
        no_value="No source tells the activity of GPUs: see Data health",
    )


def _busy() -> Vector:
    return ratio(max_by(of_nodes(node.COMPUTE_ACTIVE), *node.NODE), max_by(of_nodes(node.COMPUTE_COUNT), *node.NODE))


def activity_by_node(settings: Settings) -> StatusHistory:
    """A grid of nodes and time, while there are few enough."""
    few = count_by(_busy(), "cluster").compare("<=", _LIMIT)
    low = settings.thresholds.low_utilization_ratio
    return StatusHistory(
        key="activity_by_node",
        title=f"GPU activity by node (up to {_LIMIT} nodes)",
        explanation=Explanation(
            shows="One row a node, one column a time; the color is the mean activity of its GPUs. Gray is idle. With "
            f"more than {_LIMIT} nodes it stays empty: choose a node pool or nodes above, or see the list beside.",
            source=_SOURCE,
            good="Rows of one job have the same color at the same time.",
            do="A row that differs from its neighbors in the same job is a straggler: open that node.",
        ),
        queries=(Query(expression=_busy().and_(few, on=("cluster",)), legend="{{node}}", min_step="1m"),),
        unit=Unit.RATIO,
        width=14,
        height=10,
        low=0,
        high=1,
        thresholds=Thresholds(
            base=palette.IDLE,
            steps=((settings.thresholds.idle_ratio, palette.WARN), (low, palette.NEUTRAL), (0.7, palette.OK)),
        ),
        links=node_line_links(),
        no_value=f"More than {_LIMIT} nodes: choose a node pool or nodes above. Or no source tells activity",
    )


def least_active_nodes() -> TimeSeries:
    """The nodes that hold work and do least."""
    held = max_by(of_nodes(node.GPUS, state="allocated"), *node.NODE).compare(">", 0)
    return TimeSeries(
        key="least_active_nodes",
        title="Nodes that hold work and do least (ten)",
        explanation=Explanation(
            shows="Mean activity of the GPUs of a node, for the ten nodes that do least among those whose GPUs are "
            "held by somebody.",
            source=_SOURCE + " Who holds what comes from the agent, dcgm-exporter or the scheduler.",
            good="No line stays at 0.",
            do="Open the node, then the workloads on it: does a job hang, wait for data, or was it forgotten?",
        ),
        queries=(Query(expression=bottomk(10, _busy().and_(held, on=node.NODE)), legend="{{node}}"),),
        unit=Unit.RATIO,
        width=10,
        height=10,
        low=0,
        high=1,
        links=node_line_links(),
        no_value="No node's GPUs are held, or nobody tells who holds them",
    )

"""Power and energy."""

from __future__ import annotations

from gpuscope_generator.normalized import cluster, node
from gpuscope_generator.panels.fleet_choice import node_line_links, of_nodes
from gpuscope_generator.panels.variables import IN_CLUSTER
from gpuscope_generator.promql import Vector, max_by, select, sum_by, sum_over_time, topk
from gpuscope_generator.settings import Settings
from gpuscope_generator.view import Explanation, Query, Stat, TimeSeries, Unit

__all__ = ["cluster_power", "energy", "node_power"]

_SOURCE = "the gpuscope agent, dcgm-exporter or AMD's device-metrics-exporter, summed by recording rules."


def cluster_power() -> Stat:
    """Power of all GPUs of the chosen clusters, and their limit."""
    return Stat(
        key="power",
        title="GPU power",
        explanation=Explanation(
            shows="What all GPUs together draw now, and what their power limits would allow.",
            source=_SOURCE,
            good="It follows the work: a busy H100 draws 400 to 700 W, an idle one about 70 W.",
            do="High power without activity points at stuck kernels; compare the nodes beside.",
        ),
        queries=(
            Query(expression=sum_by(select(cluster.POWER, IN_CLUSTER), "cluster"), legend="drawn"),
            Query(expression=sum_by(select(cluster.POWER_LIMIT, IN_CLUSTER), "cluster"), legend="limit"),
        ),
        unit=Unit.WATTS,
        sparkline=True,
        text_mode="value_and_name",
        width=6,
        height=9,
    )


def energy(settings: Settings) -> Stat:
    """Energy of all GPUs in the last hour and day."""

    def used(window: str) -> Vector:
        hours = settings.intervals.aggregate / 3600
        return sum_by(sum_over_time(select(cluster.POWER, IN_CLUSTER), window), "cluster") * hours

    return Stat(
        key="energy",
        title="GPU energy",
        explanation=Explanation(
            shows="Energy that all GPUs used in the last hour and in the last 24 hours: power, summed every minute. "
            "Time in which the rules did not run is not in it.",
            source=_SOURCE,
            good="It follows the work: idle GPUs still draw about a tenth.",
            do="Energy of one workload is on the Task board.",
        ),
        queries=(
            Query(expression=used("1h"), legend="last hour", instant=True),
            Query(expression=used("24h"), legend="last 24 hours", instant=True),
        ),
        unit=Unit.WATT_HOURS,
        text_mode="value_and_name",
        width=6,
        height=9,
    )


def node_power() -> TimeSeries:
    """Power by node, the twenty largest."""
    return TimeSeries(
        key="node_power",
        title="GPU power by node (top 20)",
        explanation=Explanation(
            shows="What the GPUs of each node draw, for the twenty nodes that draw most.",
            source=_SOURCE,
            good="Nodes of one job draw alike.",
            do="A node far below its neighbors waits for something: open it on the cluster board.",
        ),
        queries=(Query(expression=topk(20, max_by(of_nodes(node.POWER), *node.NODE)), legend="{{node}}"),),
        unit=Unit.WATTS,
        width=12,
        height=9,
        low=0,
        links=node_line_links(),
    )

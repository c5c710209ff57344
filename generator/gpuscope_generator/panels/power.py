"""Power and energy."""

from __future__ import annotations

from gpuscope_generator.normalized import cluster, node
from gpuscope_generator.panels.variables import IN_CLUSTER, IN_NODE
from gpuscope_generator.promql import select, sum_by, topk
from gpuscope_generator.view import Explanation, Link, Noun, Query, Stat, TimeSeries, Unit, line

__all__ = ["cluster_power", "node_power"]

_SOURCE = "the gpuscope agent, dcgm-exporter or AMD's device-metrics-exporter, summed by recording rules."


def cluster_power() -> Stat:
    """Power of all GPUs of the chosen clusters."""
    return Stat(
        key="power",
        title="GPU power",
        explanation=Explanation(
            shows="What all GPUs together draw now.",
            source=_SOURCE,
            good="It follows the work: a busy H100 draws 400 to 700 W, an idle one about 70 W.",
            do="High power without activity on the other tiles points at stuck kernels; compare nodes further down.",
        ),
        queries=(Query(expression=sum_by(select(cluster.POWER, IN_CLUSTER), "cluster")),),
        unit=Unit.WATTS,
        sparkline=True,
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
            do="A node far below its neighbours waits for something: open it on the cluster board.",
        ),
        queries=(Query(expression=topk(20, select(node.POWER, IN_CLUSTER, IN_NODE)), legend="{{node}}"),),
        unit=Unit.WATTS,
        width=12,
        low=0,
        links=(Link("Node ${__field.labels.node}", Noun.CLUSTER, {"node": line("node")}),),
    )

"""Variables that every board shares: the same name means the same everywhere, so that links can carry it."""

from __future__ import annotations

from gpuscope_generator.normalized import cluster, gpu, node
from gpuscope_generator.promql import Matcher, select
from gpuscope_generator.view import ALL_PRESENT, DataSource, LabelValues

__all__ = ["DATASOURCE", "GPU", "IN_CLUSTER", "IN_NODE", "NODE", "cluster_variable"]

IN_CLUSTER = Matcher("cluster", "=~", "$cluster")
"""Every query of every panel carries it; it also matches series without the label while All is chosen."""
IN_NODE = Matcher("node", "=~", "$node")

DATASOURCE = DataSource()


def cluster_variable() -> LabelValues:
    """The cluster: one at a time by default, as two clusters may have equal names inside."""
    return LabelValues(name="cluster", label="Cluster", selector=select(cluster.INFO), values_of="cluster", multi=False)


NODE = LabelValues(
    name="node", label="Node", selector=select(node.GPU_FACTS, IN_CLUSTER), values_of="node", all_value=ALL_PRESENT
)
GPU = LabelValues(
    name="gpu", label="GPU", selector=select(gpu.INFO, IN_CLUSTER, IN_NODE), values_of="gpu", all_value=ALL_PRESENT
)

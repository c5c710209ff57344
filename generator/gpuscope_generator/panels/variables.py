"""Variables that every board shares: the same name means the same everywhere, so that links can carry it."""

from __future__ import annotations

from gpuscope_generator.normalized import cluster, gpu, node, workload
from gpuscope_generator.promql import Matcher, select
from gpuscope_generator.view import ALL_PRESENT, DataSource, LabelValues

__all__ = [
    "DATASOURCE",
    "GPU",
    "IN_CLUSTER",
    "IN_KIND",
    "IN_NAMESPACE",
    "IN_NODE",
    "IN_POD",
    "IN_TEAM",
    "IN_WORKLOAD",
    "NAMESPACE",
    "NODE",
    "POD",
    "TEAM",
    "WORKLOAD",
    "WORKLOAD_KIND",
    "cluster_variable",
]

IN_CLUSTER = Matcher("cluster", "=~", "$cluster")
"""Every query of every panel carries it; it also matches series without the label while All is chosen."""
IN_NODE = Matcher("node", "=~", "$node")
IN_TEAM = Matcher("team", "=~", "$team")
IN_NAMESPACE = Matcher("namespace", "=~", "$namespace")
IN_KIND = Matcher("workload_kind", "=~", "$workload_kind")
IN_WORKLOAD = Matcher("workload", "=~", "$workload")
IN_POD = Matcher("pod", "=~", "$pod")

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

TEAM = LabelValues(name="team", label="Team", selector=select(workload.WORKLOAD_INFO, IN_CLUSTER), values_of="team")
NAMESPACE = LabelValues(
    name="namespace",
    label="Namespace",
    selector=select(workload.WORKLOAD_INFO, IN_CLUSTER, IN_TEAM),
    values_of="namespace",
)
"""It asks for the team, which stands left of it: boards that show this one show that one."""
WORKLOAD_KIND = LabelValues(
    name="workload_kind",
    label="Kind",
    selector=select(workload.WORKLOAD_INFO, IN_CLUSTER, IN_TEAM, IN_NAMESPACE),
    values_of="workload_kind",
)
WORKLOAD = LabelValues(
    name="workload",
    label="Workload",
    selector=select(workload.WORKLOAD_INFO, IN_CLUSTER, IN_TEAM, IN_NAMESPACE, IN_KIND),
    values_of="workload",
)
POD = LabelValues(
    name="pod",
    label="Pod",
    selector=select(workload.POD_INFO, IN_CLUSTER, IN_TEAM, IN_NAMESPACE, IN_KIND, IN_WORKLOAD),
    values_of="pod",
)

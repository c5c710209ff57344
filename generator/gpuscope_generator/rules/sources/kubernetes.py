"""kube-state-metrics: nodes, and the pods that everything else is joined with."""

from __future__ import annotations

from gpuscope_generator.rules.model import Group, RuleFile
from gpuscope_generator.rules.sources.kubernetes_nodes import kubernetes_node_rules
from gpuscope_generator.rules.sources.kubernetes_pods import kubernetes_pod_rules
from gpuscope_generator.settings import Settings

__all__ = ["kubernetes_rules"]


def kubernetes_rules(settings: Settings) -> RuleFile:
    """Rules that read kube-state-metrics, and our collector where it knows better."""
    return RuleFile(
        path="recording/kubernetes.yaml",
        comment="From kube-state-metrics, one or several, to nodes and to pods with the workload that they belong to. "
        "What our collector tells of a node or a pod comes first.",
        groups=(
            Group("gpuscope-normalize-kubernetes-nodes", settings.intervals.normalize, kubernetes_node_rules(settings)),
            Group("gpuscope-normalize-kubernetes-pods", settings.intervals.normalize, kubernetes_pod_rules(settings)),
        ),
    )

"""From nodes to the cluster: what the overview of the largest cluster reads."""

from __future__ import annotations

from gpuscope_generator.normalized import cluster, node
from gpuscope_generator.promql import select, sum_by
from gpuscope_generator.rules.model import Group, RuleFile, recording
from gpuscope_generator.settings import Settings

__all__ = ["cluster_rules"]


def cluster_rules(settings: Settings) -> RuleFile:
    """Rules that sum the nodes of each cluster."""
    rules = (recording(cluster.POWER, sum_by(select(node.POWER), *cluster.CLUSTER)),)
    return RuleFile(
        path="recording/level-cluster.yaml",
        comment="From nodes to clusters.",
        groups=(Group("gpuscope-level-cluster", settings.intervals.aggregate, rules),),
    )

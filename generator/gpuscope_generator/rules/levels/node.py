"""From GPUs to nodes."""

from __future__ import annotations

from gpuscope_generator.normalized import gpu, node
from gpuscope_generator.promql import select, sum_by
from gpuscope_generator.rules.model import Group, RuleFile, recording
from gpuscope_generator.settings import Settings

__all__ = ["node_rules"]


def node_rules(settings: Settings) -> RuleFile:
    """Rules that sum the GPUs of each node."""
    rules = (
        recording(node.POWER, sum_by(select(gpu.POWER), *node.NODE)),
        recording(node.POWER_LIMIT, sum_by(select(gpu.POWER_LIMIT), *node.NODE)),
    )
    return RuleFile(
        path="recording/level-node.yaml",
        comment="From normalized series of GPUs to nodes.",
        groups=(Group("gpuscope-level-node", settings.intervals.normalize, rules),),
    )

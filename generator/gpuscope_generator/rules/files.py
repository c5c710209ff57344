"""Every rule file, in the order in which they build on each other."""

from __future__ import annotations

from gpuscope_generator.rules.levels.cluster import cluster_rules
from gpuscope_generator.rules.levels.node import node_rules
from gpuscope_generator.rules.model import RuleFile
from gpuscope_generator.rules.sources.health import health_rules
from gpuscope_generator.rules.sources.native import native_rules
from gpuscope_generator.settings import Settings

__all__ = ["RECORDING_FILES", "rule_files"]

RECORDING_FILES = (health_rules, native_rules, node_rules, cluster_rules)
"""One function a file: settings in, rules out."""


def rule_files(settings: Settings) -> tuple[RuleFile, ...]:
    """All rule files."""
    return tuple(make(settings) for make in RECORDING_FILES)

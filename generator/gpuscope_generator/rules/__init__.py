"""Recording rules: from every source to the same series, and from these to nodes, workloads, teams and clusters."""

from gpuscope_generator.rules.model import Group, Recording, RuleFile, recording
from gpuscope_generator.rules.text import manifest_text, rule_file_text

__all__ = ["Group", "Recording", "RuleFile", "manifest_text", "recording", "rule_file_text"]

"""NVIDIA's MIG manager of the GPU operator: which layout it was asked for, and how far it is."""

from __future__ import annotations

from gpuscope_generator.normalized import node, partition
from gpuscope_generator.promql import Info, Matcher, group_by, info
from gpuscope_generator.rules.model import Group, Recording, RuleFile, recording
from gpuscope_generator.rules.sources.canonical import of_object, of_source
from gpuscope_generator.rules.sources.labels import first_label
from gpuscope_generator.settings import Settings

__all__ = ["mig_manager_rules"]

_NODE_LABELS: Info = info(
    "kube_node_labels",
    "node",
    "exported_node",
    "label_nvidia_com_mig_config",
    "label_nvidia_com_mig_config_state",
    source="kube-state-metrics",
)
"""With ``--metric-labels-allowlist=nodes=[nvidia.com/mig.config,nvidia.com/mig.config.state]``."""


def mig_manager_rules(settings: Settings) -> RuleFile:
    """Rules that read what the MIG manager writes on its nodes, as labels."""
    return RuleFile(
        path="recording/mig-manager.yaml",
        comment="From labels that NVIDIA's MIG manager writes on nodes, as kube-state-metrics publishes them where "
        "they are in its allow list, to what it was asked for.",
        groups=(Group("gpuscope-normalize-mig-manager", settings.intervals.aggregate, (_config(settings),)),),
    )


def _config(settings: Settings) -> Recording:
    asked = Matcher("label_nvidia_com_mig_config", "!=", "")
    found = of_object(of_source(_NODE_LABELS, settings, "kube-state-metrics", asked), settings, "node")
    with_config = first_label(found, "config", "label_nvidia_com_mig_config")
    with_state = first_label(with_config, "state", "label_nvidia_com_mig_config_state")
    return recording(partition.CONFIG, group_by(with_state, *node.NODE, "config", "state"))

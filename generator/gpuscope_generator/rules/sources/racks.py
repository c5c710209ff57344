"""Which rack a node stands in: from its name where the settings say how, else from labels of Kubernetes."""

from __future__ import annotations

import re

from gpuscope_generator.normalized import node
from gpuscope_generator.promql import Matcher, Vector, first_of, group_by, info, label_replace, select
from gpuscope_generator.promql.joins import one_of
from gpuscope_generator.rules.model import Group, RuleFile, recording
from gpuscope_generator.rules.sources.canonical import of_object, of_source
from gpuscope_generator.rules.sources.pod_owners import SOURCE
from gpuscope_generator.settings import Settings

__all__ = ["rack_rules"]

_RACK = (*node.NODE, "rack")


def rack_rules(settings: Settings) -> RuleFile:
    """Rules of racks; a node of which nobody tells has no series, and alerts about racks leave it out."""
    named = [_from_name(settings.rack_pattern)] if settings.rack_pattern else []
    found = (*named, *(_from_label(label, settings) for label in settings.rack_labels))
    rules = (recording(node.RACK, one_of(first_of(*found, on=node.NODE), *node.NODE)),) if found else ()
    return RuleFile(
        path="recording/racks.yaml",
        comment="From names of nodes, or from labels of Kubernetes, to racks. kube-state-metrics publishes a label of "
        "nodes only where --metric-labels-allowlist names it.",
        groups=(Group("gpuscope-normalize-racks", settings.intervals.aggregate, rules),) if rules else (),
    )


def _from_name(pattern: str) -> Vector:
    fitting = select(node.INFO, Matcher("node", "=~", pattern))
    return group_by(label_replace(fitting, "rack", "$1", "node", pattern), *_RACK)


def _from_label(label: str, settings: Settings) -> Vector:
    # As kube-state-metrics spells it: what Prometheus does not take becomes _, and each capital begins a word.
    plain = re.sub(r"[^a-zA-Z0-9_]", "_", label)
    spelled = "label_" + re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", plain).lower()
    labels = info("kube_node_labels", "node", "exported_node", spelled, source=SOURCE)
    found = of_object(of_source(labels, settings, SOURCE, Matcher(spelled, "!=", "")), settings, "node")
    return group_by(label_replace(found, "rack", "$1", spelled, "(.*)"), *_RACK)

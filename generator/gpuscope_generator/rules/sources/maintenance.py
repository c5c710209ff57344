"""Nodes that are under planned maintenance, so that what happens there wakes nobody."""

from __future__ import annotations

from gpuscope.catalogue import scheduler
from gpuscope_generator.external import kubernetes as kube
from gpuscope_generator.external import slurm
from gpuscope_generator.normalized import node
from gpuscope_generator.promql import Matcher, Series, Vector, as_gauge, first_of, group_by, label_replace, select
from gpuscope_generator.rules.model import Group, RuleFile, recording
from gpuscope_generator.rules.sources.canonical import canonical, clustered, of_object, of_source
from gpuscope_generator.rules.sources.pod_owners import SOURCE
from gpuscope_generator.settings import Settings

__all__ = ["maintenance_rules"]

_PLANNED = "maint.*"
"""Slurm's states ``maint`` and ``maintenance``, with the mark of a node that does not answer."""


def maintenance_rules(settings: Settings) -> RuleFile:
    """Rules of planned maintenance. A node that is merely cordoned or drained is not under it: a fault may be why."""

    def of_slurm(series: Series, label: str, *conditions: Matcher) -> Vector:
        found = of_source(series, settings, "slurm", *conditions)
        if label == "node":
            # Where a scrape does not honor labels, the plain one is of the exporter.
            return group_by(of_object(found, settings, "node"), *node.NODE)
        return group_by(label_replace(clustered(found, settings), "node", "$1", label, "(.*)"), *node.NODE)

    told = of_source(as_gauge(scheduler.NODE_STATE), settings, "collector", Matcher("state", "=", "maintenance"))
    collector = group_by(canonical(told.compare("==", 1), settings, node_from=("exported_node",)), *node.NODE)
    keys = Matcher("key", "=~", "|".join(settings.maintenance_taints) or "none")
    tainted = group_by(of_object(of_source(kube.NODE_TAINT, settings, SOURCE, keys), settings, "node"), *node.NODE)
    soperator = of_slurm(slurm.SOPERATOR_NODES, "node_name", Matcher("state_is_maintenance", "=", "true"))
    vpenso = of_slurm(slurm.VPENSO_NODES, "node", Matcher("status", "=~", _PLANNED))
    planned = first_of(collector, tainted, soperator, vpenso, on=node.NODE)
    return RuleFile(
        path="recording/maintenance.yaml",
        comment="From taints of Kubernetes and states of Slurm to nodes under planned maintenance, which alerts leave "
        "out.",
        groups=(
            Group(
                "gpuscope-normalize-maintenance",
                settings.intervals.normalize,
                (recording(node.MAINTENANCE, planned.or_(select(node.READY) * 0, on=node.NODE)),),
            ),
        ),
    )

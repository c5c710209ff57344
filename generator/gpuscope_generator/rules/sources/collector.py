"""Our collector: nodes of Slurm and of Kubernetes as their schedulers see them."""

from __future__ import annotations

from gpuscope.catalogue import scheduler
from gpuscope_generator.normalized import node
from gpuscope_generator.promql import Matcher, Vector, as_gauge, as_info, group_by, max_by
from gpuscope_generator.rules.model import Group, RuleFile, recording
from gpuscope_generator.rules.sources.canonical import canonical, of_source
from gpuscope_generator.rules.sources.kubernetes_nodes import not_countable, state_rules
from gpuscope_generator.settings import Settings

__all__ = ["SOURCE", "collector_rules"]

SOURCE = "collector"


def collector_rules(settings: Settings) -> RuleFile:
    """Rules of the nodes that the collector tells of."""

    def state(*states: str) -> Vector:
        selected = of_source(as_gauge(scheduler.NODE_STATE), settings, SOURCE, Matcher("state", "=~", "|".join(states)))
        return max_by(canonical(selected, settings, node_from=("exported_node",)), *node.NODE)

    def gpus(name: str) -> Vector:
        selected = of_source(
            as_gauge(scheduler.NODE_GPUS),
            settings,
            SOURCE,
            Matcher("kind", "=", "total"),
            Matcher("scheduler", "=", name),
        )
        return max_by(canonical(selected, settings, node_from=("exported_node",)), *node.NODE)

    reasons = canonical(
        of_source(as_info(scheduler.NODE_REASON), settings, SOURCE), settings, node_from=("exported_node",)
    )
    kept_away = ("draining", "drained", "maintenance")
    expected = gpus("slurm").or_(gpus("kubernetes").unless(not_countable(settings), on=node.NODE))
    return RuleFile(
        path="recording/collector.yaml",
        comment="From the gpuscope collector to nodes: what Slurm, or Kubernetes, gives them to do.",
        groups=(
            Group(
                "gpuscope-normalize-collector",
                settings.intervals.normalize,
                (
                    *state_rules(state("ready", *kept_away), state(*kept_away), state("unknown")),
                    recording(node.REASON, group_by(reasons, *node.NODE, "reason")),
                    recording(node.GPUS, expected.compare(">", 0), state="expected"),
                ),
            ),
        ),
    )

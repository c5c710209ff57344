"""What is chosen on a board about workloads: as conditions, and as the label by which graphs are grouped."""

from __future__ import annotations

from collections.abc import Mapping

from gpuscope_generator.normalized import workload
from gpuscope_generator.panels.variables import IN_CLUSTER, IN_KIND, IN_NAMESPACE, IN_POD, IN_TEAM, IN_WORKLOAD
from gpuscope_generator.promql import Gauge, Info, Matcher, Selector, Vector, group_by, select, topk
from gpuscope_generator.promql.grouping import grouped
from gpuscope_generator.promql.joins import ratio
from gpuscope_generator.view import Choice

__all__ = [
    "AGGREGATE_BY",
    "CHOSEN",
    "CHOSEN_PODS",
    "GROUP_LEGEND",
    "by_group",
    "chosen_nodes",
    "of_pods",
    "of_workloads",
    "share_by_group",
]

CHOSEN = (IN_CLUSTER, IN_TEAM, IN_NAMESPACE, IN_KIND, IN_WORKLOAD)
CHOSEN_PODS = (*CHOSEN, IN_POD)
AGGREGATE_BY = Choice(
    name="aggregate_by",
    label="Group by",
    options=(
        ("Workload", "workload"),
        ("Pod", "pod"),
        ("Namespace", "namespace"),
        ("Team", "team"),
        ("Node", "node"),
    ),
)
"""Sums by it never mix namespaces: equal names in two of them are two things. Slurm jobs have no pods, so workloads
come first."""
GROUP_LEGEND = "{{namespace}} {{$aggregate_by}}"
_MOST = 20


def _equal(labels: Mapping[str, str]) -> tuple[Matcher, ...]:
    return tuple(Matcher(label, "=", value) for label, value in labels.items())


def of_workloads(series: Gauge, **equal: str) -> Selector[Gauge]:
    """A series of the chosen workloads."""
    return select(series, *CHOSEN, *_equal(equal))


def of_pods(series: Gauge | Info, *more: Matcher, **equal: str) -> Selector[Gauge | Info]:
    """A series of the chosen pods; of Slurm jobs, which have none, as long as no pod is chosen."""
    return select(series, *CHOSEN_PODS, *more, *_equal(equal))


def by_group(inner: Vector, function: str = "sum") -> Vector:
    """The twenty largest by what the reader groups by."""
    return topk(_MOST, grouped(function, inner, "aggregate_by", "cluster", "namespace"))


def share_by_group(part: Vector, whole: Vector) -> Vector:
    """A share by what the reader groups by: both sides are summed first, as means of means would be wrong."""
    keys = ("cluster", "namespace")
    return topk(_MOST, ratio(grouped("sum", part, "aggregate_by", *keys), grouped("sum", whole, "aggregate_by", *keys)))


def chosen_nodes() -> Vector:
    """1 for each node on which something chosen runs."""
    pods = group_by(of_pods(workload.POD_INFO), "cluster", "node")
    holders = group_by(of_pods(workload.POD_GPU_SHARE), "cluster", "node")
    return pods.or_(holders).or_(group_by(of_pods(workload.POD_MIG_SHARE), "cluster", "node"))

"""Reading what our own agent publishes, for the rules of its own file and for those of sources that yield to it."""

from __future__ import annotations

from dataclasses import dataclass

from gpuscope.catalogue import clocks, lustre, xid
from gpuscope.catalogue.metric import Kind, Metric
from gpuscope_generator.normalized.gpu import GPU, XID_WITNESS
from gpuscope_generator.promql import (
    Counter,
    Gauge,
    Info,
    Matcher,
    Selector,
    Vector,
    as_counter,
    as_gauge,
    as_info,
    max_by,
)
from gpuscope_generator.rules.sources.canonical import canonical, clustered, of_object, of_source
from gpuscope_generator.settings import Settings

__all__ = ["SOURCE", "Agent"]

SOURCE = "gpuscope"
_ONE_OF_MANY = {
    xid.XID_ERRORS.name: {"xid": XID_WITNESS},
    clocks.EVENT_ACTIVE.name: {"reason": "idle"},
    lustre.RPCS.name: {"pages": "1"},
}
"""Labels of a series that the agent has wherever it has the metric."""


@dataclass(frozen=True, slots=True)
class Agent:
    """The agent's series, as rules read them.

    Attributes:
        settings: for the selectors of the agent and the label of the cluster.
    """

    settings: Settings

    def raw(self, metric: Metric, *conditions: Matcher, **equal: str) -> Selector[Gauge | Counter | Info]:
        """A metric as it was scraped."""
        series: Gauge | Counter | Info
        if metric.kind is Kind.COUNTER:
            series = as_counter(metric)
        elif metric.kind is Kind.INFO:
            series = as_info(metric)
        else:
            series = as_gauge(metric)
        return of_source(series, self.settings, SOURCE, *conditions, *_equal(equal))

    def counter(self, metric: Metric, *conditions: Matcher, **equal: str) -> Selector[Counter]:
        """A counter as it was scraped, to be rated."""
        return of_source(as_counter(metric), self.settings, SOURCE, *conditions, *_equal(equal))

    def named(self, vector: Vector) -> Vector:
        """With our labels for cluster and node."""
        return canonical(vector, self.settings)

    def of_pods(self, metric: Metric, *conditions: Matcher) -> Vector:
        """A metric whose ``namespace`` and ``pod`` are of the pod that it tells of, and not of the agent."""
        return self.named(of_object(self.raw(metric, *conditions), self.settings, "namespace", "pod"))

    def by_gpu(self, metric: Metric, *extra: str, **equal: str) -> Vector:
        """One series a GPU, and a value of the extra labels; doubled scrapes make one."""
        return max_by(self.named(self.raw(metric, **equal)), *GPU, *extra)

    def knows(self, metric: Metric, *conditions: Matcher, **equal: str) -> Vector:
        """Series whose ``cluster`` and ``uuid`` say which GPUs the agent has this metric of."""
        return clustered(self.presence(metric, *conditions, **equal), self.settings)

    def presence(self, metric: Metric, *conditions: Matcher, **equal: str) -> Selector[Gauge | Counter | Info]:
        """One of the series that the agent has of everything of which it has the metric.

        To know that it is there, one tells as much as one for each state, reason or code.
        """
        one = {metric.extra[-1]: metric.states[0]} if metric.states else _ONE_OF_MANY.get(metric.name, {})
        return self.raw(metric, *conditions, **(one | equal))

    def yields(self, vector: Vector, metric: Metric, *conditions: Matcher, **equal: str) -> Vector:
        """A vector of another source without the GPUs that the agent has this metric of."""
        return vector.unless(self.knows(metric, *conditions, **equal), on=("cluster", "uuid"))


def _equal(equal: dict[str, str]) -> tuple[Matcher, ...]:
    return tuple(Matcher(label, "=", value) for label, value in equal.items())

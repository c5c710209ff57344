"""What a query may name: series with their type, labels and unit."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from gpuscope.catalogue import CLUSTER_METRICS
from gpuscope.catalogue.metric import Kind, Metric, Unit

__all__ = [
    "TARGET_LABELS",
    "Counter",
    "Gauge",
    "Histogram",
    "Info",
    "Origin",
    "Series",
    "as_counter",
    "as_gauge",
    "as_histogram",
    "as_info",
    "counter",
    "gauge",
    "histogram",
    "info",
]

TARGET_LABELS = ("cluster", "node", "instance", "job")
"""Labels that a scrape adds to every series that does not carry them already."""


class Origin(StrEnum):
    """Which floor a series belongs to."""

    AGENT = "agent"
    COLLECTOR = "collector"
    RECORDED = "recorded"  # by one of our rules: the only ones that boards and alerts may read
    EXTERNAL = "external"  # by somebody else's exporter
    PROMETHEUS = "prometheus"  # ALERTS, up and the like


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """One metric family, as queries see it. Make one with ``gauge``, ``counter``, ``info`` or ``histogram``.

    Attributes:
        name: full name; recorded ones have the form ``level:metric:operations``.
        labels: label names that a series carries, in the order of the documentation. Those that a scrape adds are
            not listed for raw series.
        unit: base unit of the value.
        meaning: one sentence.
        origin: who makes it.
        source: which exporter, for external ones.
    """

    name: str
    labels: tuple[str, ...]
    unit: Unit = Unit.NONE
    meaning: str = ""
    origin: Origin = Origin.RECORDED
    source: str = ""

    @property
    def carried(self) -> frozenset[str]:
        """All labels that a selector may match: its own, and for raw series those that a scrape adds."""
        if self.origin is Origin.RECORDED:
            return frozenset(self.labels)
        return frozenset(self.labels) | frozenset(TARGET_LABELS)


class Gauge(Series):
    """A level: it can be averaged, and has no rate."""

    __slots__ = ()


class Info(Series):
    """Constant 1; the facts are in the labels."""

    __slots__ = ()


class Counter(Series):
    """It only rises, except when what counts begins anew: it has a rate, and no meaning as it stands."""

    __slots__ = ()


class Histogram(Series):
    """Counts by upper bound. ``name`` is the family's; the selectable parts are ``buckets``, ``sums``, ``counts``."""

    __slots__ = ()

    @property
    def buckets(self) -> Counter:
        """Observations up to each bound, with the label ``le``."""
        return Counter(f"{self.name}_bucket", (*self.labels, "le"), Unit.NONE, self.meaning, self.origin, self.source)

    @property
    def sums(self) -> Counter:
        """Sum of the observed values, in the histogram's unit."""
        return Counter(f"{self.name}_sum", self.labels, self.unit, self.meaning, self.origin, self.source)

    @property
    def counts(self) -> Counter:
        """Number of observations."""
        return Counter(f"{self.name}_count", self.labels, Unit.NONE, self.meaning, self.origin, self.source)


def gauge(name: str, *labels: str, unit: Unit = Unit.NONE, meaning: str = "", source: str = "") -> Gauge:
    """A level, recorded by our rules, or of the exporter that ``source`` names."""
    return Gauge(name, labels, unit, meaning, _origin(source), source)


def counter(name: str, *labels: str, unit: Unit = Unit.NONE, meaning: str = "", source: str = "") -> Counter:
    """A counter, recorded by our rules, or of the exporter that ``source`` names."""
    return Counter(name, labels, unit, meaning, _origin(source), source)


def info(name: str, *labels: str, meaning: str = "", source: str = "") -> Info:
    """Constant 1 with facts in labels, recorded by our rules, or of the exporter that ``source`` names."""
    return Info(name, labels, Unit.NONE, meaning, _origin(source), source)


def histogram(name: str, *labels: str, unit: Unit = Unit.SECONDS, meaning: str = "", source: str = "") -> Histogram:
    """A histogram of the exporter that ``source`` names; ``labels`` are without ``le``."""
    return Histogram(name, labels, unit, meaning, _origin(source), source)


def _origin(source: str) -> Origin:
    return Origin.EXTERNAL if source else Origin.RECORDED


def as_gauge(metric: Metric) -> Gauge:
    """A level or a state set that we publish ourselves.

    Raises:
        TypeError: the metric is of another kind.
    """
    return _of(metric, Gauge, Kind.GAUGE, Kind.STATE_SET)


def as_counter(metric: Metric) -> Counter:
    """A counter that we publish ourselves.

    Raises:
        TypeError: the metric is of another kind.
    """
    return _of(metric, Counter, Kind.COUNTER)


def as_info(metric: Metric) -> Info:
    """A constant 1 that we publish ourselves.

    Raises:
        TypeError: the metric is of another kind.
    """
    return _of(metric, Info, Kind.INFO)


def as_histogram(metric: Metric) -> Histogram:
    """A histogram that we publish ourselves.

    Raises:
        TypeError: the metric is of another kind.
    """
    return _of(metric, Histogram, Kind.HISTOGRAM)


_S = TypeVar("_S", bound=Series)


def _of(metric: Metric, wanted: type[_S], *kinds: Kind) -> _S:
    if metric.kind not in kinds:
        raise TypeError(f"{metric.name} is a {metric.kind.value}, and no {wanted.__name__.lower()}")
    origin = Origin.COLLECTOR if metric in CLUSTER_METRICS else Origin.AGENT
    return wanted(metric.name, metric.labels, metric.unit, metric.help, origin, "gpuscope")

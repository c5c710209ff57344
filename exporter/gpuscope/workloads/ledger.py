"""Counters and histograms of the book: they only grow, and outlive a restart of the collector."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise

from gpuscope.catalogue.metric import Kind, Metric, Sample
from gpuscope.workloads.store import Labels

__all__ = ["Ledger"]


class Ledger:
    """Values by metric and labels.

    Args:
        known: name of a metric -> labels -> value, as an earlier run left them.
    """

    def __init__(self, known: dict[str, dict[Labels, float]]) -> None:
        self._values = known
        self._changed: dict[tuple[str, Labels], float] = {}

    def count(self, metric: Metric, labels: Labels, value: float = 1.0) -> None:
        """Adds to a counter; adding 0 begins a series, so that ``increase()`` sees the first event."""
        values = self._values.setdefault(metric.name, {})
        values[labels] = values.get(labels, 0.0) + value
        self._changed[metric.name, labels] = values[labels]

    def observe(self, metric: Metric, labels: Labels, value: float) -> None:
        """Adds one observation to a histogram.

        Raises:
            ValueError: it is no number, or negative.
        """
        if not 0 <= value < float("inf"):
            raise ValueError(f"{metric.name}: {value} is no length of time")
        for part in metric.parts:
            added = {"sum": value, "count": 1.0}.get(part)
            self.count(metric, (*labels, part), float(value <= float(part)) if added is None else added)

    def written(self) -> None:
        """What changed stands on the disk by now."""
        self._changed = {}

    @property
    def changed(self) -> Mapping[tuple[str, Labels], float]:
        """Values that changed since ``written``."""
        return self._changed

    def samples(self, metrics: Iterable[Metric]) -> Iterator[Sample]:
        """The series of these metrics; those of a histogram in the order that the text formats want."""
        for metric in metrics:
            known = self._values.get(metric.name, {})
            if metric.kind is not Kind.HISTOGRAM:
                yield from (Sample(metric, labels, value) for labels, value in known.items())
                continue
            for own in dict.fromkeys(labels[:-1] for labels in known):
                yield from _histogram(metric, own, known)


def _histogram(metric: Metric, own: Labels, known: Mapping[Labels, float]) -> Iterator[Sample]:
    parts = metric.parts
    values = [known.get((*own, part)) for part in parts]
    # Other bounds of an earlier release leave holes, and a histogram with holes is worse than none.
    if None in values or any(low > high for low, high in pairwise(values[:-2])):  # type: ignore[operator]
        return
    for part, value in zip(parts, values, strict=True):
        assert value is not None
        yield Sample(metric, (*own, part), value)

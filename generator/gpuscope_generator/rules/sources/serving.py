"""How a model server's own series get the labels of `gpuscope_generator.normalized.inference`, whatever its engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from gpuscope_generator.normalized import inference, latency, workload
from gpuscope_generator.promql import (
    Counter,
    Gauge,
    Histogram,
    Info,
    Matcher,
    Selector,
    Series,
    Vector,
    avg_by,
    first_of,
    group_by,
    join,
    label_replace,
    max_by,
    rate,
    select,
    sum_by,
)
from gpuscope_generator.rules.model import Recording, RuleFile, beside_each_other, recording
from gpuscope_generator.rules.sources.canonical import clustered, of_source
from gpuscope_generator.rules.sources.labels import first_label, labelled
from gpuscope_generator.settings import Settings

__all__ = ["UNKNOWN_MODEL", "WINDOW", "Engine", "Names", "engine_file"]

T = TypeVar("T", bound=Series)
WINDOW = "5m"
UNKNOWN_MODEL = "unknown"
_POD = ("cluster", "namespace", "pod")
_SERVED = (*_POD, "model")
_WAITED_FOR = (latency.TIME_TO_FIRST_TOKEN, latency.INTER_TOKEN, latency.REQUEST)
"""Histograms of what a user waits for; the others are of stages and sizes."""

Names = Sequence[Gauge] | Sequence[Counter] | Sequence[Histogram] | Sequence[Info]
"""One series under the names of several versions, the newest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """One kind of model server.

    Attributes:
        key: value of the label ``engine``, and the name of the source in the settings.
        settings: for the selectors and the label of the cluster.
        model: label in which it tells the model; empty where it does not.
        parts: labels of its parts that work side by side, such as data-parallel ones: of counts they are summed. What
            differs in other labels only, such as the rank of tensor parallelism, says the same again.
        behind: series of a front end that shares the target and counts the same requests for its users.
    """

    key: str
    settings: Settings
    model: str = "model_name"
    parts: tuple[str, ...] = ()
    behind: Gauge | None = None

    @property
    def _target(self) -> tuple[str, ...]:
        return (self.settings.cluster_label, "instance")

    def levels(self, names: Sequence[Gauge] | Sequence[Info], *conditions: Matcher) -> Vector:
        """A level, under the newest of its names that a server has."""
        return self._newest([self.raw(one, *conditions) for one in names])

    def rates(self, names: Sequence[Counter], *conditions: Matcher) -> Vector:
        """A rate, likewise."""
        return self._newest([rate(self.raw(one, *conditions), WINDOW) for one in names])

    def raw(self, series: T, *conditions: Matcher) -> Selector[T]:
        """A series as the engine publishes it."""
        return of_source(series, self.settings, self.key, *conditions)

    def _newest(self, found: Sequence[Vector]) -> Vector:
        return first_of(*found, on=self._target)

    def not_behind(self, found: Vector) -> Vector:
        """Without servers whose front end counts the same requests."""
        return found if self.behind is None else found.unless(select(self.behind), on=self._target)

    def each(self, found: Vector, *more: str) -> Vector:
        """Parts of servers, one series each, although two scrapes or several ranks tell it; with labels ``more``."""
        placed = first_label(clustered(found, self.settings), "pod", "pod", "instance")
        if self.model:
            named = label_replace(placed, "model", "$1", self.model, "(.*)")
        else:
            named = labelled(placed, model=UNKNOWN_MODEL)
        parts = [part for part in self.parts if part in (placed.labels or ()) and part not in more]
        return max_by(named, *_SERVED, *parts, *more)

    def total(self, found: Vector, *more: str) -> Vector:
        """Sum over the parts of a server."""
        each = self.each(found, *more)
        return sum_by(each, *_SERVED, *more) if self.parts else each

    def mean(self, found: Vector) -> Vector:
        """Mean over the parts of a server."""
        return avg_by(self.each(found), *_SERVED) if self.parts else self.each(found)

    def highest(self, found: Vector, *more: str) -> Vector:
        """Largest value of the parts of a server."""
        return max_by(self.each(found, *more), *_SERVED, *more) if self.parts else self.each(found, *more)

    def server(self, series: Gauge | Info, found: Vector, **labels: str) -> Recording:
        """A rule of a series of replicas."""
        return recording(series, self.owned(found), engine=self.key, **labels)

    def served(self, series: Gauge, found: Vector, **labels: str) -> Recording:
        """A rule of a series of models: the sum over replicas."""
        more = [label for label in series.labels if label not in inference.MODEL and label not in labels]
        kept = ("cluster", "namespace", "model", "workload", *more)
        return recording(series, sum_by(self.owned(found), *kept), engine=self.key, **labels)

    def owned(self, found: Vector) -> Vector:
        """With the workload, as ``info`` found it."""
        return join(found, select(inference.SERVER_INFO, engine=self.key), on=_POD, take=("workload",))

    def info(self, found: Vector) -> Recording:
        """The rule that all others of an engine are joined with, so that pods are looked up once.

        Args:
            found: a level that every server of the engine has, or a rate of it.
        """
        servers = group_by(self.total(found), *_SERVED)
        known = join(servers, select(workload.POD_INFO), on=_POD, take=("workload", "node"))
        alone = labelled(servers.unless(select(workload.POD_INFO), on=_POD), workload="", node="")
        return recording(inference.SERVER_INFO, known.or_(alone, on=_SERVED), engine=self.key)

    def histogram(
        self, series: Gauge, names: Sequence[Histogram], *conditions: Matcher, counted_ahead: bool = False
    ) -> Recording:
        """A rule of a histogram's rate by bucket.

        Args:
            series: one of `gpuscope_generator.normalized.latency`.
            names: of the histogram, the newest first.
            conditions: on its labels.
            counted_ahead: a front end observes the same.
        """
        found = self.rates([one.buckets for one in names], *conditions)
        return self.served(series, self.total(self.not_behind(found) if counted_ahead else found, "le"))

    def stage(self, stage: str, names: Sequence[Histogram], *conditions: Matcher) -> tuple[Recording, ...]:
        """Rules of the time that requests spend in a stage, from the sums of a histogram."""
        seconds = self.total(self.rates([one.sums for one in names], *conditions))
        requests = self.total(self.rates([one.counts for one in names], *conditions))
        return (
            self.served(inference.STAGE_SECONDS, seconds, stage=stage),
            self.served(inference.STAGE_REQUESTS, requests, stage=stage),
        )

    def http_errors(self, found: Vector, status: str, path: str) -> Recording:
        """A rule of answers that say failure, of a web server that names no model.

        Args:
            found: a rate.
            status: label of the status.
            path: label of what was asked for.
        """
        placed = first_label(clustered(found, self.settings), "pod", "pod", "instance")
        each = max_by(first_label(placed, "reason", status), *_POD, "reason", path, "method")
        owned = join(each, select(inference.SERVER_INFO, engine=self.key), on=_POD, take=("model", "workload"))
        total = sum_by(owned, "cluster", "namespace", "model", "workload", "reason")
        return recording(inference.ERRORS, total, engine=self.key, layer="http")

    def tokens(self, kind: str, names: Sequence[Counter]) -> Recording:
        """A rule of tokens a second."""
        return self.server(inference.POD_TOKENS, self.total(self.not_behind(self.rates(names))), kind=kind)

    def cache(self, found: Vector) -> tuple[Recording, ...]:
        """Rules of the share of the key-value cache in use: mean and largest, as shares cannot be added."""
        return (
            self.server(inference.POD_KV_MEAN, self.mean(found)),
            self.server(inference.POD_KV_MAX, self.highest(found)),
        )


def engine_file(
    name: str, engine: str, title: str, settings: Settings, rules: Callable[[], Sequence[Recording]]
) -> RuleFile:
    """The rule file of an engine.

    Args:
        name: of the file, without folder and ending.
        engine: as in `Engine.key`.
        title: as people know it, with versions.
        settings: for the interval.
        rules: makes them, that of `Engine.info` first.
    """
    # Buckets are most of the series.
    parts: dict[str, list[Recording]] = {"": [], "-latency": [], "-stages": []}
    for rule in rules():
        part = "" if "le" not in rule.series.labels else "-latency" if rule.series in _WAITED_FOR else "-stages"
        parts[part].append(rule)
    return RuleFile(
        path=f"recording/{name}.yaml",
        comment=f'From {title} to replicas of model servers and to models, with the label engine="{engine}".',
        groups=beside_each_other(f"gpuscope-normalize-{name}", settings.intervals.normalize, parts),
    )

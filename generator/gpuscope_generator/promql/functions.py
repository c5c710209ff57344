"""Functions and aggregations of PromQL, each for the types that it is meant for."""

from __future__ import annotations

from collections.abc import Iterable

from gpuscope_generator.promql.expression import (
    Binding,
    Expression,
    QueryError,
    Range,
    Scalar,
    Selector,
    Vector,
    check_labels,
    number,
)
from gpuscope_generator.promql.series import Counter, Gauge, Info, Series

__all__ = [
    "RANGE",
    "RATE_INTERVAL",
    "aggregate",
    "avg_by",
    "avg_over_time",
    "bottomk",
    "changes",
    "clamp",
    "count_by",
    "count_values",
    "deriv",
    "floor",
    "group_by",
    "histogram_quantile",
    "increase",
    "label_join",
    "label_replace",
    "last_over_time",
    "max_by",
    "max_over_time",
    "min_by",
    "min_over_time",
    "now",
    "predict_linear",
    "present_over_time",
    "quantile_by",
    "rate",
    "resampled",
    "scalar",
    "sum_by",
    "sum_over_time",
    "timestamp",
    "topk",
    "vector",
]

RATE_INTERVAL = "$__rate_interval"
"""Grafana's window for a rate: at least four scrapes long, and not shorter than the distance of two points."""
RANGE = "$__range"
"""Grafana's name for the whole time range of the board."""


def rate(counter: Selector[Counter], window: str = RATE_INTERVAL) -> Vector:
    """Increase of a counter per second, over a window.

    Raises:
        QueryError: it is no counter.
    """
    return _counted("rate", counter, window)


def increase(counter: Selector[Counter], window: str = RATE_INTERVAL) -> Vector:
    """Increase of a counter over a window; a fraction, as Prometheus extrapolates.

    Raises:
        QueryError: it is no counter.
    """
    return _counted("increase", counter, window)


def _counted(name: str, counter: Selector[Counter], window: str) -> Vector:
    if not isinstance(counter.selected, Counter):
        raise QueryError(f"{name} of {counter.selected.name}, which is a {type(counter.selected).__name__.lower()}")
    return _function(name, counter.over(window))


def changes(level: Selector[Gauge | Counter | Info], window: str) -> Vector:
    """How often the value changed in a window."""
    return _function("changes", level.over(window))


def deriv(level: Selector[Gauge], window: str) -> Vector:
    """Slope of a level per second, by linear regression.

    Raises:
        QueryError: it is a counter.
    """
    return _function("deriv", _leveled("deriv", level).over(window))


def predict_linear(level: Selector[Gauge], window: str, seconds: float) -> Vector:
    """Where the regression line of a level will be in that many seconds.

    Raises:
        QueryError: it is a counter.
    """
    return _function("predict_linear", _leveled("predict_linear", level).over(window), number(seconds))


def avg_over_time(level: Selector[Gauge | Info], window: str = RANGE) -> Vector:
    """Mean of the samples of a window; of a ratio only at one level, never across devices.

    Raises:
        QueryError: it is a counter.
    """
    return _function("avg_over_time", _leveled("avg_over_time", level).over(window))


def max_over_time(level: Selector[Gauge | Info], window: str = RANGE, *, until: str = "") -> Vector:
    """Largest sample of a window, which ends that long ago (``until``), or now."""
    return _function("max_over_time", _leveled("max_over_time", level).over(window, until=until))


def min_over_time(level: Selector[Gauge | Info], window: str = RANGE) -> Vector:
    """Smallest sample of a window."""
    return _function("min_over_time", _leveled("min_over_time", level).over(window))


def sum_over_time(level: Selector[Gauge | Info], window: str = RANGE) -> Vector:
    """Sum of the samples of a window: times their distance it is an integral."""
    return _function("sum_over_time", _leveled("sum_over_time", level).over(window))


def last_over_time(level: Selector[Series], window: str = RANGE) -> Vector:
    """Newest sample of a window."""
    return _function("last_over_time", level.over(window))


def present_over_time(level: Selector[Series], window: str = RANGE) -> Vector:
    """1 where any sample lies in a window."""
    return _function("present_over_time", level.over(window))


def resampled(function: str, inner: Vector, window: str, step: str = "") -> Vector:
    """A function over a window of a whole expression, evaluated every ``step`` (a subquery): dear, so for one entity.

    Raises:
        QueryError: not one of ``avg_over_time``, ``max_over_time``, ``min_over_time``, ``sum_over_time``.
    """
    if function not in ("avg_over_time", "max_over_time", "min_over_time", "sum_over_time"):
        raise QueryError(f"no {function} over an expression")
    return Vector(f"{function}({inner.inside(Binding.MULTIPLY)}[{window}:{step}])", inner.labels, series=inner.series)


def _leveled(name: str, level: Selector[Series]) -> Selector[Series]:
    if isinstance(level.selected, Counter):
        raise QueryError(f"{name} of {level.selected.name}, which is a counter: take its rate or increase")
    return level


def timestamp(level: Selector[Series]) -> Vector:
    """When the newest sample was taken, in seconds since 1970."""
    return _function("timestamp", level)


def clamp(inner: Vector, *, low: float | None = None, high: float | None = None) -> Vector:
    """Values held between bounds.

    Raises:
        QueryError: neither bound is given.
    """
    if low is None and high is None:
        raise QueryError("clamp wants a bound")
    result = inner
    if low is not None:
        result = _function("clamp_min", result, number(low))
    if high is not None:
        result = _function("clamp_max", result, number(high))
    return result


def floor(inner: Vector) -> Vector:
    """Values cut down to whole numbers; with ``%`` of two it reads one bit of a mask."""
    return _function("floor", inner)


def label_replace(inner: Vector, target: str, replacement: str, source: str, regex: str) -> Vector:
    """Sets a label from another one where the whole of that one matches; what does not match stays as it is."""
    quoted = ", ".join(_quoted(part) for part in (target, replacement, source, regex))
    labels = None if inner.labels is None else inner.labels | {target}
    return Vector(f"label_replace({inner.text}, {quoted})", labels, series=inner.series)


def label_join(inner: Vector, target: str, separator: str, *sources: str) -> Vector:
    """Sets a label from several others, with a separator between them; those that are missing count as empty.

    Raises:
        QueryError: the label is one of the others, and not the first: VictoriaMetrics overwrites it while it reads.
    """
    if target in sources[1:]:
        raise QueryError(f"label_join into {target}, which is read after others: put it first")
    quoted = ", ".join(_quoted(part) for part in (target, separator, *sources))
    labels = None if inner.labels is None else inner.labels | {target}
    return Vector(f"label_join({inner.text}, {quoted})", labels, series=inner.series)


def histogram_quantile(quantile: float | str, buckets: Vector) -> Vector:
    """Estimated quantile of rates of buckets, which carry ``le``. ``quantile`` may be a variable of Grafana.

    Raises:
        QueryError: the operand carries no ``le``.
    """
    check_labels(["le"], buckets, "histogram_quantile")
    q = str(quantile)
    labels = None if buckets.labels is None else buckets.labels - {"le"}
    return Vector(f"histogram_quantile({q}, {buckets.text})", labels, series=buckets.series)


def aggregate(function: str, inner: Vector, by: Iterable[str], parameter: str = "") -> Vector:
    """An aggregation by labels. ``parameter`` stands before the operand, as ``topk`` and ``quantile`` want it.

    Raises:
        QueryError: the operand lacks one of the labels.
    """
    labels = check_labels(by, inner, f"{function} by")
    head = f"{function} by ({', '.join(labels)}) " if labels else function
    arguments = f"{parameter}, {inner.text}" if parameter else inner.text
    return Vector(f"{head}({arguments})", frozenset(labels), series=inner.series)


def sum_by(inner: Vector, *by: str) -> Vector:
    """Sum for each combination of these labels; of ratios it has no meaning."""
    return aggregate("sum", inner, by)


def avg_by(inner: Vector, *by: str) -> Vector:
    """Mean for each combination of these labels: only over equals, such as the GPUs of one job."""
    return aggregate("avg", inner, by)


def max_by(inner: Vector, *by: str) -> Vector:
    """Largest value for each combination of these labels; it also makes one series of duplicates."""
    return aggregate("max", inner, by)


def min_by(inner: Vector, *by: str) -> Vector:
    """Smallest value for each combination of these labels."""
    return aggregate("min", inner, by)


def count_by(inner: Vector, *by: str) -> Vector:
    """Number of series for each combination of these labels."""
    return aggregate("count", inner, by)


def group_by(inner: Vector, *by: str) -> Vector:
    """1 for each combination of these labels that exists."""
    return aggregate("group", inner, by)


def quantile_by(quantile: float, inner: Vector, *by: str) -> Vector:
    """Quantile over the series of each combination of these labels."""
    return aggregate("quantile", inner, by, number(quantile).text)


def topk(count: int | str, inner: Vector) -> Vector:
    """The series with the largest values, with their labels."""
    return Vector(f"topk({count}, {inner.text})", inner.labels, series=inner.series)


def bottomk(count: int | str, inner: Vector) -> Vector:
    """The series with the smallest values, with their labels."""
    return Vector(f"bottomk({count}, {inner.text})", inner.labels, series=inner.series)


def count_values(label: str, inner: Vector, *by: str) -> Vector:
    """How many series have each value, the value as a label."""
    head = f"count_values by ({', '.join(check_labels(by, inner, 'count_values by'))}) " if by else "count_values"
    return Vector(f'{head}("{label}", {inner.text})', frozenset((*by, label)), series=inner.series)


def now() -> Scalar:
    """The time of evaluation in seconds since 1970."""
    return Scalar("time()", frozenset())


def vector(value: float | Scalar) -> Vector:
    """One sample without labels."""
    inner = value if isinstance(value, Scalar) else number(value)
    return Vector(f"vector({inner.text})", frozenset())


def scalar(inner: Vector) -> Scalar:
    """The value of the only series; nothing where there are none or several."""
    return Scalar(f"scalar({inner.text})", frozenset(), series=inner.series)


def _function(name: str, inner: Range[Series] | Expression, *arguments: Scalar) -> Vector:
    text = ", ".join([inner.text, *(argument.text for argument in arguments)])
    return Vector(f"{name}({text})", inner.labels, series=inner.series)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'

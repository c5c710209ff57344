"""Expressions: text that is known to be well formed, with the labels that its result carries."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from typing import Generic, TypeVar

from gpuscope_generator.promql.series import Histogram, Series

__all__ = [
    "Expression",
    "Matcher",
    "QueryError",
    "Range",
    "Scalar",
    "Selector",
    "Vector",
    "matchers",
    "number",
    "select",
]

S = TypeVar("S", bound=Series, covariant=True)
T = TypeVar("T", bound=Series)


class QueryError(TypeError):
    """A query that could not mean what it says: a rate of a gauge, a label that a series does not carry."""


class Binding(IntEnum):
    """How strongly the outermost operator of a text binds; a weaker one inside needs parentheses."""

    NONE = 0
    OR = 1
    AND = 2
    COMPARE = 3
    ADD = 4
    MULTIPLY = 5
    ATOM = 9


@dataclass(frozen=True, slots=True)
class Matcher:
    """One condition on a label. ``operator`` is ``=``, ``!=``, ``=~`` or ``!~``."""

    label: str
    operator: str
    value: str

    def __post_init__(self) -> None:
        if self.operator not in ("=", "!=", "=~", "!~"):
            raise QueryError(f"{self.operator!r} is no operator of a matcher")

    def __str__(self) -> str:
        value = self.value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        return f'{self.label}{self.operator}"{value}"'


_MATCHER = re.compile(r'\s*([a-zA-Z_][a-zA-Z0-9_]*)\s*(=~|!~|!=|=)\s*"((?:[^"\\]|\\.)*)"\s*(?:,|$)')


_LONGEST = 2000
"""Of conditions as people write them: they stand in every query of a source, many times over."""
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", '"': '"', "'": "'"}


def _unescaped(found: re.Match[str]) -> str:
    if found[1] not in _ESCAPES:
        raise QueryError(f"no escape {found[0]} in a text of PromQL; a backslash is written twice")
    return _ESCAPES[found[1]]


def matchers(text: str) -> tuple[Matcher, ...]:
    """Conditions as people write them, such as ``job="dcgm-exporter", namespace!="test"``; empty text gives none.

    Raises:
        QueryError: something else stands there.
    """
    if len(text) > _LONGEST:
        raise QueryError(f"longer than {_LONGEST} characters")
    found: list[Matcher] = []
    position = 0
    while text[position:].strip():
        match = _MATCHER.match(text, position)
        if match is None:
            raise QueryError(f'not a condition such as job="name": {text[position:].strip()!r}')
        if match[1] == "__name__":
            raise QueryError("the name of a series cannot be chosen: each query has its own")
        value = _ESCAPE.sub(_unescaped, match[3])
        found.append(Matcher(match[1], match[2], value))
        position = match.end()
    return tuple(found)


@dataclass(frozen=True, slots=True, eq=False)
class Expression:
    """A query text.

    Attributes:
        text: PromQL.
        labels: label names of the result; ``None`` where they cannot be known.
        binding: of the outermost operator.
        series: every series that the text reads, for completeness tests.
    """

    text: str
    labels: frozenset[str] | None = None
    binding: Binding = Binding.ATOM
    series: tuple[Series, ...] = ()

    def __str__(self) -> str:
        return self.text

    def inside(self, binding: Binding) -> str:
        """The text, in parentheses where an operator of this strength around it would tear it apart."""
        return self.text if self.binding > binding else f"({self.text})"


class Scalar(Expression):
    """One number without labels."""

    __slots__ = ()


class Vector(Expression):
    """A value for each label set at one time."""

    __slots__ = ()

    def __add__(self, other: Vector | Scalar | float) -> Vector:
        return _binary(self, "+", other, Binding.ADD)

    def __sub__(self, other: Vector | Scalar | float) -> Vector:
        return _binary(self, "-", other, Binding.ADD)

    def __mul__(self, other: Vector | Scalar | float) -> Vector:
        return _binary(self, "*", other, Binding.MULTIPLY)

    def __truediv__(self, other: Vector | Scalar | float) -> Vector:
        return _binary(self, "/", other, Binding.MULTIPLY)

    def __mod__(self, other: Vector | float) -> Vector:
        return _binary(self, "%", other, Binding.MULTIPLY)

    def compare(self, operator: str, other: Vector | Scalar | float, *, as_bool: bool = False) -> Vector:
        """Keeps what fulfills the comparison, or with ``as_bool`` gives 1 and 0. ``operator`` as in PromQL."""
        if operator not in ("==", "!=", ">", "<", ">=", "<="):
            raise QueryError(f"{operator!r} is no comparison")
        return _binary(self, f"{operator} bool" if as_bool else operator, other, Binding.COMPARE)

    def or_(self, other: Vector, *, on: Iterable[str] | None = None) -> Vector:
        """This, and of the other what has no match here."""
        return _binary(self, "or" + _on(on), other, Binding.OR)

    def and_(self, other: Vector, *, on: Iterable[str] | None = None) -> Vector:
        """What has a match in the other."""
        return _binary(self, "and" + _on(on), other, Binding.AND)

    def unless(self, other: Vector, *, on: Iterable[str] | None = None) -> Vector:
        """What has no match in the other."""
        return _binary(self, "unless" + _on(on), other, Binding.AND)


class Selector(Vector, Generic[S]):
    """The newest samples of one series, as far as they match."""

    __slots__ = ()

    @property
    def selected(self) -> Series:
        """The series."""
        return self.series[0]

    def also(self, *matchers: Matcher) -> Selector[S]:
        """With conditions of the user, whose labels only the user knows."""
        if not matchers:
            return self
        begun = f"{self.text[:-1]}," if self.text.endswith("}") else f"{self.text}{{"
        return Selector(f"{begun}{','.join(map(str, matchers))}}}", self.labels, Binding.ATOM, self.series)

    def offset(self, duration: str) -> Vector:
        """As it was that long ago, such as ``1h``."""
        return Vector(f"{self.text} offset {duration}", self.labels, Binding.ATOM, self.series)

    def over(self, window: str, *, until: str = "") -> Range[S]:
        """All samples of a window, such as ``5m``, ``$__rate_interval`` or ``$__range``.

        Args:
            window: its length.
            until: how long ago it ends, such as ``1h``; empty for now.
        """
        offset = f" offset {until}" if until else ""
        return Range(f"{self.text}[{window}]{offset}", self.labels, Binding.ATOM, self.series)


class Range(Expression, Generic[S]):
    """The samples of a window; a function such as ``rate`` makes a vector of it."""

    __slots__ = ()


def select(series: T, *matchers: Matcher, **equal: str) -> Selector[T]:
    """The samples of a series.

    Args:
        series: what to read; of a histogram one of its parts.
        matchers: conditions.
        equal: conditions of equality, ``label="value"``.

    Raises:
        QueryError: a condition on a label that the series does not carry, or a histogram as a whole.
    """
    if isinstance(series, Histogram):
        raise QueryError(f"{series.name} is a histogram: select its buckets, sums or counts")
    conditions = (*matchers, *(Matcher(label, "=", value) for label, value in equal.items()))
    for matcher in conditions:
        if matcher.label not in series.carried and matcher.label != "__name__":
            raise QueryError(f"{series.name} carries no label {matcher.label!r}, but {', '.join(series.labels)}")
    inner = ",".join(map(str, conditions))
    text = f"{series.name}{{{inner}}}" if inner else series.name
    return Selector(text, series.carried, Binding.ATOM, (series,))


def number(value: float) -> Scalar:
    """A number as PromQL writes it."""
    text = repr(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(float(value))
    return Scalar(text, frozenset(), Binding.ATOM if value >= 0 else Binding.ADD)


def _operand(value: Expression | float) -> Expression:
    return value if isinstance(value, Expression) else number(value)


def _binary(left: Vector, operator: str, other: Expression | float, binding: Binding) -> Vector:
    right = _operand(other)
    # One level stronger on the right: a - (b - c), a / (b / c).
    text = f"{left.inside(Binding(binding - 1))} {operator} {right.inside(binding)}"
    if operator.startswith("or") and left.labels is not None and right.labels is not None:
        labels: frozenset[str] | None = left.labels | right.labels
    else:
        labels = left.labels
    return Vector(text, labels, binding, left.series + right.series)


def _on(labels: Iterable[str] | None) -> str:
    return "" if labels is None else f" on ({', '.join(labels)})"


def check_labels(wanted: Iterable[str], operand: Expression, what: str) -> tuple[str, ...]:
    """The labels as a tuple, once each of them is known to be there.

    Raises:
        QueryError: the operand has no such label.
    """
    names = tuple(wanted)
    if operand.labels is not None:
        missing = [name for name in names if name not in operand.labels]
        if missing:
            raise QueryError(f"{what}: no label {', '.join(missing)} in {operand.text}")
    return names

"""Which part of a document follows from which setting, found by comparing documents that were built with others."""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import Any

from gpuscope_generator.mixin.parameter import LINK_PREFIX, RUNBOOK_PREFIX, SCRAPE_INTERVALS, Parameter
from gpuscope_generator.settings import Settings

__all__ = ["Change", "Tracer", "quoted"]

_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
_FACTORS = (1, 2, 100, 60, 3600, 1 / 60, 1 / 3600, 24, 86_400, 1000, -1, -100)
_OFFSETS = (0, 1, -1, 100)


@dataclass(frozen=True, slots=True)
class Change:
    """One value of a document that follows from settings.

    Attributes:
        path: where it is.
        expression: of Jsonnet.
        condition: when it takes the place of what is there; empty for always.
    """

    path: tuple[str | int, ...]
    expression: str
    condition: str = ""


@dataclass
class Tracer:
    """Compares a document with two more, built with trial values.

    Attributes:
        settings: of the document.
        parameters: numbers that were tried.
        lost: places that differ, yet cannot be followed: what is behind them needs the generator.
        inside: what stands before these places: the name of the document, where there are several.
    """

    settings: Settings
    parameters: Sequence[Parameter]
    lost: list[tuple[str | int, ...]] = field(default_factory=list)
    inside: tuple[str, ...] = ()
    _known: dict[tuple[str, ...], tuple[str, str] | None] = field(default_factory=dict)

    def changes(self, one: Any, first: Any, second: Any, path: tuple[str | int, ...] = ()) -> Iterator[Change]:
        """Every value that differs.

        Raises:
            ValueError: the documents are of unequal shape, so that a setting decides what is there at all.
        """
        if isinstance(one, dict):
            if not one.keys() == first.keys() == second.keys():
                raise ValueError(f"{_shown(path)}: a threshold or an interval decides which keys there are")
            for key in one:
                yield from self.changes(one[key], first[key], second[key], (*path, key))
        elif isinstance(one, list):
            if not len(one) == len(first) == len(second):
                raise ValueError(f"{_shown(path)}: a threshold or an interval decides how many there are")
            for index, items in enumerate(zip(one, first, second, strict=True)):
                yield from self.changes(*items, (*path, index))
        elif not one == first == second:
            expression = self.expression(one, first, second)
            if expression is None:
                self.lost.append((*self.inside, *path))
            else:
                yield Change(path, expression)

    def expression(self, one: Any, first: Any, second: Any) -> str | None:
        """A value as an expression of ``c``, the configuration; ``None`` where it cannot be followed."""
        if isinstance(one, str):
            return self._text(one, first, second)
        found = self._number(str(one), str(first), str(second))
        return None if found is None else found[0]

    def _text(self, one: str, first: str, second: str) -> str | None:
        if (one, first, second) == (self.settings.scrape_interval, *SCRAPE_INTERVALS):
            return "c.scrape_interval"
        parts: list[str] = []
        for name, mark in (("link_prefix", LINK_PREFIX), ("runbook_prefix", RUNBOOK_PREFIX)):
            if f"{mark}0" in first:
                pieces = [
                    self._text(*inner) if len(set(inner)) > 1 else quoted(inner[0])
                    for inner in _between(self._default(name), mark, one, first, second)
                ]
                return None if None in pieces else f" + c.{name} + ".join(str(piece) for piece in pieces)
        texts = [_NUMBER.split(text) for text in (one, first, second)]
        numbers = [_NUMBER.findall(text) for text in (one, first, second)]
        if not texts[0] == texts[1] == texts[2]:
            return None
        pieces_of_text = texts[0]
        begun = pieces_of_text[0]
        for index, tokens in enumerate(zip(*numbers, strict=True)):
            if len(set(tokens)) == 1:
                begun += tokens[0] + pieces_of_text[index + 1]
                continue
            found = self._number(*tokens)
            if found is None:
                return None
            expression, form = found
            written = f"'{form}' % ({expression})" if form else f"std.toString({expression})"
            parts += [quoted(begun), written]
            begun = pieces_of_text[index + 1]
        parts.append(quoted(begun))
        return " + ".join(part for part in parts if part != "''") or "''"

    def _default(self, name: str) -> str:
        return str(getattr(self.settings, name))

    def _number(self, *shown: str) -> tuple[str, str] | None:
        """An expression, and how Jsonnet writes its value; an empty form is with all digits."""
        if shown not in self._known:
            self._known[shown] = self._searched(shown)
        return self._known[shown]

    def _searched(self, shown: tuple[str, ...]) -> tuple[str, str] | None:
        digits = {len(token.partition(".")[2]) for token in shown}
        fixed = ((f"%.{count}f", _rounded(f".{count}f")) for count in digits if len(digits) == 1)
        all_digits = "%.12g" if _short(shown[0]) else ""
        near = self._near(shown[0])
        found = [
            (parameter, factor, offset, form)
            for form, same in ((all_digits, _equal), *fixed, ("%.6g", _rounded("g")))
            for parameter, factor, offset in near
            if all(same(offset + factor * value, token) for value, token in zip(parameter.values, shown, strict=True))
        ]
        if len({parameter.path for parameter, *_ in found}) != 1:
            return None
        parameter, factor, offset, form = found[0]
        return _written(parameter, factor, offset), form

    def _near(self, token: str) -> list[tuple[Parameter, float, float]]:
        """What may have been written so, rounded in any way; in the order of parameters, factors and offsets."""
        value, rounding = float(token), 0.5 * 10.0 ** -len(token.partition(".")[2].partition("e")[0])
        reach = rounding + 1e-5 * max(1.0, abs(value))
        values = [one[0] for one in self._candidates]
        begin, end = bisect_left(values, value - reach), bisect_right(values, value + reach)
        return [one[2:] for one in sorted(self._candidates[begin:end], key=lambda one: one[1])]

    @cached_property
    def _candidates(self) -> list[tuple[float, int, Parameter, float, float]]:
        """Every value that a default may stand for, sorted; and its place among them."""
        combined = product(self.parameters, _FACTORS, _OFFSETS)
        found = [
            (offset + factor * parameter.default, index, parameter, factor, offset)
            for index, (parameter, factor, offset) in enumerate(combined)
        ]
        return sorted(found, key=lambda one: one[:2])


def _between(default: str, mark: str, one: str, first: str, second: str) -> Iterator[tuple[str, str, str]]:
    """The pieces between the places of a prefix, in all three texts."""
    firsts, seconds = first.split(f"{mark}0"), second.split(f"{mark}1")
    rest = one
    for index, piece in enumerate(firsts):
        last = index == len(firsts) - 1
        cut = rest if last else rest[: _length(rest, piece, default)]
        yield cut, piece, seconds[index]
        rest = rest[len(cut) + len(default) :]


def _length(rest: str, piece: str, default: str) -> int:
    # Pieces hold no numbers from settings in front of an address: their length is the same.
    found = len(piece)
    if rest[found : found + len(default)] != default:
        raise ValueError(f"a prefix is not where it should be: {rest!r}")
    return found


def _equal(value: float, token: str) -> bool:
    return abs(value - float(token)) <= 1e-9 * max(1.0, abs(value))


def _rounded(form: str) -> Callable[[float, str], bool]:
    return lambda value, token: format(value, form) == token


def _short(token: str) -> bool:
    """Whether twelve digits are all of it."""
    return float(f"{float(token):.12g}") == float(token)


def _written(parameter: Parameter, factor: float, offset: float) -> str:
    text = f"c.{parameter.path}"
    if factor == -1:
        text = f"-{text}"
    elif 0 < factor < 1:
        text = f"{text} / {round(1 / factor)}"
    elif factor != 1:
        text = f"{text} * {factor}"
    return f"{offset} + {text}" if offset else text


def quoted(text: str) -> str:
    """A text of Jsonnet."""
    return "'" + json.dumps(text, ensure_ascii=False)[1:-1].replace('\\"', '"').replace("'", "\\'") + "'"


def _shown(path: tuple[str | int, ...]) -> str:
    return "/".join(map(str, path))

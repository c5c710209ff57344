"""Queries with the variables of Grafana filled in, as Grafana does before it asks."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

__all__ = ["Filling", "filled", "rate_interval", "seconds", "step", "variables_of"]

_VARIABLE = re.compile(r"\$\{(\w+)(?::(\w+))?\}|\$(\w+)|\[\[(\w+)\]\]")
_DURATION = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ms|s|m|h|d|w)")
_UNITS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
# Grafana's rounding of a distance in seconds: below the first number of a pair, the second is taken.
_ROUNDED = (
    (0.015, 0.01), (0.035, 0.02), (0.075, 0.05), (0.15, 0.1), (0.35, 0.2), (0.75, 0.5), (1.5, 1), (3.5, 2), (7.5, 5),
    (12.5, 10), (17.5, 15), (25, 20), (45, 30), (90, 60), (210, 120), (450, 300), (750, 600), (1050, 900),
    (1500, 1200), (2700, 1800), (5400, 3600), (9000, 7200), (16_200, 10_800), (32_400, 21_600), (86_400, 43_200),
    (604_800, 86_400), (1_814_400, 604_800), (3_628_800, 2_592_000),
)  # fmt: skip
_YEAR_S = 31_536_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Filling:
    """What stands for the variables.

    Attributes:
        values: by name; several values become ``(a|b)``, with what is special in a regular expression escaped. One
            text goes in as it is, as the value of "All" does.
        range_s: seconds of the time range.
        step_s: seconds between two points.
        scrape_s: the min step of the query, else the scrape interval that the data source names.
    """

    values: Mapping[str, str | Sequence[str]] = field(default_factory=dict)
    range_s: int = 21_600
    step_s: float = 30
    scrape_s: float = 30


def seconds(text: str) -> float:
    """Seconds of a duration as PromQL and Grafana write it, such as ``1m30s``.

    Raises:
        ValueError: something else.
    """
    parts = _DURATION.findall(text)
    if not parts or "".join(count + unit for count, unit in parts) != text:
        raise ValueError(f"{text!r} is not a duration like 30s or 1h30m")
    return sum(float(count) * _UNITS[unit] for count, unit in parts)


def rate_interval(step_s: float, scrape_s: float) -> float:
    """Grafana's ``$__rate_interval`` in seconds: four scrapes, or a point and a scrape where that is more."""
    return max(step_s + scrape_s, 4 * scrape_s)


def step(range_s: float, points: int, min_step_s: float) -> float:
    """Seconds between two points: the range cut into so many points, rounded as Grafana does, and not too small."""
    wanted = range_s / points
    rounded = next((value for limit, value in _ROUNDED if wanted < limit), _YEAR_S)
    # Prometheus refuses more than 11,000 points.
    return max(rounded, min_step_s, math.ceil(range_s / 11_000))


def variables_of(text: str) -> frozenset[str]:
    """Names of the variables that a text asks for, those of Grafana itself set aside."""
    names = (found[1] or found[3] or found[4] for found in _VARIABLE.finditer(text))
    return frozenset(name for name in names if not name.isdigit() and not name.startswith("__"))


def filled(text: str, filling: Filling) -> str:
    """A query text without variables.

    Raises:
        KeyError: a variable that nothing stands for.
        ValueError: a format of a variable that queries do not use.
    """
    own: dict[str, str] = {
        "__rate_interval": _duration(rate_interval(filling.step_s, filling.scrape_s)),
        "__interval": _duration(filling.step_s),
        "__interval_ms": str(round(filling.step_s * 1000)),
        "__range": f"{filling.range_s}s",
        "__range_s": str(filling.range_s),
        "__range_ms": str(filling.range_s * 1000),
    }

    def replaced(found: re.Match[str]) -> str:
        name = found[1] or found[3] or found[4]
        if name in own:
            return own[name]
        if name.isdigit():
            # Not a variable: a group of label_replace.
            return found[0]
        value = filling.values[name]
        return value if isinstance(value, str) else _formatted(value, found[2] or "")

    return _VARIABLE.sub(replaced, text)


def _duration(value_s: float) -> str:
    return f"{round(value_s)}s" if float(value_s).is_integer() else f"{round(value_s * 1000)}ms"


def _formatted(values: Sequence[str], form: str) -> str:
    if form in ("raw", "csv"):
        return ",".join(values)
    if form == "pipe":
        return "|".join(values)
    if form not in ("", "regex"):
        raise ValueError(f"no query uses the format {form!r} of a variable")
    escaped = [_escaped(value, once=form == "regex") for value in values]
    return escaped[0] if len(escaped) == 1 else f"({'|'.join(escaped)})"


def _escaped(value: str, *, once: bool) -> str:
    """Escaped for a regular expression, and again for the quoted string that it stands in."""
    if once:
        return re.sub(r"([\\^$.*+?()\[\]{}|/])", r"\\\1", value)
    return re.sub(r"([$^*{}\[\]'+?.()|])", r"\\\\\1", value.replace("\\", "\\\\\\\\"))

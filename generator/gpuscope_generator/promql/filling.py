"""Queries with the variables of Grafana filled in, as Grafana does before it asks."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

__all__ = ["Filling", "filled", "rate_interval"]

from dataclasses import dataclass, field

_VARIABLE = re.compile(r"\$\{(\w+)(?::(\w+))?\}|\$(\w+)|\[\[(\w+)\]\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Filling:
    """What stands for the variables.

    Attributes:
        values: by name; several values become ``(a|b)``, with what is special in a regular expression escaped. One
            text goes in as it is, as the value of "All" does.
        range_s: seconds of the time range.
        step_s: seconds between two points.
        scrape_s: the scrape interval that the data source, or the panel, names.
    """

    values: Mapping[str, str | Sequence[str]] = field(default_factory=dict)
    range_s: int = 21_600
    step_s: int = 30
    scrape_s: int = 30


def rate_interval(step_s: int, scrape_s: int) -> int:
    """Grafana's ``$__rate_interval`` in seconds: four scrapes, or a point and a scrape where that is more."""
    return max(step_s + scrape_s, 4 * scrape_s)


def filled(text: str, filling: Filling) -> str:
    """A query text without variables.

    Raises:
        KeyError: a variable that nothing stands for.
    """
    own: dict[str, str] = {
        "__rate_interval": f"{rate_interval(filling.step_s, filling.scrape_s)}s",
        "__interval": f"{filling.step_s}s",
        "__interval_ms": str(filling.step_s * 1000),
        "__range": f"{filling.range_s}s",
        "__range_s": str(filling.range_s),
        "__range_ms": str(filling.range_s * 1000),
    }

    def replaced(found: re.Match[str]) -> str:
        name = found[1] or found[3] or found[4]
        if name in own:
            return own[name]
        value = filling.values[name]
        if isinstance(value, str):
            return value
        escaped = [re.sub(r"([\\^$.*+?()\[\]{}|/])", r"\\\\\1", item) for item in value]
        return escaped[0] if len(escaped) == 1 else f"({'|'.join(escaped)})"

    return _VARIABLE.sub(replaced, text)

"""How one field is shown: unit, bounds, thresholds, texts for values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gpuscope_generator.view import palette
from gpuscope_generator.view.unit import Unit

__all__ = ["Thresholds", "ValueText", "field_defaults", "no_value_mapping", "value_mappings"]


@dataclass(frozen=True, slots=True)
class Thresholds:
    """From which value on which color. The number itself comes from the settings, where the alert reads it too.

    Attributes:
        base: color below the first step.
        steps: (value, color), rising.
    """

    base: str = palette.NEUTRAL
    steps: tuple[tuple[float, str], ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The way Grafana writes it."""
        first: dict[str, Any] = {"color": self.base, "value": None}
        return {
            "mode": "absolute",
            "steps": [first, *({"color": color, "value": value} for value, color in self.steps)],
        }


@dataclass(frozen=True, slots=True)
class ValueText:
    """A word, and a color, in place of a number: never color alone."""

    text: str
    color: str = palette.TEXT


def value_mappings(texts: Mapping[str, ValueText]) -> list[dict[str, Any]]:
    """Value mappings as Grafana writes them; keys are values as text, or ``/regular expression/`` for many of them."""
    found: list[dict[str, Any]] = []
    options = {
        value: {"text": shown.text, "color": shown.color, "index": index}
        for index, (value, shown) in enumerate(texts.items())
        if not _is_pattern(value)
    }
    if options:
        found.append({"type": "value", "options": options})
    for index, (value, shown) in enumerate(texts.items()):
        if _is_pattern(value):
            result = {"text": shown.text, "color": shown.color, "index": index}
            found.append({"type": "regex", "options": {"pattern": value[1:-1], "result": result}})
    return found


def no_value_mapping(text: str) -> list[dict[str, Any]]:
    """What stands in place of no value: without it, in the color of the lowest threshold, which may be red."""
    return [{"type": "special", "options": {"match": "null", "result": {"text": text, "color": palette.TEXT}}}]


def _is_pattern(value: str) -> bool:
    return len(value) > 2 and value.startswith("/") and value.endswith("/")


def field_defaults(
    *,
    unit: Unit,
    thresholds: Thresholds | None = None,
    texts: Mapping[str, ValueText] | None = None,
    low: float | None = None,
    high: float | None = None,
    decimals: int | None = None,
    no_value: str = "",
    neutral_without: bool = False,
) -> dict[str, Any]:
    """The part of a field's configuration that all kinds of panels share. What is not given is left out.

    Args:
        unit: of the values.
        thresholds: from which value on which color.
        texts: words in place of values.
        low: lower end of the scale.
        high: upper end of the scale.
        decimals: digits behind the point.
        no_value: what stands there without data.
        neutral_without: for panels that would give it the color of the lowest threshold.
    """
    # Without any, Grafana takes its own: green, and red from 80 on, whatever the value means.
    steps = Thresholds() if thresholds is None else thresholds
    found: dict[str, Any] = {
        "unit": unit.value,
        "mappings": value_mappings(texts or {}),
        "thresholds": steps.as_json(),
    }
    if low is not None:
        found["min"] = low
    if high is not None:
        found["max"] = high
    if decimals is not None:
        found["decimals"] = decimals
    if no_value:
        found["noValue"] = no_value
        if neutral_without:
            found["mappings"] += no_value_mapping(no_value)
    return found

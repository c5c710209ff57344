"""What goes wrong beside the GPUs: targets that do not answer, and series that say something else for a while."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from playing.cluster import Series
from playing.series import labels_of

__all__ = ["Change", "changed"]

_COUNTS = re.compile(r".*(_total|_count|_sum|_bucket)")
_WAYS = ("set", "add", "gain", "down", "gone", "frozen", "reset", "drop")


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """From one minute on, up to another, some series are different.

    Attributes:
        way: ``set`` (to ``value``), ``add`` (``value``), ``gain`` (a counter gains ``value`` times as much), ``drop``
            (the series is not there), ``frozen`` (it keeps its value), ``reset`` (counters begin anew at 0);
            of whole targets: ``down`` (it does not answer), ``gone`` (nobody asks it any more).
        series: regular expression for their names; all by default.
        where: regular expressions for labels.
        begin: first minute.
        end: first minute in which all is well again.
        value: see above.
    """

    way: str
    series: str = ".*"
    where: Mapping[str, str] = field(default_factory=dict)
    begin: int = 0
    end: int = 1 << 30
    value: float = 0.0

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> Change:
        """The change that an entry of a YAML file describes."""
        way = next((way for way in _WAYS if way in entry), None)
        if way is None:
            raise ValueError(f"none of {', '.join(_WAYS)}: {dict(entry)}")
        unknown = set(entry) - {way, "series", "where", "from", "to"}
        if unknown:
            raise ValueError(f"unknown {', '.join(sorted(unknown))}: {dict(entry)}")
        value = entry[way]
        return cls(
            way=way, series=entry.get("series", ".*"), where=entry.get("where", {}), begin=entry.get("from", 0),
            end=entry.get("to", 1 << 30), value=0.0 if value is True or value is None else float(value),
        )  # fmt: skip

    def meets(self, series: str) -> bool:
        """Whether a series is meant."""
        name, _, inner = series.partition("{")
        if not re.fullmatch(self.series, name):
            return False
        labels = labels_of(inner)
        return all(re.fullmatch(wanted, labels.get(label, "")) for label, wanted in self.where.items())


def changed(series: Series, changes: Sequence[Change]) -> Series:
    """The series after all changes, one after the other.

    Raises:
        ValueError: a change that meets nothing, and so is a mistake.
    """
    found = {key: list(values) for key, values in series.items()}
    for change in changes:
        met = [key for key in found if change.meets(key)]
        if not met:
            raise ValueError(f"no series is met by {change}")
        for key in met:
            found[key] = _after(found[key], key.partition("{")[0], change)
    return found


def _after(values: list[float | None], name: str, change: Change) -> list[float | None]:
    before, during, after = values[: change.begin], values[change.begin : change.end], values[change.end :]
    way = change.way
    up = name == "up"
    if way == "set":
        during = [change.value] * len(during)
    elif way == "add":
        during = [None if one is None else one + change.value for one in during]
    elif way == "drop" or way == "gone" or (way == "down" and not up):
        during = [None] * len(during)
    elif way == "down":
        during = [0.0] * len(during)
    elif way == "frozen" and not up and before:
        during = [before[-1]] * len(during)
    elif way == "reset" and _COUNTS.fullmatch(name):
        during = [None if one is None else one - (during[0] or 0.0) for one in during]
    elif way == "gain":
        during, after = _gained(before, during, after, change.value)
    return [*before, *during, *after]


def _gained(
    before: list[float | None], during: list[float | None], after: list[float | None], times: float
) -> tuple[list[float | None], list[float | None]]:
    """A counter that gains so many times as much while it lasts, and goes on from there."""
    first = next((one for one in reversed(before) if one is not None), 0.0)
    new = [None if one is None else first + (one - first) * times for one in during]
    pairs = [(old, fresh) for old, fresh in zip(during, new, strict=True) if old is not None and fresh is not None]
    shift = pairs[-1][1] - pairs[-1][0] if pairs else 0.0
    return new, [None if one is None else one + shift for one in after]

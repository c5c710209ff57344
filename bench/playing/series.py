"""Series as a Prometheus would have them, scrape by scrape, and the notation of promtool's unit tests for them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

__all__ = ["ABSENT", "Recorder", "head", "labels_of", "notation", "quoted"]

ABSENT = None
Values = list[float | None]
_LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"')


def labels_of(text: str) -> dict[str, str]:
    """The labels of a series as they stand in a text, escapes as they are."""
    return dict(_LABEL.findall(text))


def quoted(text: str) -> str:
    """A label's value with the escapes that it needs."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def head(name: str, labels: Mapping[str, str]) -> str:
    """Name and labels, in one order."""
    inner = ",".join(f'{key}="{labels[key]}"' for key in sorted(labels) if labels[key])
    return f"{name}{{{inner}}}"


class Recorder:
    """What one target says, with the labels that Prometheus puts to it.

    Args:
        labels: of the target; they win over those of the exposition, which get ``exported_`` in front.
        keep: names of the series that are wanted; ``None``: all.
        honor_labels: the labels of the exposition win.
    """

    def __init__(
        self, labels: Mapping[str, str], keep: frozenset[str] | None = None, *, honor_labels: bool = False
    ) -> None:  # fmt: skip
        self.series: dict[str, Values] = {}
        self._labels = {key: quoted(value) for key, value in labels.items()}
        self._keep = keep
        self._honor = honor_labels
        self._heads: dict[str, str | None] = {}
        self._length = 0

    def take(self, exposition: str | None) -> None:
        """One scrape; ``None``: the target did not answer."""
        self._put(head("up", self._labels), float(exposition is not None))
        for line in (exposition or "").splitlines():
            if not line or line[0] == "#":
                continue
            series, _, value = line.rpartition(" ")
            if series not in self._heads:
                self._heads[series] = self._head(series)
            known = self._heads[series]
            if known is not None:
                self._put(known, float(value))
        self._length += 1
        for values in self.series.values():
            if len(values) < self._length:
                values.append(ABSENT)

    def _put(self, series: str, value: float) -> None:
        values = self.series.get(series)
        if values is None:
            values = self.series[series] = [ABSENT] * self._length
        values.append(value)

    def _head(self, series: str) -> str | None:
        name, _, inner = series.partition("{")
        if self._keep is not None and name not in self._keep:
            return None
        own = labels_of(inner)
        if self._honor:
            return head(name, self._labels | own)
        return head(name, {f"exported_{key}" if key in self._labels else key: own[key] for key in own} | self._labels)


def notation(values: Iterable[float | None]) -> str:
    """Values in promtool's notation; a series that is absent after it was there gets a staleness marker first."""
    return " ".join(_parts(list(values)))


def _parts(values: Values) -> Iterator[str]:
    place = 0
    while place < len(values):
        value = values[place]
        end = place + 1
        if value is None:
            while end < len(values) and values[end] is None:
                end += 1
            count = end - place
            if place:
                yield "stale"
                count -= 1
            if count:
                yield f"_x{count}"
        else:
            step = _step(values, place)
            while end < len(values) and _step(values, end - 1) == step and step is not None:
                end += 1
            if end - place > 2 and step is not None:
                sign = "-" if step < 0 else "+"
                yield f"{_number(value)}{sign}{_number(abs(step))}x{end - place - 1}"
            else:
                end = place + 1
                yield _number(value)
        place = end


def _step(values: Values, place: int) -> float | None:
    """What is added for the next value, where that gives exactly what promtool adds up to."""
    value, after = values[place], values[place + 1] if place + 1 < len(values) else None
    if value is None or after is None or value != int(value) or after != int(after) or abs(after) > 1 << 53:
        return 0.0 if value is not None and value == after else None
    return after - value


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) and abs(value) < 1 << 53 else repr(value)

"""What is chosen at the top of a board: when it opens, and when a reader picks the first value of everything."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gpuscope_generator.live.prometheus import Answer, Prometheus
from gpuscope_generator.promql.filling import Filling, filled

__all__ = ["Chosen", "VariableResult", "choose"]

_LABEL_VALUES = re.compile(r"label_values\((?P<selector>.+),\s*(?P<label>\w+)\)", re.DOTALL)
_EVERYTHING = "$__all"

Values = Mapping[str, str | Sequence[str]]


@dataclass(frozen=True, slots=True)
class VariableResult:
    """What the query of a variable gave."""

    name: str
    query: str
    answer: Answer


@dataclass(frozen=True, slots=True)
class Chosen:
    """Values of all variables of a board.

    Attributes:
        opening: as the board opens.
        picked: the first value of each, where the later ones depend on the earlier ones.
        variables: what the queries gave, in the opening state.
    """

    opening: Values
    picked: Values
    variables: tuple[VariableResult, ...]


def choose(board: Mapping[str, Any], prometheus: Prometheus, start: float, end: float) -> Chosen:
    """Runs the queries of the variables from left to right, as Grafana does when a board opens.

    Args:
        board: the JSON of a board.
        prometheus: who is asked.
        start: of the time range, in seconds since 1970.
        end: of it.

    Raises:
        Unusable: Prometheus cannot be asked.
    """
    opening: dict[str, str | Sequence[str]] = {}
    picked: dict[str, str | Sequence[str]] = {}
    found = []
    for variable in board["templating"]["list"]:
        name = variable["name"]
        if variable["type"] == "datasource":
            opening[name] = picked[name] = "prometheus"
        elif variable["type"] == "custom":
            current = variable["current"]["value"]
            value = [current] if isinstance(current, str) else current
            opening[name] = picked[name] = value
        else:
            values, result = _values(variable, opening, prometheus, start, end)
            found.append(result)
            narrowed, _ = _values(variable, picked, prometheus, start, end)
            opening[name] = _opening(variable, values)
            picked[name] = narrowed[:1] or _opening(variable, values)
    return Chosen(opening, picked, tuple(found))


def _values(
    variable: Mapping[str, Any],
    chosen: Values,
    prometheus: Prometheus,
    start: float,
    end: float,
) -> tuple[list[str], VariableResult]:
    text = filled(variable["query"]["query"], Filling(values=chosen, range_s=round(end - start)))
    asked = _LABEL_VALUES.fullmatch(text)
    if asked is None:
        return [], VariableResult(
            variable["name"], text, Answer(error="not a query such as label_values(series, label)")
        )
    values, answer = prometheus.label_values(asked["label"], asked["selector"], start, end)
    return values, VariableResult(variable["name"], text, answer)


def _opening(variable: Mapping[str, Any], values: Sequence[str]) -> str | Sequence[str]:
    current = variable.get("current", {}).get("value", "")
    is_all = _EVERYTHING in (current if isinstance(current, list) else [current])
    if not is_all:
        # Without any value Grafana puts nothing in.
        return values[:1] or [""]
    return variable.get("allValue") or values or [""]

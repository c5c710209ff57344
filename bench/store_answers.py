"""Whether two stores answer the same queries alike."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import requests

__all__ = ["Comparison", "broken_rules", "compare", "rule_queries"]

_TIMEOUT_S = 120.0
Labels = tuple[tuple[str, str], ...]


@dataclass(slots=True)
class Comparison:
    """How the answers of a store differ from those of another.

    Attributes:
        queries: how many were asked.
        alike: so many have the same series with the same values.
        missing: queries that have no answer in it, while they have one in the other, with the reason if there is any.
        series: (query, series here, series there) of those whose series differ.
        values: (query, labels, value here, value there) of the series that differ most, one a query.
    """

    queries: int = 0
    alike: int = 0
    missing: list[str] = field(default_factory=list)
    series: list[tuple[str, int, int]] = field(default_factory=list)
    values: list[tuple[str, Labels, float, float]] = field(default_factory=list)


def compare(first: str, second: str, queries: Sequence[str], at: float, tolerance: float) -> Comparison:
    """Asks both for the values at one moment.

    Args:
        first: address of a store.
        second: address of the store to judge.
        queries: what to ask.
        at: seconds since 1970.
        tolerance: share by which values may differ.
    """
    found = Comparison()
    with requests.Session() as session, ThreadPoolExecutor(8) as pool:
        session.trust_env = False
        here = pool.map(lambda query: _asked(session, first, query, at), queries)
        there = pool.map(lambda query: _asked(session, second, query, at), queries)
        for query, one, other in zip(queries, here, there, strict=True):
            found.queries += 1
            if isinstance(one, str) or isinstance(other, str):
                found.missing.append(f"{query}: {one if isinstance(one, str) else other}")
            elif one and not other:
                found.missing.append(query)
            elif one.keys() != other.keys():
                found.series.append((query, len(one), len(other)))
            elif worst := _worst(one, other, tolerance):
                found.values.append((query, *worst))
            else:
                found.alike += 1
    return found


def broken_rules(url: str) -> list[str]:
    """Rules of a Prometheus that cannot be evaluated, with its reason."""
    groups = requests.get(f"{url}/api/v1/rules", timeout=_TIMEOUT_S).json()["data"]["groups"]
    rules = [rule for group in groups for rule in group["rules"]]
    return [f"{rule['name']}: {rule.get('lastError', '')}" for rule in rules if rule["health"] == "err"]


def rule_queries(url: str) -> list[str]:
    """Expressions of all rules of a Prometheus, each once."""
    groups = requests.get(f"{url}/api/v1/rules", timeout=_TIMEOUT_S).json()["data"]["groups"]
    return list(dict.fromkeys(rule["query"] for group in groups for rule in group["rules"]))


def _asked(session: requests.Session, url: str, query: str, at: float) -> Mapping[Labels, float] | str:
    """Values by labels, or what the store says in place of them."""
    form = {"query": query, "time": f"{at:.3f}"}
    answer: Any = session.post(f"{url}/api/v1/query", data=form, timeout=_TIMEOUT_S).json()
    if answer["status"] != "success":
        return str(answer.get("error"))
    if answer["data"]["resultType"] != "vector":
        return {}
    found = {}
    for series in answer["data"]["result"]:
        value = float(series["value"][1])
        if not math.isnan(value):
            labels = {key: text for key, text in series["metric"].items() if key != "__name__"}
            found[tuple(sorted(labels.items()))] = value
    return found


def _worst(
    one: Mapping[Labels, float], other: Mapping[Labels, float], tolerance: float
) -> tuple[Labels, float, float] | None:
    worst, most = None, tolerance
    for labels, value in one.items():
        size = max(abs(value), abs(other[labels]))
        apart = abs(value - other[labels]) / size if size and math.isfinite(size) else 0.0
        if apart > most:
            worst, most = (labels, value, other[labels]), apart
    return worst

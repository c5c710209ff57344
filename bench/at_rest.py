"""What rules cost of a store at rest: each is asked alone, in order, of a snapshot of all that was scraped and recorded.

Nothing is scraped meanwhile and no memory is collected for others, so that a few cores can tell what the rules of a cluster
cost that they could not follow live. What is not in the figures is the writing of what was recorded.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import requests

from gpuscope_generator.rules.alert import Alert
from gpuscope_generator.rules.files import rule_files
from gpuscope_generator.rules.model import Recording
from gpuscope_generator.settings import Settings

__all__ = ["Asked", "ask_alone", "report", "snapshot"]

_TRIES = 3
"""The quickest of them counts: the first one fetches from disk."""
_LIMIT_S = 600


@dataclass(frozen=True)
class Asked:
    """One rule.

    Attributes:
        group: its group.
        interval_s: between two evaluations.
        name: of the series or alert.
        took_s: the quickest answer.
        series: how many it gave.
        samples: how many it read.
    """

    group: str
    interval_s: float
    name: str
    took_s: float
    series: int
    samples: int


def snapshot(url: str, data: Path) -> Path:
    """Everything that a running Prometheus has in its folder of data, as blocks on disk."""
    answer = requests.post(f"{url}/api/v1/admin/tsdb/snapshot", timeout=_LIMIT_S * 3)
    answer.raise_for_status()
    return data / "snapshots" / answer.json()["data"]["name"]


def ask_alone(url: str, at: float) -> list[Asked]:
    """Asks every rule of the generated files for what it gave at one moment.

    Args:
        url: of a Prometheus that has nothing else to do.
        at: seconds since 1970.
    """
    with requests.Session() as session:
        return [
            _ask(session, url, rule.expression.text, at, (group.name, group.interval_s, _name(rule)))
            for file in rule_files(Settings())
            for group in file.groups
            for rule in group.rules
        ]


def _name(rule: Recording | Alert) -> str:
    return rule.name if isinstance(rule, Alert) else rule.series.name


def _ask(session: requests.Session, url: str, text: str, at: float, rule: tuple[str, float, str]) -> Asked:
    took = float("inf")
    for _ in range(_TRIES):
        began = time.monotonic()
        told = {"query": f"count({text})", "time": str(at), "stats": "all"}
        answer = session.post(f"{url}/api/v1/query", data=told, timeout=_LIMIT_S).json()
        took = min(took, time.monotonic() - began)
        if answer["status"] != "success":
            raise SystemExit(f"{rule[2]}: {answer['error']}")
    data = answer["data"]
    series = int(float(data["result"][0]["value"][1])) if data["result"] else 0
    return Asked(*rule, took, series, data["stats"]["samples"]["totalQueryableSamples"])


def report(found: list[Asked], share: float, slowest: int) -> int:
    """Prints the groups, the slowest first, with their slowest rules; how many take more than a share of their interval."""
    groups: dict[str, list[Asked]] = {}
    for one in found:
        groups.setdefault(one.group, []).append(one)
    took: Mapping[str, float] = {name: sum(one.took_s for one in rules) for name, rules in groups.items()}
    cores = sum(took[name] / rules[0].interval_s for name, rules in groups.items())
    recorded = sum(one.series for one in found if ":" in one.name)
    print(f"{recorded:,} recorded series; all rules keep {cores:.2f} cores busy")
    print(f"{'group':42} {'interval':>8} {'takes':>9} {'share':>7} {'series':>9}")
    over = 0
    for name, rules in sorted(groups.items(), key=lambda item: -took[item[0]] / item[1][0].interval_s):
        part = took[name] / rules[0].interval_s
        over += part > share
        total = sum(one.series for one in rules)
        flag = "  OVER" if part > share else ""
        print(f"{name:42} {rules[0].interval_s:6.0f} s {took[name]:7.2f} s {part:7.3f} {total:9,}{flag}")
        for one in sorted(rules, key=lambda one: -one.took_s)[:slowest]:
            if one.took_s > took[name] / 10 and part > share / 20:
                print(f"    {one.took_s:7.3f} s  {one.name}: {one.samples:,} samples, {one.series:,} series")
    return over

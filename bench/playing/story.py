"""Stories of a small cluster as data: what happens on which node, and which alerts must come of it and no others."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from playing.changes import Change, changed
from playing.cluster import CLUSTER, Fleet, Series, played
from playing.timeline import Firing, names_read, timeline

__all__ = ["Expected", "Story", "missed", "play", "stories"]

_KEYS = {
    "title",
    "minutes",
    "nodes",
    "without",
    "agents",
    "profiles",
    "sources",
    "changes",
    "also",
    "alerts",
    "allowed",
}
_WHEN = {"from", "to"}
_SLACK = 1
_TOGETHER = 20
"""Of more clusters at once promtool refuses a query: too many samples."""


@dataclass(frozen=True, slots=True)
class Expected:
    """An alert that has to fire.

    Attributes:
        name: of the alert.
        labels: those that matter.
        begin: first and last minute in which it may begin.
        end: likewise for the first minute in which it is over; ``None``: it lasts to the end of the story.
    """

    name: str
    labels: Mapping[str, str]
    begin: tuple[int, int]
    end: tuple[int, int] | None

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> Expected:
        """The alert that an entry of a YAML file describes."""
        labels = {key: str(value) for key, value in entry.items() if key not in _WHEN | {"alert"}}
        end = entry.get("to")
        return cls(entry["alert"], labels, _span(entry["from"]), None if end is None else _span(end))

    def meets(self, firing: Firing) -> bool:
        """Whether an alert is this one, at whatever time."""
        return firing.name == self.name and all(
            firing.labels.get(label, "") == value for label, value in self.labels.items()
        )

    def in_time(self, firing: Firing) -> bool:
        """Whether it began and ended when it should."""
        if not self.begin[0] <= firing.begin <= self.begin[1] or (firing.end is None) != (self.end is None):
            return False
        return self.end is None or firing.end is None or self.end[0] <= firing.end <= self.end[1]


@dataclass(frozen=True, slots=True)
class Story:
    """One of them.

    Attributes:
        name: of the story.
        title: one line about it.
        fleet: the cluster, with what happens to its nodes.
        changes: what happens to targets and to what others say.
        also: further series, in promtool's notation, one value a minute.
        alerts: those that must fire.
        allowed: names of alerts that may fire, beside those of severity info.
    """

    name: str
    title: str
    fleet: Fleet
    changes: Sequence[Change] = ()
    also: Mapping[str, str] = field(default_factory=dict)
    alerts: Sequence[Expected] = ()
    allowed: Sequence[str] = ()


def stories(file: Path) -> dict[str, Story]:
    """The stories of a file by name; the cluster of all of them is in ``cluster.yaml`` beside it.

    Raises:
        ValueError: a key that is not known; names the story.
    """
    usual = yaml.safe_load(file.with_name("cluster.yaml").read_text(encoding="utf-8"))
    document = yaml.safe_load(file.read_text(encoding="utf-8"))
    usual |= {"minutes": document["minutes"], "step": document.get("step", 60)}
    return {name: _story(name, usual, value) for name, value in document["stories"].items()}


def play(
    told: Sequence[Story], *, promtool: str | Path = "promtool", cache: Path | None = None, everything: bool = False
) -> dict[str, list[Firing]]:
    """All alerts that fire in each story, but for the dead-man's switch.

    Each story is a cluster of its own under one Prometheus: so the rules are evaluated once for all of them, which takes
    a fraction of the time, and no cluster may have a part in the alerts of another.

    Args:
        told: the stories.
        promtool: program.
        cache: folder for what agents said.
        everything: also rules whose source is not there.

    Returns:
        Alerts by story; those that name no cluster under an empty name.
    """
    if len(told) > _TOGETHER:
        found = play(told[:_TOGETHER], promtool=promtool, cache=cache, everything=everything)
        for name, firing in play(told[_TOGETHER:], promtool=promtool, cache=cache, everything=everything).items():
            found.setdefault(name, []).extend(firing)
        return found
    series: Series = {}
    also: dict[str, str] = {}
    for story in told:
        whole = changed(played(story.fleet, names_read(), cache), story.changes)
        series |= {_renamed(key, story.name): values for key, values in whole.items()}
        also |= {_renamed(key, story.name): values for key, values in story.also.items()}
    scrapes, step_s = max((story.fleet.scrapes, story.fleet.step_s) for story in told)
    with tempfile.TemporaryDirectory(prefix="gpuscope-rules-") as folder:
        firing = timeline(
            series, scrapes, Path(folder), promtool=promtool, step_s=step_s, also=also, everything=everything
        )  # fmt: skip
    found = {story.name: [] for story in told}
    for one in firing:
        found.setdefault(one.labels.get("cluster", ""), []).append(one)
    return found


def _renamed(series: str, cluster: str) -> str:
    return series.replace(f'cluster="{CLUSTER}"', f'cluster="{cluster}"')


def missed(story: Story, found: Sequence[Firing]) -> list[str]:
    """What is wrong with the alerts of a story, a line each; nothing when all is well."""
    left = list(found)
    wrong: list[str] = []
    for expected in story.alerts:
        met = next((one for one in left if expected.meets(one) and expected.in_time(one)), None)
        met = met or next((one for one in left if expected.meets(one)), None)
        if met is None:
            wrong.append(f"does not fire: {expected}")
            continue
        left.remove(met)
        if not expected.in_time(met):
            wrong.append(f"fires from {met.begin} to {met.end}, not when expected: {expected}")
    wrong += [
        f"fires, and nobody expects it: {one}"
        for one in left
        if one.severity != "info" and not any(re.fullmatch(name, one.name) for name in story.allowed)
    ]
    return wrong


def _story(name: str, usual: Mapping[str, Any], value: Mapping[str, Any]) -> Story:
    unknown = set(value) - _KEYS
    if unknown:
        raise ValueError(f"{name}: unknown {', '.join(sorted(unknown))}")
    nodes = {key: dict(node) for key, node in usual["nodes"].items() if key not in value.get("without", ())}
    for node, own in (value.get("nodes") or {}).items():
        nodes[node] = nodes.get(node, {}) | own
    nodes = {key: {"title": f"node {key}", **usual["node"], **node} for key, node in nodes.items()}
    fleet = Fleet(
        nodes=nodes, agents=value.get("agents", list(nodes)), minutes=value.get("minutes", usual["minutes"]),
        profiles=value.get("profiles", usual["profiles"]), sources=value.get("sources", usual["sources"]), step_s=usual["step"],
    )  # fmt: skip
    return Story(
        name, value["title"], fleet, [Change.of(one) for one in (*usual["changes"], *value.get("changes", ()))], value.get("also", {}),
        [Expected.of(one) for one in value.get("alerts", ())], value.get("allowed", ()),
    )  # fmt: skip


def _span(value: int | Sequence[int]) -> tuple[int, int]:
    if isinstance(value, int):
        return value - _SLACK, value + _SLACK
    first, last = value
    return first, last

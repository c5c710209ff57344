"""Every query of every panel, asked as Grafana asks when the board opens."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from gpuscope_generator.grafana import board_json
from gpuscope_generator.live.choice import Values, VariableResult, choose
from gpuscope_generator.live.prometheus import Answer, Prometheus
from gpuscope_generator.promql.filling import Filling, filled, seconds, step
from gpuscope_generator.settings import Settings
from gpuscope_generator.view import Board, Panel, panel_id

__all__ = ["BoardResult", "PanelResult", "QueryResult", "Status", "TimeRange", "check_board", "panels_of"]

_PIXELS = 60
"""Width of one of the 24 columns on an ordinary screen: Grafana asks for a point a pixel."""


class Status(StrEnum):
    """What a panel is worth, the worst first."""

    ERROR = "error"
    NAN = "NaN only"
    EMPTY = "empty"
    SLOW = "slow"
    OK = "ok"
    NO_QUERY = "no query"


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeRange:
    """What the boards look at.

    Attributes:
        start: seconds since 1970.
        end: of it.
        step_s: seconds between two points; ``None`` takes what Grafana would.
        scrape_s: the scrape interval that Grafana's data source names.
        slow_s: a query that takes longer is slow.
    """

    start: float
    end: float
    step_s: float | None = None
    scrape_s: float = 15.0
    slow_s: float = 1.0


@dataclass(frozen=True, slots=True)
class QueryResult:
    """One query, as it was asked last."""

    query: str
    instant: bool
    answer: Answer


@dataclass(frozen=True, slots=True)
class PanelResult:
    """What a panel, or an annotation, would show.

    Attributes:
        key: of the panel on its board.
        title: as a reader sees it.
        status: the worst of what is wrong.
        queries: one result each.
        picked: it needed a choice at the top of the board: as the board opens it is empty.
        reason: why it may be empty; empty when it may not.
    """

    key: str
    title: str
    status: Status
    queries: tuple[QueryResult, ...] = ()
    picked: bool = False
    reason: str = ""

    @property
    def is_finding(self) -> bool:
        """Whether somebody must look at it."""
        return self.status not in (Status.OK, Status.NO_QUERY) and not (self.status is Status.EMPTY and self.reason)


@dataclass(frozen=True, slots=True)
class BoardResult:
    """One board."""

    noun: str
    title: str
    variables: tuple[PanelResult, ...]
    panels: tuple[PanelResult, ...]
    annotations: tuple[PanelResult, ...]
    counts: Mapping[Status, int] = field(default_factory=dict)

    @property
    def results(self) -> Iterator[PanelResult]:
        """All of it."""
        yield from self.variables
        yield from self.panels
        yield from self.annotations


def panels_of(board: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The panels in the JSON of a board, those in closed rows too, without the rows."""
    for panel in board["panels"]:
        if panel["type"] == "row":
            yield from panel["panels"]
        else:
            yield panel


def check_board(
    board: Board, settings: Settings, prometheus: Prometheus, when: TimeRange, allowed: Mapping[str, str]
) -> BoardResult:
    """Asks everything that a board asks.

    Args:
        board: which one.
        settings: that it is built with.
        prometheus: who is asked.
        when: the time range.
        allowed: what may be empty, and why, by ``board/panel`` and ``board/variable:NAME``.

    Raises:
        Unusable: Prometheus cannot be asked.
    """
    built = board_json(board, settings)
    chosen = choose(built, prometheus, when.start, when.end)
    keys = {panel_id(panel.key): panel for panel in board.panels}
    noun = board.noun.value
    panels = tuple(
        _panel(keys[found["id"]], found, (chosen.opening, chosen.picked), prometheus, when, noun, allowed)
        for found in panels_of(built)
    )
    variables = tuple(_variable(result, noun, when, allowed) for result in chosen.variables)
    annotations = tuple(
        _annotation(found, chosen.opening, prometheus, when)
        for found in built["annotations"]["list"]
        if found.get("expr")
    )
    counts = {status: sum(panel.status is status for panel in panels) for status in Status}
    return BoardResult(noun, board.title, variables, panels, annotations, counts)


def _variable(result: VariableResult, noun: str, when: TimeRange, allowed: Mapping[str, str]) -> PanelResult:
    key = f"variable:{result.name}"
    asked = (QueryResult(result.query, instant=True, answer=result.answer),)
    return PanelResult(key, key, _status(asked, when), asked, reason=allowed.get(f"{noun}/{key}", ""))


def _annotation(found: Mapping[str, Any], values: Values, prometheus: Prometheus, when: TimeRange) -> PanelResult:
    step_s = step(when.end - when.start, 24 * _PIXELS, seconds(found.get("step") or "60s"))
    query = filled(found["expr"], _filling(values, when, step_s, when.scrape_s))
    asked = (QueryResult(query, instant=False, answer=_over_time(prometheus, query, when, step_s)),)
    status = _status(asked, when)
    # Nothing happened: that is no gap.
    status = Status.OK if status is Status.EMPTY else status
    return PanelResult(f"annotation:{found['name']}", found["name"], status, asked)


def _panel(
    panel: Panel,
    found: Mapping[str, Any],
    states: Sequence[Values],
    prometheus: Prometheus,
    when: TimeRange,
    noun: str,
    allowed: Mapping[str, str],
) -> PanelResult:
    reason = allowed.get(f"{noun}/{panel.key}", "")
    if not found.get("targets"):
        return PanelResult(panel.key, panel.title, Status.NO_QUERY, reason=reason)
    tried = [_asked(found, values, prometheus, when) for values in states]
    statuses = [_status(asked, when) for asked in tried]
    best = 0
    if Status.ERROR in statuses:
        best = statuses.index(Status.ERROR)
    elif statuses[0] in (Status.EMPTY, Status.NAN) and statuses[1] not in (Status.EMPTY, Status.NAN):
        best = 1
    return PanelResult(panel.key, panel.title, statuses[best], tried[best], picked=best == 1, reason=reason)


def _asked(
    found: Mapping[str, Any], values: Values, prometheus: Prometheus, when: TimeRange
) -> tuple[QueryResult, ...]:
    width = found["gridPos"]["w"] * _PIXELS
    results = []
    for target in found["targets"]:
        least = target.get("interval") or found.get("interval") or ""
        step_s = when.step_s or step(when.end - when.start, width, seconds(least) if least else when.scrape_s)
        scrape_s = seconds(target["interval"]) if target.get("interval") else when.scrape_s
        query = filled(target["expr"], _filling(values, when, step_s, scrape_s))
        if target["instant"]:
            answer = prometheus.instant(query, when.end)
        else:
            answer = _over_time(prometheus, query, when, step_s)
        results.append(QueryResult(query, target["instant"], answer))
    return tuple(results)


def _filling(values: Values, when: TimeRange, step_s: float, scrape_s: float) -> Filling:
    return Filling(values=values, range_s=round(when.end - when.start), step_s=step_s, scrape_s=scrape_s)


def _over_time(prometheus: Prometheus, query: str, when: TimeRange, step_s: float) -> Answer:
    # Grafana moves the range onto multiples of the step, so that points stay where they are at a refresh.
    start = math.floor(when.start / step_s) * step_s
    end = math.floor(when.end / step_s) * step_s
    return prometheus.over_time(query, start, end, step_s)


def _status(asked: Sequence[QueryResult], when: TimeRange) -> Status:
    answers = [result.answer for result in asked]
    if any(answer.error for answer in answers):
        return Status.ERROR
    if not any(answer.series for answer in answers):
        return Status.EMPTY
    if not any(answer.finite for answer in answers):
        return Status.NAN
    if any(answer.seconds > when.slow_s for answer in answers):
        return Status.SLOW
    return Status.OK

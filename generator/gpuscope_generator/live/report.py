"""What was found, for people and for programs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from gpuscope_generator.live.panels import BoardResult, PanelResult, QueryResult, Status, TimeRange

__all__ = ["json_report", "text_report"]


def text_report(results: Sequence[BoardResult]) -> Iterator[str]:
    """Lines: one a panel, what is wrong below it, and a summary of each board and of all."""
    for board in results:
        yield f"{board.noun}: {board.title}"
        for result in board.results:
            yield from _lines(result)
        yield f"  {_summary(board)}"
        yield ""
    findings = sum(result.is_finding for board in results for result in board.results)
    panels = sum(len(board.panels) for board in results)
    yield f"{len(results)} boards, {panels} panels: {_counted(findings, 'finding')}"


def _lines(result: PanelResult) -> Iterator[str]:
    yield f"  {result.key:<36} {result.status:<9} {_detail(result)}".rstrip()
    if not result.is_finding:
        return
    for asked in result.queries:
        if asked.answer.error:
            yield f"    {asked.answer.error}"
        if asked.answer.error or result.status is not Status.SLOW:
            yield f"    {asked.query}"


def _detail(result: PanelResult) -> str:
    if result.status is Status.NO_QUERY:
        return ""
    answers = [asked.answer for asked in result.queries]
    parts = [f"{sum(answer.series for answer in answers)} series", f"{sum(answer.seconds for answer in answers):.3f} s"]
    filled = sum(answer.series > 0 for answer in answers)
    if 0 < filled < len(answers):
        parts.append(f"{filled} of {len(answers)} queries have data")
    hollow = sum(answer.series - answer.finite for answer in answers)
    if hollow and result.status is not Status.NAN:
        parts.append(f"{hollow} series without a number")
    if result.picked:
        parts.append("once the first value of each variable is chosen")
    if result.reason:
        parts.append(f"may be empty: {result.reason}")
    return ", ".join(parts)


def _summary(board: BoardResult) -> str:
    counts = ", ".join(f"{count} {status}" for status, count in board.counts.items() if count)
    wrong = sum(result.is_finding for result in (*board.variables, *board.annotations))
    beside = f"; {_counted(wrong, 'finding')} in variables and annotations" if wrong else ""
    return f"{_counted(len(board.panels), 'panel')}: {counts}{beside}"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def json_report(results: Sequence[BoardResult], url: str, when: TimeRange) -> str:
    """The same as one JSON document."""
    document = {
        "prometheus": url,
        "start": when.start,
        "end": when.end,
        "findings": sum(result.is_finding for board in results for result in board.results),
        "boards": [
            {
                "board": board.noun,
                "title": board.title,
                "counts": {str(status): count for status, count in board.counts.items()},
                "variables": [_result(result) for result in board.variables],
                "panels": [_result(result) for result in board.panels],
                "annotations": [_result(result) for result in board.annotations],
            }
            for board in results
        ],
    }
    return json.dumps(document, indent=1, ensure_ascii=False)


def _result(result: PanelResult) -> dict[str, Any]:
    return {
        "key": result.key,
        "title": result.title,
        "status": str(result.status),
        "finding": result.is_finding,
        "picked": result.picked,
        "allowed": result.reason,
        "queries": [_query(asked) for asked in result.queries],
    }


def _query(asked: QueryResult) -> dict[str, Any]:
    answer = asked.answer
    return {
        "query": asked.query,
        "instant": asked.instant,
        "series": answer.series,
        "finite": answer.finite,
        "seconds": round(answer.seconds, 4),
        "error": answer.error,
    }

"""The query API of Prometheus and of what speaks like it."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gpuscope_generator.remote import Access, Server, Unusable

__all__ = ["Answer", "Prometheus"]

_UNKNOWN_SHAPE = "an answer of unknown shape"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a query gave.

    Attributes:
        series: how many.
        finite: how many of them have a value that is a number.
        seconds: until the answer was there.
        error: what Prometheus said in place of an answer; empty when there is one.
    """

    series: int = 0
    finite: int = 0
    seconds: float = 0.0
    error: str = ""


class Prometheus:
    """Asks one server; equal questions are asked once.

    Args:
        url: such as ``http://127.0.0.1:9090`` or ``https://mimir/prometheus``.
        access: how to get in.
    """

    def __init__(self, url: str, access: Access) -> None:
        self._server = Server("Prometheus", url, access)
        self._known: dict[tuple[str, ...], Answer] = {}

    @property
    def url(self) -> str:
        """Where it lives."""
        return self._server.url

    def greet(self) -> None:
        """Asks something that needs no data.

        Raises:
            Unusable: there is no Prometheus, or it does not let us in.
        """
        answer = self.instant("vector(1)", time.time())
        if answer.error or answer.series != 1:
            raise Unusable(f"Prometheus at {self.url}: {answer.error or 'no answer to vector(1)'}")

    def instant(self, query: str, at: float) -> Answer:
        """A query at one time, in seconds since 1970."""
        return self._asked("/api/v1/query", {"query": query, "time": f"{at:.3f}"})

    def over_time(self, query: str, start: float, end: float, step_s: float) -> Answer:
        """A query over a time range, with a point every so many seconds."""
        times = {"start": f"{start:.3f}", "end": f"{end:.3f}", "step": f"{step_s:g}"}
        return self._asked("/api/v1/query_range", {"query": query, **times})

    def label_values(self, label: str, selector: str, start: float, end: float) -> tuple[list[str], Answer]:
        """The values of a label of the series that match, sorted."""
        times = {"start": f"{start:.3f}", "end": f"{end:.3f}"}
        began = time.monotonic()
        status, found = self._server.ask("GET", f"/api/v1/label/{label}/values", params={"match[]": selector, **times})
        took = time.monotonic() - began
        error = _error(status, found)
        if error:
            return [], Answer(error=error, seconds=took)
        listed = found.get("data") or []
        if not isinstance(listed, list):
            return [], Answer(error=_UNKNOWN_SHAPE, seconds=took)
        values = sorted(str(value) for value in listed)
        return values, Answer(series=len(values), finite=len(values), seconds=took)

    def _asked(self, path: str, form: Mapping[str, str]) -> Answer:
        key = (path, *form.values())
        if key not in self._known:
            began = time.monotonic()
            status, found = self._server.ask("POST", path, data=form)
            self._known[key] = _answer(status, found, time.monotonic() - began, self.url)
        return self._known[key]


def _error(status: int, found: Any) -> str:
    if isinstance(found, dict) and found.get("status") == "success":
        return ""
    told = found.get("error") or found.get("message") if isinstance(found, dict) else ""
    return " ".join(str(told or f"status {status}").split())


def _answer(status: int, found: Any, took: float, url: str) -> Answer:
    error = _error(status, found)
    if error:
        return Answer(error=error, seconds=took)
    try:
        data = found["data"]
        result = data["result"]
        if data["resultType"] in ("scalar", "string"):
            return Answer(series=1, finite=int(_is_finite(result[1])), seconds=took)
        # Only native histograms come without values.
        finite = sum(
            any(_is_finite(value) for _, value in series.get("values") or [series.get("value") or (0, "0")])
            for series in result
        )
        return Answer(series=len(result), finite=finite, seconds=took)
    except (KeyError, TypeError, ValueError, IndexError) as problem:
        raise Unusable(f"Prometheus at {url}: {_UNKNOWN_SHAPE}") from problem


def _is_finite(value: str) -> bool:
    return math.isfinite(float(value))

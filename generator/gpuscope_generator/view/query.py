"""What a panel asks Prometheus."""

from __future__ import annotations

from dataclasses import dataclass

from gpuscope_generator.promql import Expression

__all__ = ["Query"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """One query of a panel.

    Attributes:
        expression: what is asked.
        legend: name of a line, such as ``{{node}}``.
        instant: one value at the end of the time range; else a line over it. Tables always ask so.
        exemplar: also fetch exemplars, which lead from a slow request to its trace.
        min_step: smallest distance of two points, such as ``1m``; empty leaves it to the board.
    """

    expression: Expression
    legend: str = ""
    instant: bool = False
    exemplar: bool = False
    min_step: str = ""

"""Aggregations by a label that the reader of a board chooses."""

from __future__ import annotations

from gpuscope_generator.promql.expression import QueryError, Vector, check_labels

__all__ = ["grouped"]


def grouped(function: str, inner: Vector, variable: str, *by: str) -> Vector:
    """An aggregation by fixed labels and by the label that a variable names; what labels it gives is not known.

    Args:
        function: ``sum``, ``avg``, ``max``, ``min`` or ``count``.
        inner: what is aggregated.
        variable: name of the variable, whose values are names of labels.
        by: labels that always stay.

    Raises:
        QueryError: another function, or the operand lacks one of the fixed labels.
    """
    if function not in ("sum", "avg", "max", "min", "count"):
        raise QueryError(f"no {function} by a chosen label")
    labels = check_labels(by, inner, f"{function} by")
    return Vector(f"{function} by ({', '.join((*labels, f'${variable}'))}) ({inner.text})", series=inner.series)

"""Bounds of buckets in milliseconds, as bounds in seconds."""

from __future__ import annotations

from gpuscope_generator.promql import Vector, label_replace

__all__ = ["bounds_in_seconds"]

_FRACTION = r"(?:\.(\d+))?"
_MARK = "ms"


def bounds_in_seconds(buckets: Vector) -> Vector:
    """Divides the label ``le`` by a thousand: 2500 becomes 2.500, 80.5 becomes 0.0805.

    PromQL cannot calculate with labels, so the point is moved in the text. A bound that is written with an exponent
    stays as it is, with ``ms`` behind it, and is no bound any more: it is left out of quantiles, not misread.
    """
    marked = label_replace(buckets, "le", f"${{1}}{_MARK}", "le", r"([^+].*)")
    for digits, text in (
        (r"(\d+)(\d{3})", "$1.$2$3"),
        (r"(\d{3})()", "0.$1$3"),
        (r"(\d{2})()", "0.0$1$3"),
        (r"(\d)()", "0.00$1$3"),
    ):
        marked = label_replace(marked, "le", text, "le", f"{digits}{_FRACTION}{_MARK}")
    return marked

"""Two windows that burn a budget: the long one says that it matters, the short one that it still goes on.

A factor says how many times faster than allowed the budget is used up. The usual ones, from 14.4 down, are for
objectives near 1: of an objective of 0.9 the factor 14.4 asks for more failures than there are attempts, and would
never fire. So whatever loses much by its nature has factors of its own, and no threshold is above nine in ten.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gpuscope_generator.promql import Gauge, Scalar, Vector, clamp, first_of, max_by, scalar, select, vector
from gpuscope_generator.rules.alert import Severity

__all__ = ["LOSSY", "STRICT", "Pair", "burning"]

_MOST = 0.9
"""Of what is lost nearly whole, the loss counts as too much whatever the objective is."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Attributes: the long window, the short one, and how many times the allowed share both must have lost."""

    long: str
    short: str
    factor: float


STRICT: Mapping[Severity, tuple[Pair, ...]] = {
    Severity.CRITICAL: (Pair("1h", "5m", 14.4), Pair("6h", "30m", 6)),
    Severity.WARNING: (Pair("1d", "2h", 3), Pair("3d", "6h", 1)),
}
"""For objectives from 0.95 on."""
LOSSY: Mapping[Severity, tuple[Pair, ...]] = {
    Severity.CRITICAL: (Pair("1h", "5m", 6),),
    Severity.WARNING: (Pair("6h", "30m", 3), Pair("3d", "6h", 1.2)),
}
"""For what loses a tenth even when all is well, as goodput does."""


def burning(bad: Gauge, goal: float, pairs: tuple[Pair, ...], **equal: str) -> Vector:
    """What lost too much in both windows of a pair; the value is the loss in the shortest such long window.

    Args:
        bad: shares that were lost, with the label ``window``.
        goal: share that must not be lost.
        pairs: of windows, the shortest first.
        equal: conditions on labels of the shares.
    """
    keys = tuple(label for label in bad.labels if label != "window")
    found = []
    for pair in pairs:
        most = Scalar(f"{pair.factor:g} * (1 - {goal:g})", frozenset())
        limit = scalar(clamp(vector(most), high=_MOST))
        long, short = (
            max_by(select(bad, window=window, **equal), *keys).compare(">", limit) for window in (pair.long, pair.short)
        )
        found.append(long.and_(short, on=keys))
    return first_of(*found, on=keys)

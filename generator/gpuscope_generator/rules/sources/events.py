"""Events of a window, counted without a query over all samples of it."""

from __future__ import annotations

from gpuscope_generator.promql import Counter, Selector, Vector

__all__ = ["risen"]


def risen(counter: Selector[Counter], window: str) -> Vector:
    """How far a counter rose in a window, in whole events.

    Two samples a series are read, and not all of the window: over 10,000 GPUs that is what makes it affordable. A
    series that was not there before the window, or that began anew in it, counts with all that it has.
    """
    return (counter - counter.offset(window)).compare(">=", 0).or_(counter)

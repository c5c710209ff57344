"""Events of a window, counted without a query over all samples of it."""

from __future__ import annotations

from gpuscope_generator.promql import Counter, Gauge, Selector, Vector, first_of, floor, resampled

__all__ = ["of_a_day", "risen"]


def risen(counter: Selector[Counter], window: str, some: Vector | None = None) -> Vector:
    """How far a counter rose in a window, in whole events.

    Two samples a series are read, and not all of the window: over 10,000 GPUs that is what makes it affordable. A
    series that was not there before the window, or that began anew in it, counts with all that it has.

    Args:
        counter: what rose.
        window: such as ``1h``.
        some: those samples of the counter that are looked at, where not all are.
    """
    now = counter if some is None else some
    return (now - counter.offset(window)).compare(">=", 0).or_(now)


def of_a_day(hourly: Selector[Gauge]) -> Vector:
    """From counts of the last hour to those of 24 hours, rounded up; an event counts from the first minute on.

    Of the counts one each ten minutes is read, so that every event is in six of them. It is recorded, as a list of
    1,250 nodes that read 24 hours for each would take seconds to open.
    """
    day = floor(resampled("sum_over_time", hourly, "24h", "10m") / -6) * -1
    return first_of(day.compare(">=", hourly), hourly, day)

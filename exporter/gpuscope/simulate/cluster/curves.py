"""Closed forms of what happens over time: levels, and the counters that belong to them.

Everything here is a pure function of time, so that counters never fall, agree with their gauges, and are the same
whenever and however often somebody looks.
"""

import math
from dataclasses import dataclass

__all__ = ["DAY_S", "Cycle", "Spread", "Wave", "spread"]

DAY_S = 86_400.0
_TAIL = 1.3


@dataclass(frozen=True, slots=True)
class Cycle:
    """Something that comes again every so many seconds, the 0th time at ``begin``; it came before, too."""

    every: float
    begin: float = 0.0

    def number(self, t: float) -> int:
        """Which time it is."""
        return math.floor((t - self.begin) / self.every)

    def place(self, t: float) -> float:
        """Seconds since it began this time."""
        return t - self.begin - self.number(t) * self.every

    def seconds(self, since: float, until: float, start: float, end: float) -> float:
        """Seconds between two moments that lie in the part from ``start`` to ``end`` of a turn."""
        return self._spent(until, start, end) - self._spent(since, start, end)

    def times(self, since: float, until: float, at: float) -> int:
        """How often the moment ``at`` seconds into a turn came between two moments."""
        return self.number(until - at) - self.number(since - at)

    def _spent(self, t: float, start: float, end: float) -> float:
        return self.number(t) * (end - start) + min(max(self.place(t) - start, 0.0), end - start)


@dataclass(frozen=True, slots=True)
class Wave:
    """A level that swings about its mean."""

    mean: float
    depth: float = 0.5
    period: float = DAY_S
    phase: float = 0.0

    def at(self, t: float) -> float:
        """The level."""
        return self.mean * (1 + self.depth * math.sin(2 * math.pi * (t / self.period + self.phase)))

    def total(self, since: float, until: float) -> float:
        """The level summed over the time between two moments."""
        return self._sum(until) - self._sum(since)

    def _sum(self, t: float) -> float:
        turn = 2 * math.pi
        swing = math.cos(turn * (t / self.period + self.phase)) * self.period / turn
        return self.mean * (t - self.depth * swing)


@dataclass(frozen=True, slots=True)
class Spread:
    """How observations spread over the buckets of a histogram.

    Attributes:
        bounds: upper bounds, without +Inf.
        shares: share of observations at or below each bound.
        mean: of the observations.
    """

    bounds: tuple[float, ...]
    shares: tuple[float, ...]
    mean: float


def spread(bounds: tuple[float, ...], median: float, sigma: float = 0.6) -> Spread:
    """Observations that are spread log-normally about a median."""
    shares = tuple(0.5 * (1 + math.erf(math.log(bound / median) / (sigma * math.sqrt(2)))) for bound in bounds)
    low, before, mean = 0.0, 0.0, 0.0
    for bound, share in zip(bounds, shares, strict=True):
        mean += (share - before) * (low + bound) / 2
        low, before = bound, share
    return Spread(bounds, shares, mean + (1 - before) * low * _TAIL)

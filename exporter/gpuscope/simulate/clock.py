"""Time as the simulated driver sees it."""

import time
from typing import Protocol

__all__ = ["Clock", "ManualClock", "RealClock"]


class Clock(Protocol):
    """Seconds since the epoch, of the simulated world."""

    speed: float

    def now(self) -> float:
        """Simulated unix seconds."""
        ...


class RealClock:
    """Runs with the machine's clock, or ``speed`` times as fast."""

    def __init__(self, speed: float = 1.0) -> None:
        self.speed = speed
        self._wall = time.time()
        self._start = time.monotonic()

    def now(self) -> float:
        """Simulated unix seconds."""
        return self._wall + (time.monotonic() - self._start) * self.speed


class ManualClock:
    """Stands still until it is advanced."""

    def __init__(self, start: float = 1_750_000_000.0) -> None:
        self.speed = 1.0
        self._now = start

    def now(self) -> float:
        """Simulated unix seconds."""
        return self._now

    def monotonic(self) -> float:
        """The same clock as a source of monotonic seconds."""
        return self._now

    def advance(self, seconds: float) -> None:
        """Moves time on."""
        self._now += seconds

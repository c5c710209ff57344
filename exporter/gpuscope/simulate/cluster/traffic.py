"""Requests to model servers: more by day than by night, and a burst now and then that fills the KV cache."""

from dataclasses import dataclass

from gpuscope.simulate.cluster.curves import Cycle, Wave
from gpuscope.simulate.cluster.workloads import steady

__all__ = ["BURST", "Burst", "Traffic"]


@dataclass(frozen=True, slots=True)
class Burst:
    """A time of many requests in each turn.

    Attributes:
        start: seconds into a turn.
        end: likewise.
        ramp: seconds in which queues and caches fill, and empty again.
    """

    cycle: Cycle
    start: float
    end: float
    ramp: float

    def active(self, t: float) -> bool:
        """Whether it is on."""
        return self.start <= self.cycle.place(t) < self.end

    def place(self, t: float) -> float:
        """Seconds since it began."""
        return self.cycle.place(t) - self.start

    def number(self, t: float) -> int:
        """Which one it is."""
        return self.cycle.number(t)

    def level(self, t: float) -> float:
        """How full things are for its sake, from 0 to 1."""
        place = self.cycle.place(t)
        rise = (place - self.start) / self.ramp
        fall = 1 - (place - self.end) / self.ramp
        return max(0.0, min(1.0, rise, fall))


BURST = Burst(Cycle(900.0), 150.0, 330.0, 40.0)


@dataclass(frozen=True, slots=True)
class Traffic:
    """Requests of one model server.

    Attributes:
        wave: requests a second outside a burst.
        extra: requests a second that a burst brings on top.
    """

    wave: Wave
    extra: float

    @classmethod
    def of(cls, name: str, *, bursts: bool, mean: float = 2.0) -> "Traffic":
        """The traffic of a server of that name."""
        own = steady(name)
        return cls(Wave(mean * (0.7 + 0.6 * own), 0.4, phase=0.1 * own), mean * 3 if bursts else 0.0)

    def counts(self, since: float, t: float) -> tuple[float, float]:
        """Requests between two moments: ordinary ones, and those of bursts."""
        burst = BURST.cycle.seconds(since, t, BURST.start, BURST.end) * self.extra
        return self.wave.total(since, t), burst

    def rate(self, t: float) -> float:
        """Requests a second."""
        return self.wave.at(t) + (self.extra if BURST.active(t) else 0.0)

    def pressure(self, t: float) -> float:
        """How full queue and cache are by a burst, from 0 to 1."""
        return BURST.level(t) if self.extra else 0.0

    def calm(self, t: float) -> float:
        """How busy it is outside a burst, from 0 to 1."""
        return self.wave.at(t) / (self.wave.mean * (1 + self.wave.depth))

"""Whether the sources of allocations answer: for metrics, and once per change for the log."""

import logging
import time
from collections import Counter

from gpuscope.attribution.problems import Problems
from gpuscope.catalogue import attribution as m
from gpuscope.catalogue.metric import Sample

__all__ = ["SourceState"]

log = logging.getLogger("gpuscope.attribution")

_OUT_OF_REACH = frozenset({"missing", "no_permission"})


class SourceState:
    """One source.

    Args:
        name: one of the catalogue's ``SOURCES``.
        advice: what helps when it is missing or may not be read, for the log.

    Attributes:
        reason: why it does not answer, empty while it does, ``None`` before the first try.
        answered: unix time of the last answer.
        answered_at: the same on the monotonic clock.
        problems: what it said that could not be used.
        failures: failed calls, by reason.
    """

    def __init__(self, name: str, advice: str = "") -> None:
        self.name = name
        self.reason: str | None = None
        self.answered: float | None = None
        self.answered_at: float | None = None
        self.problems = Problems(log)
        self.failures: Counter[str] = Counter()
        self._advice = advice

    @property
    def ok(self) -> bool:
        """Whether it answered the last time."""
        return self.reason == ""

    def success(self) -> None:
        """It answered."""
        if self.reason:
            log.info("%s answers again", self.name)
        self.reason = ""
        self.answered, self.answered_at = time.time(), time.monotonic()

    def failure(self, reason: str, message: str, level: int = logging.WARNING) -> None:
        """It did not answer."""
        if self.reason != reason:
            advice = f" ({self._advice})" if self._advice and reason in _OUT_OF_REACH else ""
            log.log(level, "%s does not tell who holds which GPU: %s%s", self.name, message, advice)
        self.reason = reason
        self.failures[reason] += 1

    def samples(self) -> list[Sample]:
        """Its series; none before the first try."""
        if self.reason is None:
            return []
        samples = [Sample(m.SOURCE_UP, (self.name,), float(self.ok))]
        if self.reason:
            samples.append(Sample(m.SOURCE_FAILURE, (self.name, self.reason), 1.0))
        if self.answered is not None:
            samples.append(Sample(m.LAST_SUCCESS, (self.name,), self.answered))
        for reason, count in sorted((+self.problems.counts).items()):
            samples.append(Sample(m.PROBLEMS, (self.name, reason), float(count)))
        return samples

"""The first time that a counter is shown: as it was before, so that ``increase()`` sees its first event."""

import time
from collections.abc import Callable, Iterable, Iterator

from gpuscope.catalogue.metric import Metric, Sample

__all__ = ["HOLD_S", "Debut"]

HOLD_S = 60.0
"""Prometheus reads most targets at least this often."""


class Debut:
    """Holds counters that nobody has read yet at the value that they had before.

    A counter whose first value is 1 never increased, as far as ``increase()`` can know: it has to be read once at 0.
    One that an earlier run wrote down may be read under another ``instance`` now, so it begins at what was written.

    Args:
        hold_s: so long after it was first shown a counter is held; 0 holds none.
        monotonic: tells seconds.
    """

    def __init__(self, hold_s: float = HOLD_S, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._hold_s = hold_s
        self._monotonic = monotonic
        self._before: dict[tuple[Metric, tuple[str, ...]], float] = {}
        self._until: dict[tuple[Metric, tuple[str, ...]], float] = {}

    def take_up(self, counters: Iterable[Sample]) -> None:
        """Takes what an earlier run wrote down."""
        self._before.update(((metric, labels), value) for metric, labels, value in counters)

    def shown(self, counters: Iterable[Sample]) -> Iterator[Sample]:
        """The same counters, with the values that are to be read now; all parts of a histogram change together."""
        now = self._monotonic()
        for sample in counters:
            key = sample.metric, sample.labels
            if now < self._until.setdefault(key, now + self._hold_s):
                yield Sample(*key, self._before.get(key, 0.0))
            else:
                yield sample

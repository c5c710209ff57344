"""What could not be read: counted by reason, and logged when it begins, changes and ends."""

import logging
import threading
from collections import Counter

from gpuscope.catalogue.metric import Metric, Sample

__all__ = ["Troubles"]

log = logging.getLogger(__name__)


class Troubles:
    """The account of one source. Thread-safe.

    Args:
        name: of the source, for the log.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._counts: Counter[tuple[str, str]] = Counter()
        self._open: dict[str, set[str]] = {}
        self._told: dict[str, set[str]] = {}

    def note(self, param: str, reason: str) -> None:
        """Counts one failure."""
        with self._lock:
            self._counts[param, reason] += 1
            self._open.setdefault(param, set()).add(reason)

    def end_cycle(self) -> None:
        """Ends a cycle: logs which parameters have other troubles than in the cycle before."""
        with self._lock:
            told, self._told, self._open = self._told, self._open, {}
        for param in sorted(told.keys() | self._told.keys()):
            now = self._told.get(param, set())
            if now == told.get(param, set()):
                continue
            if now:
                log.warning("%s: %s is incomplete: %s", self._name, param, ", ".join(sorted(now)))
            else:
                log.info("%s: %s is complete again", self._name, param)

    def samples(self, metric: Metric) -> tuple[Sample, ...]:
        """All counters."""
        with self._lock:
            return tuple(Sample(metric, key, float(count)) for key, count in sorted(self._counts.items()))

"""Merges repeats: identical log lines, each shortly after the one before, are one fault."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from gpuscope.faults.nvrm import LogFault

__all__ = ["Bursts"]

_KEPT = 1024
_EXPIRE_GAPS = 10


@dataclass(slots=True)
class _Burst:
    last: float
    unreported: int = 0


class Bursts:
    """Remembers the latest faults of the log, a bounded number of them.

    Args:
        gap_s: longest time between a line and its repeat.
        grew: called with fault, unix time of the last repeat and number of repeats since the last call.
    """

    def __init__(self, gap_s: float, grew: Callable[[LogFault, float, int], None]) -> None:
        self._gap_s = gap_s
        self._grew = grew
        self._bursts: OrderedDict[LogFault, _Burst] = OrderedDict()

    def repeats(self, fault: LogFault, when: float) -> bool:
        """Whether the line repeats an earlier one; ``when`` is its unix time."""
        burst = self._bursts.get(fault)
        # Lines of different processors may stand a little out of order.
        if burst is not None and abs(when - burst.last) <= self._gap_s:
            burst.last = max(burst.last, when)
            burst.unreported += 1
            self._bursts.move_to_end(fault)
            return True
        if burst is not None:
            self._report(fault, burst)
        self._bursts[fault] = _Burst(when)
        self._bursts.move_to_end(fault)
        if len(self._bursts) > _KEPT:
            self._report(*self._bursts.popitem(last=False))
        return False

    def flush(self, now: float) -> None:
        """Reports repeats, and forgets what can no longer be repeated."""
        for fault, burst in list(self._bursts.items()):
            self._report(fault, burst)
            if now - burst.last > _EXPIRE_GAPS * self._gap_s:
                del self._bursts[fault]

    def _report(self, fault: LogFault, burst: _Burst) -> None:
        if burst.unreported:
            self._grew(fault, burst.last, burst.unreported)
            burst.unreported = 0

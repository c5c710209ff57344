"""The account of NVML calls: how many, how long, what failed, what is not supported.

One ledger belongs to one thread; the publisher adds them up. So counting needs no lock.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

__all__ = ["Ledger", "total"]


@dataclass(slots=True)
class Ledger:
    """Counters of one thread's NVML calls.

    Attributes:
        calls: calls made, by NVML function name.
        seconds: wall-clock seconds spent, by NVML function name.
        errors: failed calls, by (NVML function name, lower-case return code).
        unsupported: (GPU or MIG uuid, NVML function name) that answered "not supported".
        dropped: readings thrown away, by (metric name, ``sentinel`` or ``bounds``).
    """

    calls: Counter[str] = field(default_factory=Counter)
    seconds: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    errors: Counter[tuple[str, str]] = field(default_factory=Counter)
    unsupported: set[tuple[str, str]] = field(default_factory=set)
    dropped: Counter[tuple[str, str]] = field(default_factory=Counter)


def total(ledgers: Iterable[Ledger]) -> Ledger:
    """Adds ledgers up into a new one; safe while their threads go on counting."""
    result = Ledger()
    for ledger in ledgers:
        result.calls.update(dict(ledger.calls))
        for call, seconds in list(ledger.seconds.items()):
            result.seconds[call] += seconds
        result.errors.update(dict(ledger.errors))
        result.unsupported |= set(ledger.unsupported)
        result.dropped.update(dict(ledger.dropped))
    return result

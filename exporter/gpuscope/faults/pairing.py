"""Finds the report of the other source: NVML and the kernel log tell of the same XID, in either order."""

from collections import deque
from dataclasses import dataclass

from gpuscope.faults.fault import Fault
from gpuscope.faults.nvrm import LogFault

__all__ = ["Entry", "Pairing"]

_SAME_FAULT_S = 10.0
_WAITING_PER_CODE = 64
_CODES = 1024


@dataclass(slots=True, eq=False)
class Entry:
    """A fault that was counted, or waits for its GPU; ``line`` is the kernel log's report of it."""

    fault: Fault
    line: LogFault | None = None


class Pairing:
    """Faults that only one source reported so far, a bounded number of them. Not thread-safe."""

    def __init__(self) -> None:
        self._waiting: dict[tuple[str, int], deque[Entry]] = {}

    def add(self, entry: Entry) -> None:
        """Lets a counted fault wait for the other source's report."""
        key = (entry.fault.uuid or "", entry.fault.code)
        if key not in self._waiting and len(self._waiting) >= _CODES:
            del self._waiting[next(iter(self._waiting))]
        self._waiting.setdefault(key, deque(maxlen=_WAITING_PER_CODE)).append(entry)

    def take(self, uuid: str, code: int, source: str, when: float, gi: int | None) -> Entry | None:
        """The earliest fault that this report also tells of, or ``None``; it is then paired and waits no longer.

        The GPU instance must be the same where both reports name one; a fault that names it is preferred.

        Args:
            uuid: the GPU.
            code: the XID.
            source: who reports now; a source never pairs with itself.
            when: unix time of the report.
            gi: GPU instance, when known.
        """
        entries = self._waiting.get((uuid, code))
        if entries is None:
            return None
        fits = [
            entry
            for entry in entries
            if entry.fault.source != source
            and entry.fault.first - _SAME_FAULT_S <= when <= entry.fault.last + _SAME_FAULT_S
            and (gi is None or entry.fault.gi is None or gi == entry.fault.gi)
        ]
        if not fits:
            return None
        found = min(fits, key=lambda entry: entry.fault.gi != gi)
        entries.remove(found)
        if not entries:
            del self._waiting[uuid, code]
        return found

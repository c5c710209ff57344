"""The account of faults: fed by NVML events and by the kernel log, which often report the same fault."""

import threading
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from gpuscope.catalogue import xid as m
from gpuscope.catalogue.metric import Sample
from gpuscope.faults.fault import Fault
from gpuscope.faults.nvrm import LogFault, normal_bus_id
from gpuscope.faults.xids import XidCatalogue
from gpuscope.nvml.events import NvmlEvent
from gpuscope.nvml.identity import GpuIdentity

__all__ = ["FaultLedger"]

_SAME_FAULT_S = 10.0
_RECENT = 256
_UNMATCHED = 256
_MAX_CODES_PER_GPU = 256


@dataclass(slots=True)
class _Entry:
    """A fault that was counted, and which source may still report it a second time."""

    fault: Fault
    gpu: str
    matched: bool = False


class FaultLedger:
    """Counts faults. Thread-safe.

    The same fault reported by NVML and by the kernel log within ten seconds counts once: reports are paired one to
    one by GPU and code. Two reports of one source are two faults.

    Args:
        catalogue: meaning and default action of each code.

    Attributes:
        published: false hides all series and faults; counting goes on.
        companions: further series that belong to the subject, such as those of the kernel log's reader.
    """

    def __init__(self, catalogue: XidCatalogue) -> None:
        self.published = True
        self.companions: list[Callable[[], tuple[Sample, ...]]] = []
        self._catalogue = catalogue
        self._lock = threading.Lock()
        self._xids: Counter[tuple[str, int, str, str]] = Counter()
        self._last: dict[tuple[str, int], float] = {}
        self._sxids: Counter[tuple[str, int, str]] = Counter()
        self._events: Counter[tuple[str, str]] = Counter()
        self._event_types: dict[str, tuple[str, ...]] = {}
        self._recent: deque[Fault] = deque(maxlen=_RECENT)
        self._unmatched: deque[_Entry] = deque(maxlen=_UNMATCHED)
        self._uuid_by_bus: dict[str, str] = {}
        self._homeless: deque[tuple[LogFault, float]] = deque(maxlen=_RECENT)

    def use_catalogue(self, catalogue: XidCatalogue) -> None:
        """Puts another catalogue in force, for faults from now on."""
        with self._lock:
            self._catalogue = catalogue

    def known_gpus(self, identities: Sequence[GpuIdentity]) -> None:
        """Tells which GPUs exist; faults that named an unknown PCI address find their GPU now."""
        fresh = {normal_bus_id(who.pci_bus_id): who.uuid for who in identities if who.pci_bus_id and who.uuid}
        if all(self._uuid_by_bus.get(bus) == uuid for bus, uuid in fresh.items()):
            return
        with self._lock:
            self._uuid_by_bus |= fresh
            waiting, self._homeless = list(self._homeless), deque(maxlen=_RECENT)
        for fault, when in waiting:
            self.log_fault(fault, when)

    def event_types(self, types: dict[str, tuple[str, ...]]) -> None:
        """Tells which events each GPU can report, so that their counters are 0 from the start."""
        self._event_types = dict(types)

    def nvml_event(self, event: NvmlEvent) -> None:
        """Counts an event of the driver."""
        if event.xid is None:
            with self._lock:
                self._events[event.uuid, event.type] += 1
            return
        self._xid("nvml", event.uuid, event.xid, event.time, event.gi, event.ci, "", "")

    def log_fault(self, fault: LogFault, when: float, count: int = 1) -> None:
        """Counts a fault of the kernel log.

        Args:
            fault: the parsed line.
            when: unix time.
            count: identical lines that were merged into this one.
        """
        if fault.kind == "sxid":
            self._sxid(fault, when, count)
            return
        uuid = self._uuid_by_bus.get(fault.pci_bus_id)
        if uuid is None:
            with self._lock:
                self._homeless.append((fault, when))
            return
        self._xid("kernel_log", uuid, fault.code, when, fault.gi, fault.ci, fault.pci_bus_id, fault.text, count)

    def grew(self, fault: LogFault, when: float, count: int) -> None:
        """Says that the newest fault with this code and message went on: ``count`` more identical lines."""
        with self._lock:
            for place, known in enumerate(self._recent):
                if (known.code, known.message, known.pci_bus_id) == (fault.code, fault.text, fault.pci_bus_id):
                    self._recent[place] = replace(known, last=max(known.last, when), count=known.count + count)
                    return

    def samples(self, identity: GpuIdentity) -> tuple[Sample, ...]:
        """Fault series of one GPU, critical codes among them even while they are 0."""
        uuid = identity.uuid
        if not uuid or not self.published:
            return ()
        base = (str(identity.index), uuid)
        with self._lock:
            counts = {(code, "", ""): 0 for code in self._catalogue.critical_codes}
            counts |= {key[1:]: count for key, count in self._xids.items() if key[0] == uuid}
            last = {code: when for (owner, code), when in self._last.items() if owner == uuid}
            events = dict.fromkeys(self._event_types.get(uuid, ()), 0)
            events |= {kind: count for (owner, kind), count in self._events.items() if owner == uuid}
        return (
            *(
                Sample(m.XID_ERRORS, (*base, str(code), gi, ci), count)
                for (code, gi, ci), count in sorted(counts.items())
            ),
            *(Sample(m.XID_LAST, (*base, str(code)), when) for code, when in sorted(last.items())),
            *(Sample(m.NVML_EVENTS, (*base, kind), count) for kind, count in sorted(events.items())),
        )

    def node_samples(self) -> tuple[Sample, ...]:
        """Fault series without a GPU."""
        if not self.published:
            return ()
        own = tuple(sample for companion in self.companions for sample in companion())
        with self._lock:
            return own + tuple(
                Sample(m.SXID_ERRORS, (bus, str(code), severity), count)
                for (bus, code, severity), count in sorted(self._sxids.items())
            )

    def recent(self) -> tuple[Fault, ...]:
        """The last faults, newest first."""
        if not self.published:
            return ()
        with self._lock:
            return tuple(self._recent)

    def _xid(
        self, source: str, uuid: str, code: int, when: float, gi: int | None, ci: int | None, bus: str, text: str,
        count: int = 1,
    ) -> None:  # fmt: skip
        with self._lock:
            if self._pair(source, uuid, code, when, gi, ci, bus, text, count):
                return
            labels = (code, "" if gi is None else str(gi), "" if ci is None else str(ci))
            key = (uuid, *labels)
            if key not in self._xids and sum(owner == uuid for owner, *_ in self._xids) >= _MAX_CODES_PER_GPU:
                return
            self._xids[key] += 1
            self._last[uuid, code] = max(when, self._last.get((uuid, code), 0.0))
            row = self._catalogue.entry(code)
            fault = Fault(
                "xid", code, when, when, source, count, uuid, bus or None, gi, ci, row.meaning, row.fault_class,
                row.action, text,
            )  # fmt: skip
            self._recent.appendleft(fault)
            self._unmatched.append(_Entry(fault, uuid))

    def _pair(
        self, source: str, uuid: str, code: int, when: float, gi: int | None, ci: int | None, bus: str, text: str,
        count: int,
    ) -> bool:  # fmt: skip
        """Joins the report with the same fault of the other source, if that came shortly before."""
        for entry in self._unmatched:
            fault = entry.fault
            if (
                entry.matched
                or fault.source == source
                or (entry.gpu, fault.code) != (uuid, code)
                or abs(fault.first - when) > _SAME_FAULT_S
                or (None not in {gi, fault.gi} and gi != fault.gi)
            ):
                continue
            entry.matched = True
            fuller = replace(
                fault,
                last=max(fault.last, when),
                count=max(fault.count, count),
                pci_bus_id=fault.pci_bus_id or bus or None,
                message=fault.message or text,
                gi=fault.gi if fault.gi is not None else gi,
                ci=fault.ci if fault.ci is not None else ci,
            )
            for place, known in enumerate(self._recent):
                if known is fault:
                    self._recent[place] = fuller
                    break
            entry.fault = fuller
            return True
        return False

    def _sxid(self, fault: LogFault, when: float, count: int) -> None:
        with self._lock:
            self._sxids[fault.pci_bus_id, fault.code, fault.severity] += 1
            action = "contact_support" if fault.severity != "nonfatal" else "ignore"
            self._recent.appendleft(
                Fault(
                    kind="sxid",
                    code=fault.code,
                    first=when,
                    last=when,
                    source="kernel_log",
                    count=count,
                    pci_bus_id=fault.pci_bus_id,
                    meaning=f"NVSwitch error, {fault.severity}",
                    fault_class="nvswitch",
                    action=action,
                    message=fault.text,
                )
            )

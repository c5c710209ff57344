"""The account of faults: fed by NVML events and by the kernel log, which often report the same fault."""

import logging
import threading
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import replace

from gpuscope.catalogue import xid as m
from gpuscope.catalogue.metric import Sample
from gpuscope.faults.fault import Fault
from gpuscope.faults.nvrm import LogFault, normal_bus_id, recovery_action
from gpuscope.faults.pairing import Entry, Pairing
from gpuscope.faults.sxids import SxidCatalogue
from gpuscope.faults.xids import XidCatalogue
from gpuscope.nvml.events import NvmlEvent
from gpuscope.nvml.identity import GpuIdentity

__all__ = ["FaultLedger"]

log = logging.getLogger(__name__)

_RECENT = 256
_MAX_SERIES_PER_GPU = 256
_MAX_SXID_SERIES = 2048
_RECOVERY_XID = 154


class FaultLedger:
    """Counts faults. Thread-safe.

    The same fault reported by NVML and by the kernel log within ten seconds counts once: reports are paired one to
    one by GPU, code and, where both name one, GPU instance. Two reports of one source are two faults.

    Args:
        catalogue: meaning and default action of each XID.
        sxids: the same of each SXID; the shipped ones by default.

    Attributes:
        published: false hides all series and faults; counting goes on.
        companions: further series that belong to the subject, such as those of the kernel log's reader.
    """

    def __init__(self, catalogue: XidCatalogue, sxids: SxidCatalogue | None = None) -> None:
        self.published = True
        self.companions: list[Callable[[], tuple[Sample, ...]]] = []
        self._catalogue = catalogue
        self._switch_catalogue = sxids or SxidCatalogue.load()
        self._lock = threading.Lock()
        self._xids: dict[str, Counter[tuple[int, str, str]]] = {}
        self._last: dict[str, dict[int, float]] = {}
        self._sxids: Counter[tuple[str, int, str]] = Counter()
        self._events: Counter[tuple[str, str]] = Counter()
        self._recent: deque[Entry] = deque(maxlen=_RECENT)
        self._pairing = Pairing()
        self._uuid_by_bus: dict[str, str] = {}
        self._told_by_log: dict[str, str] = {}
        self._homeless: deque[Entry] = deque(maxlen=_RECENT)
        self._full: set[str] = set()

    def use_catalogue(self, catalogue: XidCatalogue) -> None:
        """Puts another catalogue in force, for faults from now on."""
        with self._lock:
            self._catalogue = catalogue

    def known_gpus(self, identities: Sequence[GpuIdentity]) -> None:
        """Tells which GPUs exist; faults that named an unknown PCI address are counted for their GPU now."""
        fresh = {normal_bus_id(who.pci_bus_id): who.uuid for who in identities if who.pci_bus_id and who.uuid}
        with self._lock:
            if all(self._uuid_by_bus.get(bus) == uuid for bus, uuid in fresh.items()):
                return
            self._uuid_by_bus |= fresh
            waiting, self._homeless = self._homeless, deque(maxlen=_RECENT)
            for entry in waiting:
                uuid = self._uuid_by_bus.get(entry.fault.pci_bus_id or "")
                if uuid is None:
                    self._homeless.append(entry)
                else:
                    self._house(entry, uuid)

    def gpu_at(self, pci_bus_id: str, uuid: str) -> None:
        """Tells which GPU the kernel log says is at a PCI address; it names faults of a GPU that NVML does not show."""
        with self._lock:
            if len(self._told_by_log) < _RECENT or pci_bus_id in self._told_by_log:
                self._told_by_log[pci_bus_id] = uuid

    def nvml_event(self, event: NvmlEvent) -> None:
        """Counts an event of the driver."""
        with self._lock:
            if event.xid is None:
                self._events[event.uuid, event.type] += 1
                return
            paired = self._pairing.take(event.uuid, event.xid, "nvml", event.time, event.gi)
            if paired is not None:
                known = paired.fault
                paired.fault = replace(
                    known,
                    last=max(known.last, event.time),
                    gi=event.gi if known.gi is None else known.gi,
                    ci=event.ci if known.ci is None else known.ci,
                )
                return
            fault = self._xid_fault("nvml", event.xid, event.time, 1, event.uuid, None, event.gi, event.ci, "")
            self._enter(Entry(fault))

    def log_fault(self, fault: LogFault, when: float, count: int = 1) -> None:
        """Counts a fault of the kernel log.

        Args:
            fault: the parsed line.
            when: unix time.
            count: identical lines that were merged into this one.
        """
        bus = fault.pci_bus_id
        with self._lock:
            if fault.kind == "sxid":
                self._sxid(fault, when, count)
                return
            uuid = self._uuid_by_bus.get(bus)
            entry = Entry(
                self._xid_fault(
                    "kernel_log", fault.code, when, count, uuid or self._told_by_log.get(bus), bus,
                    fault.gi, fault.ci, fault.text,
                ),
                fault,
            )  # fmt: skip
            if uuid is None:
                self._homeless.append(entry)
                self._recent.appendleft(entry)
            elif not self._join(entry, uuid):
                self._enter(entry)

    def grew(self, fault: LogFault, when: float, count: int) -> None:
        """Says that the newest fault of this line went on: ``count`` more identical lines, the last at ``when``."""
        with self._lock:
            entry = next((entry for entry in self._recent if entry.line == fault), None)
            if entry is None:
                return
            known = entry.fault
            entry.fault = replace(known, last=max(known.last, when), count=known.count + count)
            if known.kind == "xid" and known.uuid is not None and known.code in self._last.get(known.uuid, ()):
                self._last[known.uuid][known.code] = max(when, self._last[known.uuid][known.code])

    def samples(self, identity: GpuIdentity) -> tuple[Sample, ...]:
        """Fault series of one GPU, critical codes among them even while they are 0."""
        uuid = identity.uuid
        if not uuid or not self.published:
            return ()
        base = (str(identity.index), uuid)
        with self._lock:
            counts = {(code, "", ""): 0 for code in self._catalogue.critical_codes} | self._xids.get(uuid, {})
            last = dict(self._last.get(uuid, {}))
            events = {kind: count for (owner, kind), count in self._events.items() if owner == uuid}
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
            faults = [entry.fault for entry in self._recent]
        return tuple(sorted(faults, key=lambda fault: fault.first, reverse=True))

    def _xid_fault(
        self, source: str, code: int, when: float, count: int, uuid: str | None, bus: str | None, gi: int | None,
        ci: int | None, text: str,
    ) -> Fault:  # fmt: skip
        row = self._catalogue.entry(code)
        action = (recovery_action(text) if code == _RECOVERY_XID and row.action == "follow_154" else None) or row.action
        return Fault(
            kind="xid", code=code, first=when, last=when, source=source, count=count, uuid=uuid, pci_bus_id=bus,
            gi=gi, ci=ci, meaning=row.meaning, fault_class=row.fault_class, action=action, message=text,
        )  # fmt: skip

    def _enter(self, entry: Entry) -> None:
        """Counts a fault of a known GPU and lists it."""
        self._recent.appendleft(entry)
        self._count(entry)

    def _count(self, entry: Entry) -> None:
        fault = entry.fault
        uuid = fault.uuid or ""
        counts = self._xids.setdefault(uuid, Counter())
        labels = (fault.code, "" if fault.gi is None else str(fault.gi), "" if fault.ci is None else str(fault.ci))
        if labels not in counts and len(counts) >= _MAX_SERIES_PER_GPU:
            self._complain(uuid)
            return
        counts[labels] += 1
        last = self._last.setdefault(uuid, {})
        last[fault.code] = max(fault.last, last.get(fault.code, 0.0))
        self._pairing.add(entry)

    def _join(self, entry: Entry, uuid: str) -> bool:
        """Joins a report of the kernel log with NVML's of the same fault, if that came before."""
        told = entry.fault
        paired = self._pairing.take(uuid, told.code, "kernel_log", told.first, told.gi)
        if paired is None:
            return False
        known = paired.fault
        paired.line = entry.line
        paired.fault = replace(
            known,
            last=max(known.last, told.last),
            count=max(known.count, told.count),
            pci_bus_id=told.pci_bus_id,
            gi=told.gi if known.gi is None else known.gi,
            ci=told.ci if known.ci is None else known.ci,
            action=told.action,
            message=told.message,
        )
        return True

    def _house(self, entry: Entry, uuid: str) -> None:
        """Counts a listed fault whose GPU became known."""
        if self._join(entry, uuid):
            if entry in self._recent:
                self._recent.remove(entry)
            return
        entry.fault = replace(entry.fault, uuid=uuid)
        self._count(entry)

    def _sxid(self, fault: LogFault, when: float, count: int) -> None:
        row = self._switch_catalogue.entry(fault.code)
        severity = fault.severity
        action = row.action
        if severity == "unknown":
            severity = "fatal" if row.severity == "always_fatal" else row.severity
        elif row.severity != "unknown" and (severity == "nonfatal") != (row.severity == "nonfatal"):
            action = "contact_support"  # the driver's word on this case contradicts the guide
        fault_record = Fault(
            kind="sxid", code=fault.code, first=when, last=when, source="kernel_log", count=count,
            pci_bus_id=fault.pci_bus_id, meaning=f"{row.meaning} ({severity})", fault_class="nvswitch",
            action=action, message=fault.text,
        )  # fmt: skip
        self._recent.appendleft(Entry(fault_record, fault))
        key = (fault.pci_bus_id, fault.code, severity)
        if key not in self._sxids and len(self._sxids) >= _MAX_SXID_SERIES:
            self._complain(fault.pci_bus_id)
            return
        self._sxids[key] += 1

    def _complain(self, owner: str) -> None:
        if owner not in self._full:
            self._full.add(owner)
            log.warning("%s reports more different fault codes than are counted; further codes are only listed", owner)

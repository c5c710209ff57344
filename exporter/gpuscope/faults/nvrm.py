"""Kernel log lines of the NVIDIA driver: XIDs of GPUs and SXIDs of NVSwitches. Pure functions."""

import re
from dataclasses import dataclass

__all__ = ["LogFault", "normal_bus_id", "parse_line"]

_XID = re.compile(
    r"NVRM: Xid \((?:PCI:)?(?P<pci>[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}(?:\.[0-7])?)"
    r"(?:\s+GPU-I:(?P<gi>\d{1,3}))?(?:\s+GPU-CI:(?P<ci>\d{1,3}))?\): (?P<code>\d{1,4})(?:, (?P<text>.*))?$"
)
_SXID = re.compile(
    r"nvidia-nvswitch(?P<switch>\d+): SXid \((?:PCI:)?(?P<pci>[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}"
    r"(?:\.[0-7])?)\): (?P<code>\d{1,6}), (?P<severity>Fatal|Non-fatal)?,?\s*(?P<text>.*)$"
)
_BUS_ID = re.compile(
    r"^(?P<domain>[0-9a-f]{4,8}):(?P<bus>[0-9a-f]{2}):(?P<device>[0-9a-f]{2})(?:\.(?P<function>[0-7]))?$"
)


@dataclass(frozen=True, slots=True)
class LogFault:
    """A fault as one line of the kernel log tells it.

    ``severity`` is ``fatal`` or ``nonfatal`` for an SXID and empty for an XID; ``text`` is what follows the code.
    """

    kind: str
    code: int
    pci_bus_id: str
    gi: int | None
    ci: int | None
    severity: str
    text: str


def normal_bus_id(text: str) -> str:
    """A PCI address as NVML writes it, in lower case: 8 digits of domain, and a function.

    ``0000:1B:00`` becomes ``00000000:1b:00.0``. A text that is no address comes back in lower case.
    """
    found = _BUS_ID.match(text.strip().lower())
    if not found:
        return text.strip().lower()
    return f"{found['domain']:0>8}:{found['bus']}:{found['device']}.{found['function'] or '0'}"


def parse_line(text: str) -> LogFault | None:
    """The fault that a line reports, or ``None``. Never raises, whatever the line holds."""
    if "Xid (" not in text and "SXid (" not in text:
        return None
    found = _SXID.search(text)
    if found:
        severity = {"Fatal": "fatal", "Non-fatal": "nonfatal"}.get(found["severity"] or "", "unknown")
        return LogFault("sxid", int(found["code"]), normal_bus_id(found["pci"]), None, None, severity, found["text"])
    found = _XID.search(text)
    if not found:
        return None
    gi, ci = (int(found[name]) if found[name] else None for name in ("gi", "ci"))
    return LogFault("xid", int(found["code"]), normal_bus_id(found["pci"]), gi, ci, "", found["text"] or "")

"""Kernel log lines of the NVIDIA driver: XIDs of GPUs and SXIDs of NVSwitches. Pure functions."""

import re
from dataclasses import dataclass

__all__ = ["LogFault", "normal_bus_id", "parse_gpu", "parse_line", "recovery_action"]

_ADDRESS = r"(?P<pci>[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}(?:\.[0-7])?)"
_XID = re.compile(
    r"NVRM: Xid \((?:PCI:)?" + _ADDRESS + r"(?: +GPU-I:(?P<gi>[0-9]{1,3}))?(?: +GPU-CI:(?P<ci>[0-9]{1,3}))? *\): *"
    r"(?P<code>[0-9]{1,4})(?![0-9A-Za-z])[,:]? *(?P<text>.*)",
    re.DOTALL,
)
_SXID = re.compile(
    r"SXid \((?:PCI:)?" + _ADDRESS + r"\): *(?P<code>[0-9]{1,6})(?![0-9A-Za-z]),? *"
    r"(?:(?P<severity>Fatal|Non-fatal)(?:, *|$))?(?P<text>.*)",
    re.DOTALL,
)
# One SXID takes several lines; these carry details of the one before and are no faults of their own.
_SXID_DETAILS = ("Severity ", "Data {")
_GPU = re.compile(
    r"NVRM: GPU at (?:PCI:)?" + _ADDRESS + r": (?P<uuid>GPU-[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})"
)
_BUS_ID = re.compile(
    r"^(?P<domain>[0-9a-f]{4,8}):(?P<bus>[0-9a-f]{2}):(?P<device>[0-9a-f]{2})(?:\.(?P<function>[0-7]))?$"
)
_RECOVERY = re.compile(r"recovery action changed from .* to 0x(?P<action>[0-9a-fA-F]{1,8})\b")
# nvmlDeviceGpuRecoveryAction_t
_RECOVERY_ACTIONS = {
    0: "ignore", 1: "reset_gpu", 2: "reboot_node", 3: "drain", 4: "drain_and_reset", 6: "reset_gpu", 7: "reboot_node",
}  # fmt: skip
_SEVERITIES = {"Fatal": "fatal", "Non-fatal": "nonfatal"}


@dataclass(frozen=True, slots=True)
class LogFault:
    """A fault as one line of the kernel log tells it.

    ``severity`` is ``fatal``, ``nonfatal`` or ``unknown`` for an SXID and empty for an XID; ``text`` is what follows
    the code.
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
    """The fault that a line reports, or ``None``. Never raises, whatever the line holds.

    Understands ``NVRM: Xid (PCI:0000:1b:00): 79, pid=…``, the same with ``GPU-I:`` and ``GPU-CI:`` of a MIG instance,
    the older form without ``PCI:``, and ``nvidia-nvswitch0: SXid (PCI:0000:85:00.0): 12028, Non-fatal, …``.
    """
    if "Xid (" not in text:
        return None
    found = _SXID.search(text)
    if found:
        rest = found["text"]
        if not found["severity"] and rest.startswith(_SXID_DETAILS):
            return None
        severity = _SEVERITIES.get(found["severity"] or "", "unknown")
        return LogFault("sxid", int(found["code"]), normal_bus_id(found["pci"]), None, None, severity, rest.strip())
    found = _XID.search(text)
    if not found:
        return None
    gi, ci = (int(found[name]) if found[name] else None for name in ("gi", "ci"))
    return LogFault("xid", int(found["code"]), normal_bus_id(found["pci"]), gi, ci, "", found["text"].strip())


def parse_gpu(text: str) -> tuple[str, str] | None:
    """PCI address and UUID of ``NVRM: GPU at PCI:0000:91:00: GPU-…``, which the driver writes before an XID."""
    if "NVRM: GPU at " not in text:
        return None
    found = _GPU.search(text)
    return (normal_bus_id(found["pci"]), found["uuid"]) if found else None


def recovery_action(text: str) -> str | None:
    """The action that the driver asks for in the text of XID 154, in the catalogue's words; ``None`` when unknown."""
    found = _RECOVERY.search(text)
    return _RECOVERY_ACTIONS.get(int(found["action"], 16)) if found else None

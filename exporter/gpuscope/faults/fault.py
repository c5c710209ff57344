"""One fault that a device or the driver reported."""

from dataclasses import dataclass

__all__ = ["Fault"]


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault, after repeats of the same burst were merged.

    Attributes:
        kind: ``xid`` (GPU) or ``sxid`` (NVSwitch).
        code: NVIDIA's number.
        first: unix time of the first report.
        last: unix time of the last report of this burst.
        count: reports merged into this one (a burst of identical kernel log lines counts once as a fault).
        source: ``nvml`` or ``kernel_log``.
        uuid: GPU, when known.
        pci_bus_id: PCI address of the GPU or NVSwitch, when known.
        gi: GPU instance id, when the fault belongs to one.
        ci: compute instance id, when the fault belongs to one.
        meaning: short text of the XID catalogue.
        fault_class: class of the XID catalogue (``off_bus``, ``mem_uncontained``, ``app`` …; ``unknown`` otherwise).
        action: default action of the XID catalogue.
        message: the kernel's own words, when the source is the kernel log.
    """

    kind: str
    code: int
    first: float
    last: float
    source: str
    count: int = 1
    uuid: str | None = None
    pci_bus_id: str | None = None
    gi: int | None = None
    ci: int | None = None
    meaning: str = ""
    fault_class: str = "unknown"
    action: str = ""
    message: str = ""

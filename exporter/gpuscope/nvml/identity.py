"""Who a GPU or a MIG instance is: facts that do not change while it exists."""

from dataclasses import dataclass

__all__ = ["DriverStatus", "GpuIdentity", "MigInstance"]


@dataclass(frozen=True, slots=True)
class GpuIdentity:
    """A physical GPU.

    ``uuid`` identifies; ``index`` is NVML's order and neither the device minor nor CUDA's order.
    Unknown facts are empty strings.
    """

    index: int
    uuid: str
    model: str
    arch: str = ""
    pci_bus_id: str = ""
    minor: str = ""
    serial: str = ""
    vbios: str = ""
    compute_capability: str = ""
    numa_node: str = ""
    board_part: str = ""
    module_id: str = ""


@dataclass(frozen=True, slots=True)
class MigInstance:
    """A MIG device: one compute instance inside one GPU instance.

    ``profile`` is the device's own name for its slice, for example ``3g.40gb`` or ``1c.3g.40gb``.
    """

    uuid: str
    index: int
    gi: int
    ci: int
    profile: str


@dataclass(frozen=True, slots=True)
class DriverStatus:
    """Whether the driver can be talked to.

    ``reason`` is empty while ``ok``; otherwise the word of ``NvmlUnavailable.reason``. ``since`` is the unix
    time of the last change of ``ok``. ``simulated`` names the scenario when the driver is the simulated one.
    """

    ok: bool
    reason: str = ""
    message: str = ""
    since: float = 0.0
    driver_version: str = ""
    cuda_version: str = ""
    nvml_version: str = ""
    kernel_module: str = ""
    simulated: str = ""

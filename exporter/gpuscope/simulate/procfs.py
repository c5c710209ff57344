"""The driver's part of /proc on a simulated machine."""

import uuid
from pathlib import Path

from gpuscope.simulate.device import SimGpu
from gpuscope.simulate.identity import bus_id
from gpuscope.simulate.node import Node

__all__ = ["write_procfs", "write_whole"]

_HOST_PID_NAMESPACE = "pid:[4026531836]"


def write_procfs(node: Node, root: Path) -> None:
    """Writes the driver version, the GPUs, the boot time and the PID namespace below ``root``."""
    _write(root / "driver/nvidia/version", _version(node))
    for gpu in node.gpus:
        _write(root / "driver/nvidia/gpus" / bus_id(gpu) / "information", _information(gpu))
    boot_id = uuid.uuid5(uuid.NAMESPACE_OID, node.gpus[0].uuid)
    _write(root / "sys/kernel/random/boot_id", f"{boot_id}\n")
    _write(root / "stat", f"btime {int(node.log.boot)}\n")
    namespace = root / "self/ns/pid"
    namespace.parent.mkdir(parents=True, exist_ok=True)
    namespace.unlink(missing_ok=True)
    namespace.symlink_to(_HOST_PID_NAMESPACE)


def _write(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")


def write_whole(path: Path, content: str) -> None:
    """Writes a file as a whole, so that a reader never finds half of one; its folder is made.

    Raises:
        OSError: it cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}")
    fresh.write_text(content, encoding="utf-8")
    fresh.replace(path)


def _version(node: Node) -> str:
    kind = "Open Kernel Module" if node.scenario.driver["kernel_module"] == "open" else "Kernel Module"
    return (
        f"NVRM version: NVIDIA UNIX {kind} for x86_64  {node.version}  Release Build\n"
        "GCC version:  gcc version 12.3.0 (Ubuntu 12.3.0-1ubuntu1~22.04)\n"
    )


def _information(gpu: SimGpu) -> str:
    facts = {
        "Model": gpu.model.name,
        "IRQ": str(180 + gpu.index),
        "GPU UUID": gpu.uuid,
        "Video BIOS": f"96.00.89.00.0{gpu.index % 10}",
        "Bus Type": "PCIe",
        "DMA Size": "52 bits",
        "DMA Mask": "0xfffffffffffff",
        "Bus Location": bus_id(gpu),
        "Device Minor": str(gpu.minor),
        "GPU Excluded": "No",
    }
    return "".join(f"{name}: \t {value}\n" for name, value in facts.items())

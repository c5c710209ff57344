"""Simulated readings of PCIe, NVLink, chip-to-chip links and the NVLink fabric."""

import time
import uuid

from gpuscope.simulate.device import SimGpu
from gpuscope.simulate.node import Node
from gpuscope.simulate.physics import REASON_IDLE
from gpuscope.simulate.status import ARGUMENT, NOT_SUPPORTED, VERSION_MISMATCH, Status, put, read
from gpuscope.simulate.table import Entry, getter, physical

__all__ = ["FUNCTIONS"]

_PCIE_WINDOW_S = 0.02
_MBPS_BY_GENERATION = {1: 2500, 2: 5000, 3: 8000, 4: 16000, 5: 32000, 6: 64000}
_SWITCH = 2
_FABRIC_V2, _FABRIC_V3 = 0x02000024, 0x03000028
_FABRIC_COMPLETED, _FABRIC_HEALTHY = 3, 1
_FALSE, _TRUE, _NO_MISCONFIGURATION = 2, 1, 1
_HEALTH_MASK = _FALSE | _FALSE << 2 | _FALSE << 4 | _FALSE << 6 | _NO_MISCONFIGURATION << 8 | _TRUE << 12
_CLIQUE = 7
_ERROR_NAMES = {0: "replay", 1: "recovery", 2: "crc", 3: "crc", 4: None}


def _throughput(node: Node, handle: int, counter: int, pointer: int) -> int:
    """Counts bytes for 20 ms, as the driver does; other calls of the GPU go on meanwhile."""
    gpu, instance = node.find(handle)
    if instance is not None:
        raise Status(NOT_SUPPORTED)
    if counter > 1:
        raise Status(ARGUMENT)
    time.sleep(_PCIE_WINDOW_S / max(1.0, node.clock.speed))
    with gpu.lock:
        gpu.advance(node.clock.now())
        rate = gpu.load.pcie_rx if counter else gpu.load.pcie_tx
    return put(pointer, "I", int(rate / 1024))


def _generation(gpu: SimGpu) -> int:
    return 1 if gpu.reasons & REASON_IDLE else gpu.model.pcie_generation


def _link(gpu: SimGpu, link: int) -> None:
    if gpu.mig_mode or not gpu.model.nvlinks:
        raise Status(NOT_SUPPORTED)
    if link >= gpu.model.nvlinks:
        raise Status(ARGUMENT)


@physical
def _nvlink_state(_node: Node, gpu: SimGpu, link: int, pointer: int) -> int:
    _link(gpu, link)
    return put(pointer, "I", 1)


@physical
def _nvlink_version(_node: Node, gpu: SimGpu, link: int, pointer: int) -> int:
    _link(gpu, link)
    return put(pointer, "I", gpu.model.nvlink_version)


@physical
def _nvlink_capability(_node: Node, gpu: SimGpu, link: int, capability: int, pointer: int) -> int:
    _link(gpu, link)
    if capability > 5:
        raise Status(ARGUMENT)
    return put(pointer, "I", capability in {0, 1, 2, 5})


@physical
def _nvlink_remote(_node: Node, gpu: SimGpu, link: int, pointer: int) -> int:
    """Switches answer with the address of the switch that the link ends at."""
    _link(gpu, link)
    place = f"00000000:{0x85 + link * 4 // gpu.model.nvlinks:02X}:00.0".encode()
    return put(pointer, "16s5I32s", place[4:], 0, 0x85 + link * 4 // gpu.model.nvlinks, 0, 0x22A310DE, 0, place)


@physical
def _nvlink_remote_type(_node: Node, gpu: SimGpu, link: int, pointer: int) -> int:
    _link(gpu, link)
    return put(pointer, "I", _SWITCH)


@physical
def _nvlink_errors(_node: Node, gpu: SimGpu, link: int, counter: int, pointer: int) -> int:
    _link(gpu, link)
    name = _ERROR_NAMES.get(counter)
    if name is None or gpu.model.nvlink_version >= 5:
        raise Status(NOT_SUPPORTED)
    return put(pointer, "Q", gpu.nvlink_errors.get((name, link), 0))


def _cluster(gpu: SimGpu) -> tuple[bytes, int]:
    """UUID and clique of the rack's fabric; zeros within one server."""
    return (uuid.uuid5(uuid.NAMESPACE_DNS, "rack-1").bytes, _CLIQUE) if gpu.model.fabric else (bytes(16), 0)


def _has_fabric(gpu: SimGpu) -> None:
    if gpu.model.nvlink_version < 4:
        raise Status(NOT_SUPPORTED)


@physical
def _fabric(_node: Node, gpu: SimGpu, pointer: int) -> int:
    _has_fabric(gpu)
    cluster, clique = _cluster(gpu)
    return put(pointer, "16siIB3x", cluster, 0, clique, _FABRIC_COMPLETED)


@physical
def _fabric_v(node: Node, gpu: SimGpu, pointer: int) -> int:
    found = read(pointer, "I")[0]
    if found not in {_FABRIC_V2, _FABRIC_V3} or (found == _FABRIC_V3 and node.driver < (570,)):
        raise Status(VERSION_MISMATCH)
    _has_fabric(gpu)
    cluster, clique = _cluster(gpu)
    mask = _HEALTH_MASK if gpu.model.fabric else 0
    put(pointer, "I16siIB3xI", found, cluster, 0, clique, _FABRIC_COMPLETED, mask)
    return put(pointer + 36, "B", _FABRIC_HEALTHY if gpu.model.fabric else 0) if found == _FABRIC_V3 else 0


@physical
def _c2c(_node: Node, gpu: SimGpu, pointer: int) -> int:
    """The structure has one member; programs pass it with or without a version in front."""
    return put(pointer, "I", bool(gpu.model.c2c_links))


FUNCTIONS: dict[str, Entry] = {
    "nvmlDeviceGetPcieReplayCounter": getter("I", lambda gpu: gpu.pcie_replays),
    "nvmlDeviceGetCurrPcieLinkGeneration": getter("I", _generation),
    "nvmlDeviceGetMaxPcieLinkGeneration": getter("I", lambda gpu: gpu.model.pcie_generation),
    "nvmlDeviceGetGpuMaxPcieLinkGeneration": getter("I", lambda gpu: gpu.model.pcie_generation),
    "nvmlDeviceGetCurrPcieLinkWidth": getter("I", lambda gpu: 16),
    "nvmlDeviceGetMaxPcieLinkWidth": getter("I", lambda gpu: 16),
    "nvmlDeviceGetPcieLinkMaxSpeed": getter("I", lambda gpu: gpu.model.pcie_generation),
    "nvmlDeviceGetPcieSpeed": getter("I", lambda gpu: _MBPS_BY_GENERATION[_generation(gpu)]),
    "nvmlDeviceGetPcieThroughput": ("pup", _throughput),
    "nvmlDeviceGetNvLinkState": ("pup", _nvlink_state),
    "nvmlDeviceGetNvLinkVersion": ("pup", _nvlink_version),
    "nvmlDeviceGetNvLinkCapability": ("puup", _nvlink_capability),
    "nvmlDeviceGetNvLinkRemotePciInfo_v2": ("pup", _nvlink_remote),
    "nvmlDeviceGetNvLinkRemoteDeviceType": ("pup", _nvlink_remote_type),
    "nvmlDeviceGetNvLinkErrorCounter": ("puup", _nvlink_errors),
    "nvmlDeviceGetGpuFabricInfo": ("pp", _fabric),
    "nvmlDeviceGetGpuFabricInfoV": ("pp", _fabric_v),
    "nvmlDeviceGetC2cModeInfoV": ("pp", _c2c),
}

"""Simulated functions that find GPUs and say what they are."""

from collections.abc import Callable

from gpuscope.simulate.device import SimGpu
from gpuscope.simulate.mig import SimMig
from gpuscope.simulate.node import Node
from gpuscope.simulate.status import ARGUMENT, INSUFFICIENT_SIZE, NOT_FOUND, NOT_SUPPORTED, Status, put, read, text
from gpuscope.simulate.table import Entry, Function, either, getter, physical, refused, system, text_getter

__all__ = ["FUNCTIONS"]

_COMPUTE_DEFAULT, _COMPUTE_EXCLUSIVE = 0, 3
_BRAND_GEFORCE, _BRAND_NVIDIA, _BRAND_TESLA = 5, 14, 2
_SAME_NODE_LEVEL, _SYSTEM_LEVEL = 40, 50
_P2P_NOT_SUPPORTED = 5


@system
def _count(node: Node, pointer: int) -> int:
    return put(pointer, "I", len(node.gpus))


@system
def _by_index(node: Node, index: int, pointer: int) -> int:
    if index >= len(node.gpus):
        raise Status(ARGUMENT)
    return _found(node, node.gpus[index], pointer)


def _found(node: Node, gpu: SimGpu, pointer: int) -> int:
    handle = node.handle_of(gpu)
    node.find(handle)
    return put(pointer, "P", handle)


def _by(matches: Callable[[SimGpu, str], bool]) -> Function:
    @system
    def call(node: Node, wanted: bytes, pointer: int) -> int:
        name = wanted.decode(errors="replace").lower()
        for gpu in node.gpus:
            if matches(gpu, name):
                return _found(node, gpu, pointer)
        raise Status(NOT_FOUND)

    return call


_by_gpu_uuid = _by(lambda gpu, wanted: gpu.uuid.lower() == wanted)


@system
def _by_uuid(node: Node, wanted: bytes, pointer: int) -> int:
    name = wanted.decode(errors="replace").lower()
    for gpu in node.gpus:
        for instance in gpu.mig:
            if instance.uuid.lower() == name:
                return put(pointer, "P", node.handle_of(gpu, instance))
    return _by_gpu_uuid(node, wanted, pointer)


def bus_id(gpu: SimGpu) -> str:
    """PCI address as the kernel writes it."""
    return f"0000:{gpu.bus:02x}:00.0"


@physical
def _pci(_node: Node, gpu: SimGpu, pointer: int) -> int:
    short = bus_id(gpu).upper().encode()
    return put(pointer, "16s5I32s", short, 0, gpu.bus, 0, gpu.model.pci_id, 0x16C110DE, b"0000" + short)


@either
def _index(_node: Node, gpu: SimGpu, instance: SimMig | None, pointer: int) -> int:
    return put(pointer, "I", instance.index if instance else gpu.index)


@either
def _compute_mode(_node: Node, gpu: SimGpu, instance: SimMig | None, pointer: int) -> int:
    exclusive = gpu.doing == "inference" and not gpu.mig_mode
    return put(pointer, "I", _COMPUTE_EXCLUSIVE if exclusive else _COMPUTE_DEFAULT)


@physical
def _numa_node(node: Node, gpu: SimGpu, pointer: int) -> int:
    return put(pointer, "i", _numa(node, gpu))


def _numa(node: Node, gpu: SimGpu) -> int:
    return gpu.index * 2 // max(2, len(node.gpus))


def _level(node: Node, gpu: SimGpu, peer: SimGpu) -> int:
    return _SAME_NODE_LEVEL if _numa(node, peer) == _numa(node, gpu) else _SYSTEM_LEVEL


# Two GPUs are found before anything is written, and neither is locked: nothing here changes with time.
def _ancestor(node: Node, one: int, other: int, pointer: int) -> int:
    return put(pointer, "I", _level(node, node.find(one)[0], node.find(other)[0]))


def _nearest(node: Node, handle: int, level: int, count: int, buffer: int | None) -> int:
    gpu, _ = node.find(handle)
    near = [peer for peer in node.gpus if peer is not gpu and _level(node, gpu, peer) == level]
    room = read(count, "I")[0]
    put(count, "I", len(near))
    if buffer:
        if room < len(near):
            raise Status(INSUFFICIENT_SIZE)
        put(buffer, "P" * len(near), *(node.handle_of(peer) for peer in near))
    return 0


def _p2p(node: Node, one: int, other: int, _index: int, pointer: int) -> int:
    gpu, peer = node.find(one)[0], node.find(other)[0]
    linked = peer is not gpu and gpu.model.nvlinks and not gpu.mig_mode and not peer.mig_mode
    return put(pointer, "I", 0 if linked else _P2P_NOT_SUPPORTED)


def _brand(gpu: SimGpu) -> int:
    if "GeForce" in gpu.model.name:
        return _BRAND_GEFORCE
    return _BRAND_TESLA if gpu.model.arch < 7 else _BRAND_NVIDIA


def _text(value: Callable[[SimGpu], str | None]) -> Entry:
    return text_getter(lambda gpu, instance: None if instance else value(gpu))


@physical
def _inforom_version(_node: Node, gpu: SimGpu, part: int, pointer: int, size: int) -> int:
    known = {0: "2.1", 1: "7.16"}.get(part)
    if known is None:
        raise Status(NOT_SUPPORTED)
    return text(pointer, size, known)


FUNCTIONS: dict[str, Entry] = {
    "nvmlDeviceGetCount_v2": ("p", _count),
    "nvmlDeviceGetHandleByIndex_v2": ("up", _by_index),
    "nvmlDeviceGetHandleByUUID": ("sp", _by_uuid),
    "nvmlDeviceGetHandleBySerial": ("sp", _by(lambda gpu, wanted: gpu.serial == wanted)),
    "nvmlDeviceGetHandleByPciBusId_v2": ("sp", _by(lambda gpu, wanted: wanted.endswith(bus_id(gpu)))),
    "nvmlDeviceGetName": text_getter(
        lambda gpu, instance: gpu.model.name + (f" MIG {instance.profile}" if instance else "")
    ),
    "nvmlDeviceGetUUID": text_getter(lambda gpu, instance: (instance or gpu).uuid),
    "nvmlDeviceGetSerial": _text(lambda gpu: gpu.serial if gpu.model.ecc else None),
    "nvmlDeviceGetVbiosVersion": _text(lambda gpu: f"96.00.89.00.0{gpu.index % 10}"),
    "nvmlDeviceGetBoardPartNumber": _text(lambda gpu: gpu.model.part),
    "nvmlDeviceGetInforomImageVersion": _text(lambda gpu: "G520.0200.00.05"),
    "nvmlDeviceGetInforomVersion": ("pupu", _inforom_version),
    "nvmlDeviceGetPciInfo_v3": ("pp", _pci),
    "nvmlDeviceGetIndex": ("pp", _index),
    "nvmlDeviceGetMinorNumber": getter("I", lambda gpu: gpu.minor),
    "nvmlDeviceGetBrand": getter("I", _brand),
    "nvmlDeviceGetArchitecture": getter("I", lambda gpu: gpu.model.arch),
    "nvmlDeviceGetCudaComputeCapability": getter("ii", lambda gpu: gpu.model.capability),
    "nvmlDeviceGetNumaNodeId": ("pp", _numa_node),
    "nvmlDeviceGetModuleId": getter("I", lambda gpu: gpu.index + 1),
    "nvmlDeviceGetBoardId": getter("I", lambda gpu: gpu.bus << 8),
    "nvmlDeviceGetMultiGpuBoard": getter("I", lambda gpu: 0),
    "nvmlDeviceGetNumGpuCores": getter("I", lambda gpu: gpu.model.sms * 128),
    "nvmlDeviceGetDisplayMode": getter("I", lambda gpu: 0),
    "nvmlDeviceGetDisplayActive": getter("I", lambda gpu: 0),
    "nvmlDeviceGetPersistenceMode": getter("I", lambda gpu: 1),
    "nvmlDeviceGetComputeMode": ("pp", _compute_mode),
    "nvmlDeviceGetTopologyCommonAncestor": ("ppp", _ancestor),
    "nvmlDeviceGetTopologyNearestGpus": ("pupp", _nearest),
    "nvmlDeviceGetP2PStatus": ("ppup", _p2p),
    # Windows only; Linux drivers have the symbols and refuse.
    "nvmlDeviceGetDriverModel": refused(NOT_SUPPORTED, "ppp"),
    "nvmlDeviceGetDriverModel_v2": refused(NOT_SUPPORTED, "ppp"),
}

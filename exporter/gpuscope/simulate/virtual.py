"""Simulated functions of virtual GPUs and of protected memory."""

from gpuscope.simulate.device import SimGpu
from gpuscope.simulate.node import Node
from gpuscope.simulate.status import INSUFFICIENT_SIZE, NOT_SUPPORTED, Status, put, read
from gpuscope.simulate.table import Entry, getter, physical

__all__ = ["FUNCTIONS"]

_HOST_VGPU = 3


@physical
def _protected(_node: Node, gpu: SimGpu, pointer: int) -> int:
    if not gpu.plan.confidential:
        return put(pointer, "QQQ", 0, 0, 0)
    total, used = gpu.model.memory // 2, gpu.used_memory() // 2
    return put(pointer, "QQQ", total, total - used, used)


@physical
def _licence(_node: Node, gpu: SimGpu, pointer: int) -> int:
    return put(pointer, "iIII", 1, 1, 1, 1)


@physical
def _vgpus(_node: Node, gpu: SimGpu, count: int, buffer: int | None) -> int:
    if gpu.plan.virtualization < _HOST_VGPU:
        raise Status(NOT_SUPPORTED)
    present = (3251634213, 3251634214)
    room = read(count, "I")[0]
    put(count, "I", len(present))
    if not buffer or room < len(present):
        raise Status(INSUFFICIENT_SIZE)
    return put(buffer, "II", *present)


FUNCTIONS: dict[str, Entry] = {
    "nvmlDeviceGetConfComputeProtectedMemoryUsage": ("pp", _protected),
    "nvmlDeviceGetVirtualizationMode": getter("I", lambda gpu: gpu.plan.virtualization),
    "nvmlDeviceGetGridLicensableFeatures_v4": ("pp", _licence),
    "nvmlDeviceGetActiveVgpus": ("ppp", _vgpus),
}

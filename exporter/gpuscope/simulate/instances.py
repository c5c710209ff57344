"""Simulated functions of MIG devices, and of memory, which they have a part of."""

from collections.abc import Callable

from gpuscope.simulate.device import SimGpu
from gpuscope.simulate.mig import SimMig
from gpuscope.simulate.node import Node
from gpuscope.simulate.status import ARGUMENT, NO_PERMISSION, NOT_FOUND, NOT_SUPPORTED, Status, put, version
from gpuscope.simulate.table import Entry, either, getter, physical, refused

__all__ = ["FUNCTIONS"]

_MEMORY_V2 = 0x02000028
_BLANK_ULL = 0x7FFFFFFFFFFFFFF2
_BAR1_USED = 6 << 20


@physical
def _mig_mode(_node: Node, gpu: SimGpu, current: int, pending: int) -> int:
    if not gpu.model.mig_slices:
        raise Status(NOT_SUPPORTED)
    put(current, "I", gpu.mig_mode)
    return put(pending, "I", gpu.mig_mode)


@physical
def _mig_by_index(node: Node, gpu: SimGpu, index: int, pointer: int) -> int:
    if not gpu.model.mig_slices:
        raise Status(NOT_SUPPORTED)
    if index >= gpu.model.mig_slices:
        raise Status(ARGUMENT)
    for instance in gpu.mig:
        if instance.index == index:
            return put(pointer, "P", node.handle_of(gpu, instance))
    raise Status(NOT_FOUND)


@either
def _parent(node: Node, gpu: SimGpu, instance: SimMig | None, pointer: int) -> int:
    if instance is None:
        raise Status(ARGUMENT)
    return put(pointer, "P", node.handle_of(gpu))


@either
def _is_mig(_node: Node, gpu: SimGpu, instance: SimMig | None, pointer: int) -> int:
    return put(pointer, "I", instance is not None)


def _instance_id(value: Callable[[SimMig], int]) -> Entry:
    @either
    def call(_node: Node, gpu: SimGpu, instance: SimMig | None, pointer: int) -> int:
        if instance is None:
            raise Status(NOT_SUPPORTED)
        return put(pointer, "I", value(instance))

    return "pp", call


@either
def _attributes(_node: Node, gpu: SimGpu, instance: SimMig | None, pointer: int) -> int:
    if instance is None:
        raise Status(NOT_SUPPORTED)
    sms = gpu.model.sms * instance.ci_slices // 8
    part = instance.slices
    flow = int(part == 7 or "+me" in instance.plan.profile)
    return put(
        pointer, "8IQ", sms, part, part, 0, part, flow, part, instance.ci_slices, instance.memory >> 20
    )  # fmt: skip


@either
def _bar1(_node: Node, gpu: SimGpu, instance: SimMig | None, pointer: int) -> int:
    total = gpu.model.bar1 // 8 * instance.plan.memory_slices if instance else gpu.model.bar1
    return put(pointer, "QQQ", total, total - _BAR1_USED, _BAR1_USED)


@either
def _memory(_node: Node, gpu: SimGpu, instance: SimMig | None, pointer: int) -> int:
    """Version 1 counts what the driver reserves as used."""
    total, reserved, used = _amounts(gpu, instance)
    return put(pointer, "QQQ", total, total - used - reserved, used + reserved)


@either
def _memory_v2(node: Node, gpu: SimGpu, instance: SimMig | None, pointer: int) -> int:
    found = version(pointer, _MEMORY_V2)
    total, reserved, used = _amounts(gpu, instance)
    free = total - used - reserved
    if node.blank and gpu.index == 2:
        free, used = 0, _BLANK_ULL
    return put(pointer, "IQQQQ", found, total, reserved, free, used)


def _amounts(gpu: SimGpu, instance: SimMig | None) -> tuple[int, int, int]:
    if instance is not None:
        return instance.memory, 0, gpu.used_memory(instance)
    return gpu.model.memory, gpu.model.reserved, gpu.used_memory()


FUNCTIONS: dict[str, Entry] = {
    "nvmlDeviceGetMigMode": ("ppp", _mig_mode),
    "nvmlDeviceGetMaxMigDeviceCount": getter("I", lambda gpu: gpu.model.mig_slices),
    "nvmlDeviceGetMigDeviceHandleByIndex": ("pup", _mig_by_index),
    "nvmlDeviceGetDeviceHandleFromMigDeviceHandle": ("pp", _parent),
    "nvmlDeviceIsMigDeviceHandle": ("pp", _is_mig),
    "nvmlDeviceGetGpuInstanceId": _instance_id(lambda instance: instance.gi),
    "nvmlDeviceGetComputeInstanceId": _instance_id(lambda instance: instance.ci),
    "nvmlDeviceGetAttributes_v2": ("pp", _attributes),
    # These ask for the mig/config capability, which no monitor has.
    "nvmlDeviceGetGpuInstances": refused(NO_PERMISSION, "pupp"),
    "nvmlDeviceGetGpuInstanceById": refused(NO_PERMISSION, "pup"),
    "nvmlDeviceGetGpuInstanceRemainingCapacity": refused(NO_PERMISSION, "pup"),
    "nvmlDeviceGetBAR1MemoryInfo": ("pp", _bar1),
    "nvmlDeviceGetMemoryInfo": ("pp", _memory),
    "nvmlDeviceGetMemoryInfo_v2": ("pp", _memory_v2),
}

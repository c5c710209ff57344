"""Simulated functions without a device, and those that find and name devices."""

from typing import Any

from gpuscope.simulate.device import SimGpu, SimMig
from gpuscope.simulate.node import Node
from gpuscope.simulate.status import (
    ARGUMENT,
    INSUFFICIENT_SIZE,
    MISMATCH,
    NO_PERMISSION,
    NOT_FOUND,
    NOT_LOADED,
    NOT_SUPPORTED,
    UNINITIALIZED,
    Status,
    put,
    read,
)
from gpuscope.simulate.table import Entry, either, getter, physical

__all__ = ["FUNCTIONS"]

_ERRORS = {
    0: b"Success", 1: b"Uninitialized", 2: b"Invalid Argument", 3: b"Not Supported", 4: b"Insufficient Permissions",
    6: b"Not Found", 7: b"Insufficient Size", 9: b"Driver Not Loaded", 10: b"Timeout", 13: b"Function Not Found",
    15: b"GPU is lost", 16: b"GPU requires reset", 18: b"Driver/library version mismatch",
}  # fmt: skip


def error_string(code: int) -> bytes:
    """nvmlErrorString."""
    return _ERRORS.get(code, b"Unknown Error")


def _init(node: Node, *_flags: int) -> int:
    node.tick()
    if node.mismatch:
        raise Status(MISMATCH)
    if not node.present:
        raise Status(NOT_LOADED)
    node.initialized = True
    return 0


def _shutdown(node: Node) -> int:
    if not node.initialized:
        raise Status(UNINITIALIZED)
    node.initialized = False
    node.event_sets.clear()
    return 0


def _up(node: Node) -> None:
    node.tick()
    if not node.initialized:
        raise Status(UNINITIALIZED)


def text(pointer: int, size: int, value: str) -> int:
    """Writes a C string into a buffer of ``size`` bytes."""
    data = value.encode() + b"\0"
    if len(data) > size:
        raise Status(INSUFFICIENT_SIZE)
    return put(pointer, f"{len(data)}s", data)


def _driver_version(node: Node, pointer: int, size: int) -> int:
    _up(node)
    return text(pointer, size, node.version)


def _nvml_version(node: Node, pointer: int, size: int) -> int:
    _up(node)
    return text(pointer, size, f"{node.scenario.driver['cuda'] // 1000}.{node.version}")


def _cuda_version(node: Node, pointer: int) -> int:
    _up(node)
    return put(pointer, "i", node.scenario.driver["cuda"])


def _process_name(node: Node, pid: int, pointer: int, size: int) -> int:
    _up(node)
    for gpu in node.gpus:
        for number, _, instance in gpu.processes():
            if number == pid:
                job = instance.plan.job if instance else gpu.kind
                return text(pointer, size, f"/opt/conda/bin/python3 {job}.py")
    raise Status(NOT_FOUND)


def _cc_state(node: Node, pointer: int) -> int:
    _up(node)
    if not any(gpu.plan.confidential for gpu in node.gpus):
        raise Status(NOT_SUPPORTED)
    return put(pointer, "III", 1, 1, 0)


def _cc_ready(node: Node, pointer: int) -> int:
    _up(node)
    return put(pointer, "I", 1)


def _count(node: Node, pointer: int) -> int:
    _up(node)
    return put(pointer, "I", len(node.gpus))


def _by_index(node: Node, index: int, pointer: int) -> int:
    _up(node)
    if index >= len(node.gpus):
        raise Status(ARGUMENT)
    handle = node.handle_of(node.gpus[index])
    node.find(handle)
    return put(pointer, "P", handle)


def _by(matches: Any) -> Any:
    def call(node: Node, wanted: bytes, pointer: int) -> int:
        _up(node)
        for gpu in node.gpus:
            if matches(gpu, wanted.decode().lower()):
                handle = node.handle_of(gpu)
                node.find(handle)
                return put(pointer, "P", handle)
            for instance in gpu.mig:
                if instance.uuid.lower() == wanted.decode().lower():
                    return put(pointer, "P", node.handle_of(gpu, instance))
        raise Status(NOT_FOUND)

    return call


@either
def _name(_node: Node, gpu: SimGpu, instance: SimMig | None, pointer: int, size: int) -> int:
    return text(pointer, size, gpu.model.name + (f" MIG {instance.profile}" if instance else ""))


@either
def _uuid(_node: Node, gpu: SimGpu, instance: SimMig | None, pointer: int, size: int) -> int:
    return text(pointer, size, instance.uuid if instance else gpu.uuid)


def _text_getter(value: Any) -> Entry:
    @physical
    def call(_node: Node, gpu: SimGpu, pointer: int, size: int) -> int:
        return text(pointer, size, value(gpu))

    return "ppu", call


@physical
def _pci(_node: Node, gpu: SimGpu, pointer: int) -> int:
    legacy, full = f"0000:{gpu.bus:02X}:00.0".encode(), f"00000000:{gpu.bus:02X}:00.0".encode()
    return put(pointer, "16sIIIII32s", legacy, 0, gpu.bus, 0, 0x233010DE, 0x16C110DE, full)


@either
def _index(_node: Node, gpu: SimGpu, instance: SimMig | None, pointer: int) -> int:
    return put(pointer, "I", instance.index if instance else gpu.index)


@physical
def _mig_mode(_node: Node, gpu: SimGpu, current: int, pending: int) -> int:
    if not gpu.model.mig_slices:
        raise Status(NOT_SUPPORTED)
    put(current, "I", gpu.mig_mode)
    return put(pending, "I", gpu.mig_mode)


@physical
def _mig_by_index(node: Node, gpu: SimGpu, index: int, pointer: int) -> int:
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


def _instance_id(value: Any) -> Entry:
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
    return put(
        pointer, "8IQ", sms, part, part, 0, part, int(part == 7), part, instance.ci_slices, instance.memory >> 20
    )  # fmt: skip


@either
def _bar1(_node: Node, gpu: SimGpu, instance: SimMig | None, pointer: int) -> int:
    total = gpu.model.bar1 // 8 * instance.slices if instance else gpu.model.bar1
    used = 6 << 20
    return put(pointer, "QQQ", total, total - used, used)


@either
def _memory(node: Node, gpu: SimGpu, instance: SimMig | None, pointer: int) -> int:
    total, reserved, used = _amounts(gpu, instance)
    return put(pointer, "QQQ", total, total - used - reserved, used + reserved)


@either
def _memory_v2(node: Node, gpu: SimGpu, instance: SimMig | None, pointer: int) -> int:
    if read(pointer, "I")[0] != 0x02000028:
        raise Status(25)
    total, reserved, used = _amounts(gpu, instance)
    if node.blank and gpu.index == 2:
        used = 0x7FFFFFFFFFFFFFF2
        return put(pointer, "IQQQQ", 0x02000028, total, reserved, 0, used)
    return put(pointer, "IQQQQ", 0x02000028, total, reserved, total - used - reserved, used)


def _amounts(gpu: SimGpu, instance: SimMig | None) -> tuple[int, int, int]:
    if instance is not None:
        return instance.memory, 0, gpu.used_memory(instance)
    return gpu.model.memory, gpu.model.reserved, gpu.used_memory()


def _refused(_node: Node, *_args: Any) -> int:
    raise Status(NO_PERMISSION)


FUNCTIONS: dict[str, Entry] = {
    "nvmlInitWithFlags": ("u", _init),
    "nvmlInit_v2": ("", _init),
    "nvmlShutdown": ("", _shutdown),
    "nvmlSystemGetDriverVersion": ("pu", _driver_version),
    "nvmlSystemGetNVMLVersion": ("pu", _nvml_version),
    "nvmlSystemGetCudaDriverVersion": ("p", _cuda_version),
    "nvmlSystemGetCudaDriverVersion_v2": ("p", _cuda_version),
    "nvmlSystemGetProcessName": ("upu", _process_name),
    "nvmlSystemGetConfComputeState": ("p", _cc_state),
    "nvmlSystemGetConfComputeGpusReadyState": ("p", _cc_ready),
    "nvmlDeviceGetCount_v2": ("p", _count),
    "nvmlDeviceGetHandleByIndex_v2": ("up", _by_index),
    "nvmlDeviceGetHandleByUUID": ("sp", _by(lambda gpu, wanted: gpu.uuid.lower() == wanted)),
    "nvmlDeviceGetHandleBySerial": ("sp", _by(lambda gpu, wanted: gpu.serial == wanted)),
    "nvmlDeviceGetHandleByPciBusId_v2": ("sp", _by(lambda gpu, wanted: wanted.endswith(f"{gpu.bus:02x}:00.0"))),
    "nvmlDeviceGetName": ("ppu", _name),
    "nvmlDeviceGetUUID": ("ppu", _uuid),
    "nvmlDeviceGetSerial": _text_getter(lambda gpu: gpu.serial),
    "nvmlDeviceGetVbiosVersion": _text_getter(lambda gpu: "96.00.89.00.0" + str(gpu.index % 10)),
    "nvmlDeviceGetBoardPartNumber": _text_getter(lambda gpu: gpu.model.part),
    "nvmlDeviceGetInforomImageVersion": _text_getter(lambda gpu: "G520.0200.00.05"),
    "nvmlDeviceGetPciInfo_v3": ("pp", _pci),
    "nvmlDeviceGetIndex": ("pp", _index),
    "nvmlDeviceGetMinorNumber": getter("I", lambda gpu: gpu.minor),
    "nvmlDeviceGetBrand": getter("I", lambda gpu: 5 if "GeForce" in gpu.model.name else 2),
    "nvmlDeviceGetArchitecture": getter("I", lambda gpu: gpu.model.arch),
    "nvmlDeviceGetCudaComputeCapability": getter("ii", lambda gpu: gpu.model.capability),
    "nvmlDeviceGetNumaNodeId": getter("i", lambda gpu: gpu.index // 4),
    "nvmlDeviceGetModuleId": getter("I", lambda gpu: gpu.index + 1),
    "nvmlDeviceGetBoardId": getter("I", lambda gpu: gpu.bus << 8),
    "nvmlDeviceGetMultiGpuBoard": getter("I", lambda gpu: 0),
    "nvmlDeviceGetNumGpuCores": getter("I", lambda gpu: gpu.model.sms * 128),
    "nvmlDeviceGetDisplayMode": getter("I", lambda gpu: 0),
    "nvmlDeviceGetDisplayActive": getter("I", lambda gpu: 0),
    "nvmlDeviceGetPersistenceMode": getter("I", lambda gpu: 1),
    "nvmlDeviceGetComputeMode": getter("I", lambda gpu: 3 if gpu.kind == "inference" else 0),
    "nvmlDeviceGetMigMode": ("ppp", _mig_mode),
    "nvmlDeviceGetMaxMigDeviceCount": getter("I", lambda gpu: gpu.model.mig_slices + 1 if gpu.model.mig_slices else 0),
    "nvmlDeviceGetMigDeviceHandleByIndex": ("pup", _mig_by_index),
    "nvmlDeviceGetDeviceHandleFromMigDeviceHandle": ("pp", _parent),
    "nvmlDeviceIsMigDeviceHandle": ("pp", _is_mig),
    "nvmlDeviceGetGpuInstanceId": _instance_id(lambda instance: instance.gi),
    "nvmlDeviceGetComputeInstanceId": _instance_id(lambda instance: instance.ci),
    "nvmlDeviceGetAttributes_v2": ("pp", _attributes),
    "nvmlDeviceGetGpuInstances": ("pupp", _refused),
    "nvmlDeviceGetGpuInstanceById": ("pup", _refused),
    "nvmlDeviceGetBAR1MemoryInfo": ("pp", _bar1),
    "nvmlDeviceGetMemoryInfo": ("pp", _memory),
    "nvmlDeviceGetMemoryInfo_v2": ("pp", _memory_v2),
}

"""Simulated functions without a device: the session, versions, confidential computing."""

import ctypes

from gpuscope.simulate.node import Node
from gpuscope.simulate.status import (
    MISMATCH,
    NOT_FOUND,
    NOT_LOADED,
    NOT_SUPPORTED,
    UNINITIALIZED,
    Status,
    put,
    text,
    version,
)
from gpuscope.simulate.table import Entry, system

__all__ = ["FUNCTIONS", "error_string"]

_ERRORS = {
    0: b"Success", 1: b"Uninitialized", 2: b"Invalid Argument", 3: b"Not Supported", 4: b"Insufficient Permissions",
    6: b"Not Found", 7: b"Insufficient Size", 9: b"Driver Not Loaded", 10: b"Timeout", 13: b"Function Not Found",
    15: b"GPU is lost", 16: b"GPU requires reset", 18: b"Driver/library version mismatch", 21: b"No data",
    25: b"Argument version mismatch",
}  # fmt: skip
_TEXTS = {code: ctypes.create_string_buffer(words) for code, words in _ERRORS.items()}
_UNKNOWN_TEXT = ctypes.create_string_buffer(b"Unknown Error")
_SETTINGS_V1 = 0x01000014
_CPU_INTEL_TDX, _GPU_CAPABLE = 2, 1


def error_string(code: int) -> int:
    """nvmlErrorString: the address of a text that lives as long as this module."""
    return ctypes.addressof(_TEXTS.get(code, _UNKNOWN_TEXT))


def _init(node: Node, *_flags: int) -> int:
    node.tick()
    if node.mismatch:
        raise Status(MISMATCH)
    if not node.present:
        raise Status(NOT_LOADED)
    node.sessions += 1
    return 0


def _shutdown(node: Node) -> int:
    if not node.initialized:
        raise Status(UNINITIALIZED)
    node.sessions -= 1
    if node.sessions == 0:
        node.interrupt(UNINITIALIZED)
        node.event_sets.clear()
    return 0


@system
def _driver_version(node: Node, pointer: int, size: int) -> int:
    return text(pointer, size, node.version)


@system
def _nvml_version(node: Node, pointer: int, size: int) -> int:
    driver = node.scenario.driver
    return text(pointer, size, driver.get("nvml") or f"{driver['cuda'] // 1000}.{node.version}")


@system
def _cuda_version(node: Node, pointer: int) -> int:
    return put(pointer, "i", node.scenario.driver["cuda"])


@system
def _process_name(node: Node, pid: int, pointer: int, size: int) -> int:
    for gpu in node.gpus:
        with gpu.lock:
            kinds = {process.pid: process.kind for process in gpu.processes()}
        if pid in kinds:
            return text(pointer, size, f"/opt/conda/bin/python3 {kinds[pid]}.py")
    raise Status(NOT_FOUND)


def _confidential(node: Node) -> bool:
    return any(gpu.plan.confidential for gpu in node.gpus)


@system
def _cc_capabilities(node: Node, pointer: int) -> int:
    if not any(gpu.model.arch >= 9 for gpu in node.gpus):
        raise Status(NOT_SUPPORTED)
    return put(pointer, "II", _CPU_INTEL_TDX if _confidential(node) else 0, _GPU_CAPABLE)


@system
def _cc_state(node: Node, pointer: int) -> int:
    if not _confidential(node):
        raise Status(NOT_SUPPORTED)
    return put(pointer, "III", 1, 1, 0)


@system
def _cc_settings(node: Node, pointer: int) -> int:
    found = version(pointer, _SETTINGS_V1)
    if not _confidential(node):
        raise Status(NOT_SUPPORTED)
    return put(pointer, "5I", found, 1, 1, 0, 0)


@system
def _cc_ready(node: Node, pointer: int) -> int:
    return put(pointer, "I", 1)


FUNCTIONS: dict[str, Entry] = {
    "nvmlInitWithFlags": ("u", _init),
    "nvmlInit_v2": ("", _init),
    "nvmlShutdown": ("", _shutdown),
    "nvmlSystemGetDriverVersion": ("pu", _driver_version),
    "nvmlSystemGetNVMLVersion": ("pu", _nvml_version),
    "nvmlSystemGetCudaDriverVersion": ("p", _cuda_version),
    "nvmlSystemGetCudaDriverVersion_v2": ("p", _cuda_version),
    "nvmlSystemGetProcessName": ("upu", _process_name),
    "nvmlSystemGetConfComputeCapabilities": ("p", _cc_capabilities),
    "nvmlSystemGetConfComputeState": ("p", _cc_state),
    "nvmlSystemGetConfComputeSettings": ("p", _cc_settings),
    "nvmlSystemGetConfComputeGpusReadyState": ("p", _cc_ready),
}

"""Structs that some bindings lack, and constants of nvml.h that calls need; layouts as in nvml.h."""

from ctypes import Structure, byref, c_int, c_uint, c_uint8, c_ulonglong
from typing import Any

__all__ = [
    "MEMORY_V2",
    "SAMPLES_GPU_UTILIZATION",
    "FabricInfoV2",
    "FabricInfoV3",
    "SramEccErrorStatus",
    "reference",
    "value_of",
]

MEMORY_V2 = 0x02000028
SAMPLES_GPU_UTILIZATION = 1
_VALUE_MEMBERS = {0: "dVal", 1: "uiVal", 2: "ulVal", 3: "ullVal", 4: "sllVal", 5: "siVal", 6: "usVal"}


class FabricInfoV2(Structure):
    """nvmlGpuFabricInfo_v2_t, 36 bytes."""

    _fields_ = (
        ("version", c_uint),
        ("clusterUuid", c_uint8 * 16),
        ("status", c_int),
        ("cliqueId", c_uint),
        ("state", c_uint8),
        ("healthMask", c_uint),
    )

    def __init__(self) -> None:
        super().__init__(version=0x02000024)


class FabricInfoV3(Structure):
    """nvmlGpuFabricInfo_v3_t, 40 bytes."""

    _fields_ = (*FabricInfoV2._fields_, ("healthSummary", c_uint8))

    def __init__(self) -> None:
        super().__init__(version=0x03000028)


class SramEccErrorStatus(Structure):
    """nvmlEccSramErrorStatus_v1_t, 104 bytes; all counts over the life of the board unless named volatile."""

    _fields_ = (
        ("version", c_uint),
        ("aggregateUncParity", c_ulonglong),
        ("aggregateUncSecDed", c_ulonglong),
        ("aggregateCor", c_ulonglong),
        ("volatileUncParity", c_ulonglong),
        ("volatileUncSecDed", c_ulonglong),
        ("volatileCor", c_ulonglong),
        ("aggregateUncBucketL2", c_ulonglong),
        ("aggregateUncBucketSm", c_ulonglong),
        ("aggregateUncBucketPcie", c_ulonglong),
        ("aggregateUncBucketMcu", c_ulonglong),
        ("aggregateUncBucketOther", c_ulonglong),
        ("bThresholdExceeded", c_uint),
    )

    def __init__(self) -> None:
        super().__init__(version=0x01000068)


def reference(struct: Structure) -> Any:
    """A pointer to a struct, for the binding's functions that hand it on as it is."""
    return byref(struct)


def value_of(union: Any, value_type: int) -> float:
    """The member of an nvmlValue_t that ``value_type`` (nvmlValueType_t) says is filled."""
    value: float = getattr(union, _VALUE_MEMBERS.get(value_type, "ullVal"))
    return value

"""dcgm-exporter's default series: names, types and units as it has them, and which of our readings each comes from.

Source: ``etc/default-counters.csv`` of dcgm-exporter 4.0 to 4.8; https://github.com/NVIDIA/dcgm-exporter. Its 26th
entry, ``DCGM_FI_DRIVER_VERSION``, is a label of all the others.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from gpuscope.catalogue import activity, clocks, memory, nvlink, pcie, power, remapping, temperature, utilization, vgpu
from gpuscope.catalogue.metric import Metric
from gpuscope.catalogue.xid import XID_LAST

__all__ = ["FAMILIES", "PREFIX", "Family", "Scope"]

PREFIX = "DCGM_FI_"


_NO_GUEST = ("none", "passthrough", "host_vgpu", "host_vsga")


class Scope(StrEnum):
    """What happens to a series while MIG is on; the words stand in the documentation."""

    GPU = "absent"
    SHARED = "the GPU's, on each instance"
    INSTANCE = "per instance"


def _same(value: float) -> float:
    return value


def _whole(value: float) -> float:
    return round(value)


def _percent(value: float) -> float:
    return round(value * 100)


def _megahertz(value: float) -> float:
    return round(value / 1e6)


def _mebibytes(value: float) -> float:
    return math.floor(value / (1 << 20))  # DCGM divides whole numbers


def _millijoules(value: float) -> float:
    return round(value * 1000)


def _kibibytes_thousand(value: float) -> float:
    return round(value / 1024 / 1000)  # DCGM takes the driver's KiB for kB; boards know its numbers


@dataclass(frozen=True, slots=True, eq=False)
class Family:
    """One family of dcgm-exporter.

    Attributes:
        name: DCGM's name of the field, which is the metric's.
        kind: type in the classic format.
        unit: unit of the value, for the documentation.
        help: help text.
        metric: our metric of the whole GPU.
        labels: values of our metric's extra labels, for each of our series; several are added up.
        instance: our metric of a MIG instance, with ``Scope.INSTANCE``.
        scope: behaviour while MIG is on.
        convert: from our unit to DCGM's.
        rate: the value is the rate of our counter between its last two readings.
        zero: where our metric is absent, one of these series of ours says that the value is 0.
    """

    name: str
    kind: str
    unit: str
    help: str
    metric: Metric
    labels: tuple[tuple[str, ...], ...] = ((),)
    instance: Metric | None = None
    scope: Scope = Scope.SHARED
    convert: Callable[[float], float] = _same
    rate: bool = False
    zero: tuple[tuple[Metric, tuple[str, ...]], ...] = ()


FAMILIES: tuple[Family, ...] = (
    Family("DEV_SM_CLOCK", "gauge", "MHz", "Clock of the SMs in MHz.",
           clocks.CLOCK, (("sm",),), convert=_megahertz),
    Family("DEV_MEM_CLOCK", "gauge", "MHz", "Clock of the memory in MHz.",
           clocks.CLOCK, (("memory",),), convert=_megahertz),
    Family("DEV_MEMORY_TEMP", "gauge", "°C", "Temperature of the memory in degrees Celsius.",
           temperature.TEMPERATURE, (("memory",),)),
    Family("DEV_GPU_TEMP", "gauge", "°C", "Temperature of the GPU in degrees Celsius.",
           temperature.TEMPERATURE, (("gpu",),)),
    Family("DEV_POWER_USAGE", "gauge", "W", "Power that the board draws, in watts.",
           power.POWER),
    Family("DEV_TOTAL_ENERGY_CONSUMPTION", "counter", "mJ", "Energy since the driver was loaded, in millijoules.",
           power.ENERGY, convert=_millijoules),
    Family("DEV_PCIE_REPLAY_COUNTER", "counter", "", "Packets that had to be sent again over PCIe.",
           pcie.REPLAYS),
    Family("DEV_GPU_UTIL", "gauge", "%", "Share of time in which a kernel ran, in percent.",
           utilization.UTILIZATION, scope=Scope.GPU, convert=_percent),
    Family("DEV_MEM_COPY_UTIL", "gauge", "%", "Share of time in which memory was read or written, in percent.",
           utilization.MEMORY_CONTROLLER, scope=Scope.GPU, convert=_percent),
    Family("DEV_ENC_UTIL", "gauge", "%", "Share of time in which the video encoders were busy, in percent.",
           utilization.ENGINE, (("encoder",),), scope=Scope.GPU, convert=_percent),
    Family("DEV_DEC_UTIL", "gauge", "%", "Share of time in which the video decoders were busy, in percent.",
           utilization.ENGINE, (("decoder",),), scope=Scope.GPU, convert=_percent),
    Family("DEV_XID_ERRORS", "gauge", "code", "Code of the last XID error, 0 before the first. Not a count.",
           XID_LAST),
    Family("DEV_FB_FREE", "gauge", "MiB", "Free frame buffer in MiB.",
           memory.FREE, instance=memory.MIG_FREE, scope=Scope.INSTANCE, convert=_mebibytes),
    Family("DEV_FB_USED", "gauge", "MiB", "Used frame buffer in MiB, without what the driver reserves.",
           memory.USED, instance=memory.MIG_USED, scope=Scope.INSTANCE, convert=_mebibytes),
    Family("DEV_FB_RESERVED", "gauge", "MiB", "Frame buffer that the driver reserves, in MiB.",
           memory.RESERVED, instance=memory.MIG_RESERVED, scope=Scope.INSTANCE, convert=_mebibytes),
    Family("DEV_NVLINK_BANDWIDTH_TOTAL", "counter", "MB/s",
           "Traffic over all NVLinks, both directions, in MB/s. A rate, though its type says otherwise.",
           nvlink.BYTES, (("tx",), ("rx",)), scope=Scope.GPU, convert=_kibibytes_thousand, rate=True),
    Family("DEV_VGPU_LICENSE_STATUS", "gauge", "0/1", "1 while a vGPU guest holds its license.",
           vgpu.LICENSED,
           zero=tuple((vgpu.VIRTUALIZATION_INFO, (mode,)) for mode in _NO_GUEST)),
    Family("DEV_UNCORRECTABLE_REMAPPED_ROWS", "counter", "", "Memory rows remapped after uncorrectable errors.",
           remapping.ROWS, (("uncorrected",),), scope=Scope.GPU),
    Family("DEV_CORRECTABLE_REMAPPED_ROWS", "counter", "", "Memory rows remapped after correctable errors.",
           remapping.ROWS, (("corrected",),), scope=Scope.GPU),
    Family("DEV_ROW_REMAP_FAILURE", "gauge", "0/1", "1 once a row could not be remapped.",
           remapping.FAILED, scope=Scope.GPU),
    Family("PROF_GR_ENGINE_ACTIVE", "gauge", "0–1", "Share of time in which the graphics engine was active.",
           activity.GRAPHICS_RATIO, instance=activity.MIG_GRAPHICS_RATIO, scope=Scope.INSTANCE),
    Family("PROF_PIPE_TENSOR_ACTIVE", "gauge", "0–1", "Share of cycles in which the tensor pipes were active.",
           activity.TENSOR_RATIO, instance=activity.MIG_TENSOR_RATIO, scope=Scope.INSTANCE),
    Family("PROF_DRAM_ACTIVE", "gauge", "0–1", "Share of cycles in which the memory interface was active.",
           activity.DRAM_RATIO, instance=activity.MIG_DRAM_RATIO, scope=Scope.INSTANCE),
    Family("PROF_PCIE_TX_BYTES", "gauge", "B/s", "Bytes per second that the GPU sends over PCIe.",
           pcie.BYTES, (("tx",),), scope=Scope.GPU, convert=_whole, rate=True),
    Family("PROF_PCIE_RX_BYTES", "gauge", "B/s", "Bytes per second that the GPU receives over PCIe.",
           pcie.BYTES, (("rx",),), scope=Scope.GPU, convert=_whole, rate=True),
)  # fmt: skip
"""In dcgm-exporter's order."""

"""The fields of dcgm-exporter: their names before and since DCGM 4.6, and what a device says for each.

Sources: default-counters.csv and dcp-metrics-included.csv of dcgm-exporter, dcgm_fields.h of DCGM 4.6.0.
"""

from collections.abc import Callable
from dataclasses import dataclass

from gpuscope.simulate.cluster.machine import Device
from gpuscope.simulate.model import MIB

__all__ = ["FIELDS", "Field"]

_Value = Callable[[Device, float], float | None]


@dataclass(frozen=True, slots=True)
class Field:
    """One field.

    Attributes:
        classic: name before DCGM 4.6, without ``DCGM_FI_``.
        modern: name since then, empty where it stayed.
        counter: whether its TYPE line says counter.
        text: its HELP line.
        value: of a device, given seconds for which counters had counted before; ``None``: the device has none.
    """

    classic: str
    modern: str
    counter: bool
    text: str
    value: _Value

    def name(self, *, modern: bool) -> str:
        """The name in an exposition."""
        return f"DCGM_FI_{self.modern if modern and self.modern else self.classic}"


def _whole(value: Callable[[Device], float]) -> _Value:
    return lambda device, _: None if device.instance else value(device)


def _gpu(value: Callable[[Device], float]) -> _Value:
    return lambda device, _: value(device)


def _load(name: str, share: float = 1.0) -> _Value:
    return lambda device, _: share * float(getattr((device.instance or device.gpu).load, name))


def _grown(value: Callable[[Device], float], per_second: Callable[[Device], float]) -> _Value:
    """A counter that had counted before the story began."""
    return lambda device, ago: int(value(device) + per_second(device) * ago)


def _used(device: Device) -> float:
    return device.gpu.used_memory(device.instance) // MIB


def _reserved(device: Device) -> float:
    return 0 if device.instance else device.gpu.model.reserved // MIB


def _total(device: Device) -> float:
    return (device.instance.memory if device.instance else device.gpu.model.memory) // MIB


def _nvlink_rate(device: Device) -> float:
    return device.gpu.load.nvlink


FIELDS = (
    Field("DEV_SM_CLOCK", "", False, "SM clock frequency (in MHz).", _gpu(lambda d: round(d.gpu.clock))),
    Field("DEV_MEM_CLOCK", "", False, "Memory clock frequency (in MHz).", _gpu(lambda d: d.gpu.model.memory_clock)),
    Field("DEV_MEMORY_TEMP", "DEV_MEMORY_TEMP_CELSIUS", False, "Memory temperature (in C).",
          _gpu(lambda d: round(d.gpu.temperature + 6))),
    Field("DEV_GPU_TEMP", "DEV_GPU_TEMP_CELSIUS", False, "GPU temperature (in C).",
          _gpu(lambda d: round(d.gpu.temperature))),
    Field("DEV_SLOWDOWN_TEMP", "DEV_GPU_TEMP_SLOWDOWN_CELSIUS", False, "Slowdown temperature for the device.",
          _gpu(lambda d: d.gpu.model.slowdown)),
    Field("DEV_SHUTDOWN_TEMP", "DEV_GPU_TEMP_SHUTDOWN_CELSIUS", False, "Shutdown temperature for the device.",
          _gpu(lambda d: d.gpu.model.shutdown)),
    Field("DEV_POWER_USAGE", "DEV_BOARD_POWER_WATTS", False, "Power draw (in W).",
          _gpu(lambda d: round(d.gpu.power, 3))),
    Field("DEV_ENFORCED_POWER_LIMIT", "DEV_BOARD_POWER_LIMIT_ENFORCED_WATTS", False, "Power limit (in W).",
          _gpu(lambda d: d.gpu.model.power_limit)),
    Field("DEV_POWER_MGMT_LIMIT", "DEV_BOARD_POWER_LIMIT_REQUESTED_WATTS", False, "Power limit asked for (in W).",
          _gpu(lambda d: d.gpu.model.power_limit)),
    Field("DEV_TOTAL_ENERGY_CONSUMPTION", "", True, "Total energy consumption since boot (in mJ).",
          _grown(lambda d: d.gpu.energy_j * 1000, lambda d: d.gpu.model.power_limit * 450)),
    Field("DEV_PCIE_REPLAY_COUNTER", "DEV_PCIE_REPLAY_TOTAL", True, "Total number of PCIe retries.",
          _gpu(lambda d: d.gpu.pcie_replays)),
    Field("DEV_GPU_UTIL", "DEV_GPU_UTIL_RATIO", False, "GPU utilization (in %).",
          _whole(lambda d: round(100 * d.gpu.load.graphics))),
    Field("DEV_MEM_COPY_UTIL", "", False, "Memory utilization (in %).",
          _whole(lambda d: round(90 * d.gpu.load.dram))),
    Field("DEV_ENC_UTIL", "", False, "Encoder utilization (in %).", _whole(lambda d: round(100 * d.gpu.load.encoder))),
    Field("DEV_DEC_UTIL", "", False, "Decoder utilization (in %).", _whole(lambda d: round(100 * d.gpu.load.decoder))),
    Field("DEV_FB_FREE", "", False, "Frame buffer memory free (in MB).",
          _gpu(lambda d: _total(d) - _used(d) - _reserved(d))),
    Field("DEV_FB_USED", "", False, "Frame buffer memory used (in MB).", _gpu(_used)),
    Field("DEV_FB_RESERVED", "", False, "Frame buffer memory reserved (in MB).", _gpu(_reserved)),
    Field("DEV_FB_TOTAL", "", False, "Total frame buffer memory (in MB).", _gpu(_total)),
    Field("DEV_CLOCKS_EVENT_REASONS", "", False, "Current clock event reasons (bitmask).",
          _gpu(lambda d: d.gpu.reasons)),
    Field("DEV_POWER_VIOLATION", "", True,
          "Throttling duration due to power constraints (in ns).", _gpu(lambda d: d.gpu.event_ns["power_cap"])),
    Field("DEV_THERMAL_VIOLATION", "", True,
          "Throttling duration due to thermal constraints (in ns).", _gpu(lambda d: d.gpu.event_ns["sw_thermal"])),
    Field("DEV_SYNC_BOOST_VIOLATION", "", True,
          "Throttling duration due to sync-boost constraints (in ns).", _gpu(lambda d: d.gpu.event_ns["sync_boost"])),
    Field("DEV_ECC_SBE_VOL_TOTAL", "", True, "Total number of single-bit volatile ECC errors.",
          _gpu(lambda d: int(d.gpu.ecc["corrected"]))),
    Field("DEV_ECC_DBE_VOL_TOTAL", "", True, "Total number of double-bit volatile ECC errors.",
          _gpu(lambda d: int(d.gpu.ecc["uncorrected"]))),
    Field("DEV_ECC_SBE_AGG_TOTAL", "", True, "Total number of single-bit persistent ECC errors.",
          _gpu(lambda d: int(d.gpu.lifetime["corrected"]))),
    Field("DEV_ECC_DBE_AGG_TOTAL", "", True, "Total number of double-bit persistent ECC errors.",
          _gpu(lambda d: int(d.gpu.lifetime["uncorrected"]))),
    Field("DEV_UNCORRECTABLE_REMAPPED_ROWS", "DEV_ROW_REMAP_UNCORRECTABLE_TOTAL", True,
          "Number of remapped rows for uncorrectable errors.", _gpu(lambda d: d.gpu.rows[1])),
    Field("DEV_CORRECTABLE_REMAPPED_ROWS", "DEV_ROW_REMAP_CORRECTABLE_TOTAL", True,
          "Number of remapped rows for correctable errors.", _gpu(lambda d: d.gpu.rows[0])),
    Field("DEV_ROW_REMAP_FAILURE", "DEV_ROW_REMAP_FAILED", False, "Whether remapping of rows has failed.",
          _gpu(lambda d: d.gpu.rows[3])),
    Field("DEV_ROW_REMAP_PENDING", "", False, "Whether remapping of rows is pending.", _gpu(lambda d: d.gpu.rows[2])),
    Field("DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL", "DEV_NVLINK_CRC_FLIT_ERROR_TOTAL", True,
          "Total number of NVLink flow-control CRC errors.", _whole(lambda d: _nvlink(d, "crc"))),
    Field("DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL", "DEV_NVLINK_REPLAY_ERROR_TOTAL", True,
          "Total number of NVLink retries.", _whole(lambda d: _nvlink(d, "replay"))),
    Field("DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL", "DEV_NVLINK_RECOVERY_ERROR_TOTAL", True,
          "Total number of NVLink recovery errors.", _whole(lambda d: _nvlink(d, "recovery"))),
    Field("DEV_NVLINK_BANDWIDTH_TOTAL", "DEV_NVLINK_THROUGHPUT_TOTAL", True,
          "Total number of NVLink bandwidth counters for all lanes.", _whole(lambda d: round(_nvlink_rate(d) / 1e6))),
    Field("DEV_GET_GPU_RECOVERY_ACTION", "DEV_GPU_RECOVERY_ACTION", False, "Action that the driver asks for.",
          _gpu(lambda d: d.gpu.recovery_action)),
    Field("DEV_CLOCKS_EVENT_REASON_SW_POWER_CAP_NS", "", True, "Time at the software power cap (in ns).",
          _gpu(lambda d: d.gpu.event_ns["power_cap"])),
    Field("DEV_CLOCKS_EVENT_REASON_SW_THERM_SLOWDOWN_NS", "", True, "Time in software thermal slowdown (in ns).",
          _gpu(lambda d: d.gpu.event_ns["sw_thermal"])),
    Field("DEV_CLOCKS_EVENT_REASON_HW_THERM_SLOWDOWN_NS", "", True, "Time in hardware thermal slowdown (in ns).",
          _gpu(lambda d: d.gpu.event_ns["hw_thermal"])),
    Field("DEV_CLOCKS_EVENT_REASON_HW_POWER_BRAKE_SLOWDOWN_NS", "", True, "Time under the power brake (in ns).",
          _gpu(lambda d: d.gpu.event_ns["brake"])),
    Field("DEV_CLOCKS_EVENT_REASON_SYNC_BOOST_NS", "", True, "Time held by sync boost (in ns).",
          _gpu(lambda d: d.gpu.event_ns["sync_boost"])),
    Field("DEV_PSTATE", "DEV_GPU_PSTATE", False, "Performance state (P-State) 0-15.", _gpu(lambda _: 0)),
    Field("DEV_PCIE_LINK_GEN", "", False, "PCIe current link generation.", _gpu(lambda d: d.gpu.model.pcie_generation)),
    Field("DEV_PCIE_MAX_LINK_GEN", "", False, "PCIe max link generation.",
          _gpu(lambda d: d.gpu.model.pcie_generation)),
    Field("DEV_PCIE_LINK_WIDTH", "", False, "PCIe current link width.", _gpu(lambda _: 16)),
    Field("DEV_PCIE_MAX_LINK_WIDTH", "", False, "PCIe max link width.", _gpu(lambda _: 16)),
    Field("DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL", "DEV_NVLINK_CRC_DATA_ERROR_TOTAL", True,
          "Total number of NVLink data CRC errors.", _whole(lambda d: _nvlink(d, "crc_data"))),
    Field("PROF_PIPE_FP64_ACTIVE", "PROF_FP64_UTIL_RATIO", False, "Ratio of cycles the fp64 pipes are active.",
          _load("graphics", 0.01)),
    Field("PROF_PIPE_FP32_ACTIVE", "PROF_FP32_UTIL_RATIO", False, "Ratio of cycles the fp32 pipes are active.",
          _load("sm", 0.12)),
    Field("PROF_PIPE_FP16_ACTIVE", "PROF_FP16_UTIL_RATIO", False, "Ratio of cycles the fp16 pipes are active.",
          _load("tensor", 0.2)),
    Field("DEV_VGPU_LICENSE_STATUS", "", False, "vGPU License status", _gpu(lambda _: 0)),
    Field("PROF_GR_ENGINE_ACTIVE", "PROF_GR_ENGINE_UTIL_RATIO", False,
          "Ratio of time the graphics engine is active.", _load("graphics")),
    Field("PROF_SM_ACTIVE", "PROF_SM_UTIL_RATIO", False,
          "The ratio of cycles an SM has at least 1 warp assigned.", _load("sm")),
    Field("PROF_SM_OCCUPANCY", "PROF_SM_OCCUPANCY_RATIO", False,
          "The ratio of number of warps resident on an SM.", _load("occupancy")),
    Field("PROF_PIPE_TENSOR_ACTIVE", "PROF_TENSOR_UTIL_RATIO", False,
          "Ratio of cycles the tensor (HMMA) pipe is active.", _load("tensor")),
    Field("PROF_DRAM_ACTIVE", "PROF_DRAM_UTIL_RATIO", False,
          "Ratio of cycles the device memory interface is active.", _load("dram")),
    Field("PROF_PCIE_TX_BYTES", "", False, "The rate of data transmitted over the PCIe bus (in B/s).",
          _whole(lambda d: round(d.gpu.load.pcie_tx + 2e4))),
    Field("PROF_PCIE_RX_BYTES", "", False, "The rate of data received over the PCIe bus (in B/s).",
          _whole(lambda d: round(d.gpu.load.pcie_rx + 2e4))),
    Field("PROF_NVLINK_TX_BYTES", "", False, "The rate of data transmitted over NVLink (in B/s).",
          _whole(lambda d: round(_nvlink_rate(d)))),
    Field("PROF_NVLINK_RX_BYTES", "", False, "The rate of data received over NVLink (in B/s).",
          _whole(lambda d: round(_nvlink_rate(d)))),
)  # fmt: skip


def _nvlink(device: Device, kind: str) -> float:
    return sum(count for (error, _), count in device.gpu.nvlink_errors.items() if error == kind)

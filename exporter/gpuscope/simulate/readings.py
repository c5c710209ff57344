"""Simulated readings of a physical GPU: utilization, power, temperature, clocks, errors, PCIe, NVLink, fabric."""

import uuid
from typing import Any

from gpuscope.simulate.device import REASON_IDLE, SimGpu
from gpuscope.simulate.node import Node
from gpuscope.simulate.status import ARGUMENT, INSUFFICIENT_SIZE, NOT_FOUND, NOT_SUPPORTED, Status, put, read
from gpuscope.simulate.table import Entry, getter, mig_off, physical

__all__ = ["FUNCTIONS"]

_SAMPLE_S = 1 / 6
_SAMPLES = 99


def _percent(ratio: float) -> int:
    return round(100 * min(1.0, max(0.0, ratio)))


@physical
def _utilization(_node: Node, gpu: SimGpu, pointer: int) -> int:
    if gpu.mig_mode:
        raise Status(NOT_SUPPORTED)
    return put(pointer, "II", _percent(gpu.load.graphics), _percent(gpu.load.dram * 0.9))


@physical
def _samples(node: Node, gpu: SimGpu, kind: int, last: int, value_type: int, count: int, buffer: int | None) -> int:
    if gpu.mig_mode or kind != 1:
        raise Status(NOT_SUPPORTED)
    put(value_type, "I", 1)
    if not buffer:
        return put(count, "I", _SAMPLES)
    now = node.clock.now()
    newest = int(now / _SAMPLE_S)
    stamps = [int(number * _SAMPLE_S * 1e6) for number in range(newest - _SAMPLES + 1, newest + 1)]
    fresh = [stamp for stamp in stamps if stamp > last and stamp >= node.start * 1e6]
    if not fresh:
        raise Status(NOT_FOUND)
    if read(count, "I")[0] < len(fresh):
        raise Status(INSUFFICIENT_SIZE)
    percent = _percent(gpu.load.graphics)
    put(buffer, f"{'QI4x' * len(fresh)}", *(part for stamp in fresh for part in (stamp, percent)))
    return put(count, "I", len(fresh))


@physical
def _temperature(node: Node, gpu: SimGpu, sensor: int, pointer: int) -> int:
    if sensor:
        raise Status(ARGUMENT)
    return put(pointer, "I", 0x7FFFFFF0 if node.blank and gpu.index == 1 else round(gpu.temperature))


@physical
def _temperature_v(node: Node, gpu: SimGpu, pointer: int) -> int:
    version, sensor = read(pointer, "Ii")
    value = 0x7FFFFFF0 if node.blank and gpu.index == 1 else round(gpu.temperature)
    return put(pointer, "Iii", version, sensor, value)


@physical
def _margin(_node: Node, gpu: SimGpu, pointer: int) -> int:
    if gpu.model.arch < 9:
        raise Status(NOT_SUPPORTED)
    return put(pointer, "Ii", read(pointer, "I")[0], round(gpu.model.slowdown - gpu.temperature))


@physical
def _threshold(_node: Node, gpu: SimGpu, kind: int, pointer: int) -> int:
    model = gpu.model
    known = {0: model.shutdown, 1: model.slowdown, 2: 95 if model.memory_sensor else None, 3: model.slowdown - 2}
    value = known.get(kind)
    if value is None:
        raise Status(NOT_SUPPORTED)
    return put(pointer, "I", value)


@physical
def _clock(_node: Node, gpu: SimGpu, kind: int, pointer: int) -> int:
    values = (gpu.clock, gpu.clock, gpu.model.memory_clock, gpu.clock * 0.83)
    return put(pointer, "I", round(values[kind]))


@physical
def _max_clock(_node: Node, gpu: SimGpu, kind: int, pointer: int) -> int:
    model = gpu.model
    return put(
        pointer, "I", round((model.clock_max, model.clock_max, model.memory_clock, model.clock_max * 0.83)[kind])
    )


def _violation_ns(gpu: SimGpu, policy: int) -> float:
    events = gpu.event_ns
    return {0: events["power_cap"], 1: events["sw_thermal"] + events["hw_thermal"], 2: events["sync_boost"]}[policy]


@physical
def _violation(node: Node, gpu: SimGpu, policy: int, pointer: int) -> int:
    if policy > 2:
        raise Status(NOT_SUPPORTED)
    return put(pointer, "QQ", int(node.clock.now() * 1e6), int(_violation_ns(gpu, policy)))


@physical
def _ecc_total(_node: Node, gpu: SimGpu, severity: int, period: int, pointer: int) -> int:
    if not gpu.model.ecc:
        raise Status(NOT_SUPPORTED)
    store = gpu.lifetime if period else gpu.ecc
    return put(pointer, "Q", int(store["uncorrected" if severity else "corrected"]))


@physical
def _ecc_location(_node: Node, gpu: SimGpu, severity: int, period: int, location: int, pointer: int) -> int:
    if not gpu.model.ecc or location not in {2, 7}:
        raise Status(NOT_SUPPORTED)
    store = gpu.lifetime if period else gpu.ecc
    total = int(store["uncorrected" if severity else "corrected"])
    return put(pointer, "Q", total if location == 2 else 0)


@physical
def _sram(_node: Node, gpu: SimGpu, pointer: int) -> int:
    if not gpu.model.ecc or gpu.model.arch < 7:
        raise Status(NOT_SUPPORTED)
    version = read(pointer, "I")[0]
    return put(pointer, "I4x11QI", version, *(0,) * 11, 0)


def _remapped(gpu: SimGpu) -> tuple[int, ...]:
    return tuple(gpu.rows)


@physical
def _histogram(_node: Node, gpu: SimGpu, pointer: int) -> int:
    if not gpu.model.remapping:
        raise Status(NOT_SUPPORTED)
    used = min(gpu.rows[1], 640)
    return put(pointer, "5I", 640 - used, used, 0, 0, 0)


@physical
def _repair(_node: Node, gpu: SimGpu, pointer: int) -> int:
    if gpu.model.arch < 9:
        raise Status(NOT_SUPPORTED)
    return put(pointer, "III", read(pointer, "I")[0], 0, 0)


@physical
def _unrepairable(node: Node, gpu: SimGpu, pointer: int) -> int:
    if gpu.model.arch < 10 or node.driver < (590,):
        raise Status(NOT_SUPPORTED)
    return put(pointer, "II", read(pointer, "I")[0], 0)


@physical
def _throughput(_node: Node, gpu: SimGpu, counter: int, pointer: int) -> int:
    rate = gpu.load.pcie_tx if counter == 0 else gpu.load.pcie_rx
    return put(pointer, "I", int(rate / 1024))


@physical
def _nvlink_state(_node: Node, gpu: SimGpu, link: int, pointer: int) -> int:
    if gpu.mig_mode or link >= gpu.model.nvlinks:
        raise Status(NOT_SUPPORTED if gpu.mig_mode or not gpu.model.nvlinks else ARGUMENT)
    return put(pointer, "I", 1)


@physical
def _nvlink_version(_node: Node, gpu: SimGpu, link: int, pointer: int) -> int:
    if gpu.mig_mode or link >= gpu.model.nvlinks:
        raise Status(NOT_SUPPORTED)
    return put(pointer, "I", gpu.model.nvlink_version)


@physical
def _fabric(_node: Node, gpu: SimGpu, pointer: int) -> int:
    version = read(pointer, "I")[0]
    if version >> 24 > 3:
        raise Status(25)
    if not gpu.model.nvlinks or gpu.model.nvlink_version < 4:
        raise Status(NOT_SUPPORTED)
    cluster = uuid.uuid5(uuid.NAMESPACE_DNS, "rack-1").bytes if gpu.model.fabric else bytes(16)
    mask = (2 << 0) | (2 << 2) | (2 << 4) | (2 << 6) | (1 << 8) | (1 << 12) if gpu.model.fabric else 0
    put(pointer, "I16siIB3xI", version, cluster, 0, 7 if gpu.model.fabric else 0, 3, mask)
    return put(pointer + 36, "B", 1 if gpu.model.fabric else 0) if version >> 24 == 3 else 0


@physical
def _protected(_node: Node, gpu: SimGpu, pointer: int) -> int:
    if not gpu.plan.confidential:
        return put(pointer, "QQQ", 0, 0, 0)
    total = gpu.model.memory // 2
    return put(pointer, "QQQ", total, total - gpu.used_memory() // 2, gpu.used_memory() // 2)


@physical
def _licence(_node: Node, gpu: SimGpu, pointer: int) -> int:
    return put(pointer, "iIII", 1, 1, 1, 1)


@physical
def _vgpus(_node: Node, gpu: SimGpu, count: int, buffer: int | None) -> int:
    present = 2
    if not buffer or read(count, "I")[0] < present:
        put(count, "I", present)
        raise Status(INSUFFICIENT_SIZE)
    put(count, "I", present)
    return put(buffer, "II", 3251634213, 3251634214)


def _fan(gpu: SimGpu, fan: int) -> int:
    if fan >= gpu.model.fans:
        raise Status(ARGUMENT if gpu.model.fans else NOT_SUPPORTED)
    return round(30 + gpu.temperature / 2)


@physical
def _fan_speed(_node: Node, gpu: SimGpu, pointer: int) -> int:
    return put(pointer, "I", _fan(gpu, 0))


@physical
def _fan_speed_v2(_node: Node, gpu: SimGpu, fan: int, pointer: int) -> int:
    return put(pointer, "I", _fan(gpu, fan))


@physical
def _fan_rpm(_node: Node, gpu: SimGpu, pointer: int) -> int:
    version, fan = read(pointer, "II")
    return put(pointer, "III", version, fan, _fan(gpu, fan) * 31)


def _engine(ratio: Any) -> Entry:
    return getter("II", lambda gpu: (_percent(ratio(gpu)), 167000), when=mig_off)


def _milliwatts(watts: Any) -> Entry:
    return getter("I", lambda gpu: round(1000 * watts(gpu)))


@physical
def _absent(_node: Node, _gpu: SimGpu, *_pointers: int) -> int:
    raise Status(NOT_SUPPORTED)


FUNCTIONS: dict[str, Entry] = {
    # Windows only; Linux drivers have the symbols and refuse.
    "nvmlDeviceGetDriverModel": ("ppp", _absent),
    "nvmlDeviceGetDriverModel_v2": ("ppp", _absent),
    "nvmlDeviceGetUtilizationRates": ("pp", _utilization),
    "nvmlDeviceGetEncoderUtilization": _engine(lambda gpu: gpu.load.encoder),
    "nvmlDeviceGetDecoderUtilization": _engine(lambda gpu: gpu.load.decoder),
    "nvmlDeviceGetJpgUtilization": _engine(lambda gpu: 0.0),
    "nvmlDeviceGetOfaUtilization": _engine(lambda gpu: 0.0),
    "nvmlDeviceGetSamples": ("puqppp", _samples),
    "nvmlDeviceGetPowerUsage": _milliwatts(lambda gpu: gpu.power),
    "nvmlDeviceGetEnforcedPowerLimit": _milliwatts(lambda gpu: gpu.model.power_limit),
    "nvmlDeviceGetPowerManagementLimit": _milliwatts(lambda gpu: gpu.model.power_limit),
    "nvmlDeviceGetPowerManagementDefaultLimit": _milliwatts(lambda gpu: gpu.model.power_limit),
    "nvmlDeviceGetPowerManagementLimitConstraints": getter(
        "II", lambda gpu: (round(1000 * gpu.model.power_min), round(1000 * gpu.model.power_limit))
    ),
    "nvmlDeviceGetPowerManagementMode": getter("I", lambda gpu: 1),
    "nvmlDeviceGetTotalEnergyConsumption": getter("Q", lambda gpu: int(1000 * gpu.energy_j)),
    "nvmlDeviceGetTemperature": ("pup", _temperature),
    "nvmlDeviceGetTemperatureV": ("pp", _temperature_v),
    "nvmlDeviceGetMarginTemperature": ("pp", _margin),
    "nvmlDeviceGetTemperatureThreshold": ("pup", _threshold),
    "nvmlDeviceGetNumFans": getter("I", lambda gpu: gpu.model.fans),
    "nvmlDeviceGetFanSpeed": ("pp", _fan_speed),
    "nvmlDeviceGetFanSpeed_v2": ("pup", _fan_speed_v2),
    "nvmlDeviceGetFanSpeedRPM": ("pp", _fan_rpm),
    "nvmlDeviceGetClockInfo": ("pup", _clock),
    "nvmlDeviceGetMaxClockInfo": ("pup", _max_clock),
    "nvmlDeviceGetPerformanceState": getter("I", lambda gpu: 8 if gpu.reasons & REASON_IDLE else 0),
    "nvmlDeviceGetCurrentClocksEventReasons": getter("Q", lambda gpu: gpu.reasons),
    "nvmlDeviceGetCurrentClocksThrottleReasons": getter("Q", lambda gpu: gpu.reasons),
    "nvmlDeviceGetViolationStatus": ("pup", _violation),
    "nvmlDeviceGetEccMode": getter("II", lambda gpu: (1, 1), when=lambda gpu: gpu.model.ecc),
    "nvmlDeviceGetTotalEccErrors": ("puup", _ecc_total),
    "nvmlDeviceGetMemoryErrorCounter": ("puuup", _ecc_location),
    "nvmlDeviceGetSramEccErrorStatus": ("pp", _sram),
    "nvmlDeviceGetRemappedRows": getter(
        "IIII", _remapped, when=lambda gpu: gpu.model.remapping and not (gpu.mig_mode and gpu.mig)
    ),
    "nvmlDeviceGetRowRemapperHistogram": ("pp", _histogram),
    "nvmlDeviceGetRepairStatus": ("pp", _repair),
    "nvmlDeviceGetUnrepairableMemoryFlag_v1": ("pp", _unrepairable),
    "nvmlDeviceGetPcieReplayCounter": getter("I", lambda gpu: 0),
    "nvmlDeviceGetCurrPcieLinkGeneration": getter(
        "I", lambda gpu: 1 if gpu.reasons & REASON_IDLE else gpu.model.pcie_generation
    ),
    "nvmlDeviceGetMaxPcieLinkGeneration": getter("I", lambda gpu: gpu.model.pcie_generation),
    "nvmlDeviceGetGpuMaxPcieLinkGeneration": getter("I", lambda gpu: gpu.model.pcie_generation),
    "nvmlDeviceGetCurrPcieLinkWidth": getter("I", lambda gpu: 16),
    "nvmlDeviceGetMaxPcieLinkWidth": getter("I", lambda gpu: 16),
    "nvmlDeviceGetPcieThroughput": ("pup", _throughput),
    "nvmlDeviceGetNvLinkState": ("pup", _nvlink_state),
    "nvmlDeviceGetNvLinkVersion": ("pup", _nvlink_version),
    "nvmlDeviceGetGpuFabricInfoV": ("pp", _fabric),
    "nvmlDeviceGetConfComputeProtectedMemoryUsage": ("pp", _protected),
    "nvmlDeviceGetVirtualizationMode": getter("I", lambda gpu: gpu.plan.virtualization),
    "nvmlDeviceGetGridLicensableFeatures_v4": ("pp", _licence),
    "nvmlDeviceGetActiveVgpus": ("ppp", _vgpus),
    "nvmlDeviceGetAccountingMode": getter("I", lambda gpu: 0),
    "nvmlDeviceGetEncoderStats": getter("III", lambda gpu: (0, 0, 0)),
}

"""Simulated readings of power, temperature, fans and clocks."""

from collections.abc import Callable

from gpuscope.simulate.device import SimGpu
from gpuscope.simulate.node import Node
from gpuscope.simulate.physics import REASON_IDLE
from gpuscope.simulate.status import ARGUMENT, NOT_SUPPORTED, Status, put, read, version
from gpuscope.simulate.table import Entry, getter, physical

__all__ = ["FUNCTIONS"]

_BLANK_INT = 0x7FFFFFF0
_BLANK_UINT = 0xFFFFFFFF
_TEMPERATURE_V1, _MARGIN_V1, _FAN_V1 = 0x0100000C, 0x01000008, 0x0100000C
_REASONS = 0x1FF
_VIDEO_CLOCK_SHARE = 0.83
_CLOCK_CURRENT, _CLOCK_APP_TARGET, _CLOCK_APP_DEFAULT, _CLOCK_BOOST_MAX = range(4)


def _celsius(node: Node, gpu: SimGpu) -> int:
    return _BLANK_INT if node.blank and gpu.index == 1 else round(gpu.temperature)


@physical
def _temperature(node: Node, gpu: SimGpu, sensor: int, pointer: int) -> int:
    if sensor:
        raise Status(ARGUMENT)
    return put(pointer, "I", _celsius(node, gpu))


@physical
def _temperature_v(node: Node, gpu: SimGpu, pointer: int) -> int:
    found = version(pointer, _TEMPERATURE_V1)
    sensor = read(pointer, "Ii")[1]
    if sensor:
        raise Status(ARGUMENT)
    return put(pointer, "Iii", found, sensor, _celsius(node, gpu))


@physical
def _margin(_node: Node, gpu: SimGpu, pointer: int) -> int:
    found = version(pointer, _MARGIN_V1)
    if gpu.model.arch < 9:
        raise Status(NOT_SUPPORTED)
    return put(pointer, "Ii", found, round(gpu.model.slowdown - gpu.temperature))


@physical
def _threshold(_node: Node, gpu: SimGpu, kind: int, pointer: int) -> int:
    model = gpu.model
    known = {0: model.shutdown, 1: model.slowdown, 2: 95 if model.memory_sensor else None, 3: model.slowdown - 2}
    value = known.get(kind)
    if value is None:
        raise Status(NOT_SUPPORTED)
    return put(pointer, "I", value)


def _domains(graphics: float, memory: float) -> tuple[float, float, float, float]:
    """MHz of graphics, SM, memory and video."""
    return graphics, graphics, memory, graphics * _VIDEO_CLOCK_SHARE


def _clock(which: Callable[[SimGpu], float]) -> Entry:
    @physical
    def call(node: Node, gpu: SimGpu, domain: int, pointer: int) -> int:
        if domain > 3:
            raise Status(ARGUMENT)
        return put(pointer, "I", round(_domains(which(gpu), gpu.model.memory_clock)[domain]))

    return "pup", call


@physical
def _clock_by_id(_node: Node, gpu: SimGpu, domain: int, which: int, pointer: int) -> int:
    if domain > 3 or which > _CLOCK_BOOST_MAX:
        raise Status(ARGUMENT)
    graphics = gpu.clock if which == _CLOCK_CURRENT else gpu.model.clock_max
    return put(pointer, "I", round(_domains(graphics, gpu.model.memory_clock)[domain]))


@physical
def _violation(_node: Node, gpu: SimGpu, policy: int, pointer: int) -> int:
    events = gpu.event_ns
    known = {0: events["power_cap"], 1: events["sw_thermal"] + events["hw_thermal"], 2: events["sync_boost"]}
    if policy not in known:
        raise Status(NOT_SUPPORTED)
    return put(pointer, "QQ", int(gpu.now * 1e6), int(known[policy]))


def _fan(gpu: SimGpu, fan: int) -> int:
    if not gpu.model.fans:
        raise Status(NOT_SUPPORTED)
    if fan >= gpu.model.fans:
        raise Status(ARGUMENT)
    return round(30 + gpu.temperature / 2)


@physical
def _fan_speed(_node: Node, gpu: SimGpu, pointer: int) -> int:
    return put(pointer, "I", _fan(gpu, 0))


@physical
def _fan_speed_v2(_node: Node, gpu: SimGpu, fan: int, pointer: int) -> int:
    return put(pointer, "I", _fan(gpu, fan))


@physical
def _fan_rpm(_node: Node, gpu: SimGpu, pointer: int) -> int:
    found = version(pointer, _FAN_V1)
    fan = read(pointer, "II")[1]
    return put(pointer, "III", found, fan, _fan(gpu, fan) * 31)


@physical
def _power(node: Node, gpu: SimGpu, pointer: int) -> int:
    return put(pointer, "I", _BLANK_UINT if node.blank and gpu.index == 3 else round(1000 * gpu.power))


def _milliwatts(watts: Callable[[SimGpu], float]) -> Entry:
    return getter("I", lambda gpu: round(1000 * watts(gpu)))


_LIMIT = _milliwatts(lambda gpu: gpu.model.power_limit)
_CEILING = _clock(lambda gpu: gpu.model.clock_max)

FUNCTIONS: dict[str, Entry] = {
    "nvmlDeviceGetPowerUsage": ("pp", _power),
    "nvmlDeviceGetEnforcedPowerLimit": _LIMIT,
    "nvmlDeviceGetPowerManagementLimit": _LIMIT,
    "nvmlDeviceGetPowerManagementDefaultLimit": _LIMIT,
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
    "nvmlDeviceGetClockInfo": _clock(lambda gpu: gpu.clock),
    "nvmlDeviceGetMaxClockInfo": _CEILING,
    "nvmlDeviceGetApplicationsClock": _CEILING,
    "nvmlDeviceGetDefaultApplicationsClock": _CEILING,
    "nvmlDeviceGetMaxCustomerBoostClock": _CEILING,
    "nvmlDeviceGetClock": ("puup", _clock_by_id),
    "nvmlDeviceGetPerformanceState": getter("I", lambda gpu: 8 if gpu.reasons & REASON_IDLE else 0),
    "nvmlDeviceGetPowerState": getter("I", lambda gpu: 8 if gpu.reasons & REASON_IDLE else 0),
    "nvmlDeviceGetCurrentClocksEventReasons": getter("Q", lambda gpu: gpu.reasons),
    "nvmlDeviceGetCurrentClocksThrottleReasons": getter("Q", lambda gpu: gpu.reasons),
    "nvmlDeviceGetSupportedClocksEventReasons": getter("Q", lambda gpu: _REASONS),
    "nvmlDeviceGetSupportedClocksThrottleReasons": getter("Q", lambda gpu: _REASONS),
    "nvmlDeviceGetViolationStatus": ("pup", _violation),
}

"""Clock rates, performance state, and what holds the clocks down.

Output::

    gpuscope_gpu_clock_event_active{gpu="0",uuid="GPU-…",reason="sw_power_cap"} 1
    gpuscope_gpu_clock_event_seconds_total{gpu="0",uuid="GPU-…",reason="sw_power_cap"} 12.7
"""

from gpuscope.catalogue import clocks as m
from gpuscope.catalogue.metric import Tier
from gpuscope.collectors.collector import Collector
from gpuscope.collectors.sink import Sink
from gpuscope.nvml import fields
from gpuscope.nvml.gpu import Gpu
from gpuscope.nvml.values import MEGA, NANO, plain

__all__ = ["COLLECTOR"]

_CLOCKS = {"sm": 1, "memory": 2, "video": 3}
_UNKNOWN_STATE = 32
_REASONS = {
    0x1: "idle",
    0x2: "applications_clocks_setting",
    0x4: "sw_power_cap",
    0x8: "hw_slowdown",
    0x10: "sync_boost",
    0x20: "sw_thermal",
    0x40: "hw_thermal",
    0x80: "hw_power_brake",
}
_SECONDS = {
    "sw_power_cap": fields.SW_POWER_CAP_NS,
    "sync_boost": fields.SYNC_BOOST_NS,
    "sw_thermal": fields.SW_THERMAL_NS,
    "hw_thermal": fields.HW_THERMAL_NS,
    "hw_power_brake": fields.HW_POWER_BRAKE_NS,
}
_VIOLATIONS = {"sw_power_cap": 0, "sw_thermal": 1, "sync_boost": 2}
"""Policies of nvmlDeviceGetViolationStatus; its thermal policy does not tell software from hardware."""
_FIRST_DRIVER_WITH_COUNTERS = (575, 51)


def _fast(gpu: Gpu, out: Sink) -> None:
    for clock, number in _CLOCKS.items():
        out.gpu(m.CLOCK, gpu.number("nvmlDeviceGetClockInfo", number, scale=MEGA), clock)
    state = gpu.ask("nvmlDeviceGetPerformanceState")
    out.gpu(m.PERFORMANCE_STATE, None if state == _UNKNOWN_STATE else state)
    mask = gpu.ask("nvmlDeviceGetCurrentClocksEventReasons")
    if mask is None:
        mask = gpu.ask("nvmlDeviceGetCurrentClocksThrottleReasons")
    if mask is not None:
        for bit, reason in _REASONS.items():
            out.gpu(m.EVENT_ACTIVE, bool(mask & bit), reason)
    for reason, field in _SECONDS.items():
        out.gpu(m.EVENT_SECONDS, _seconds(gpu, reason, field), reason)


def _seconds(gpu: Gpu, reason: str, field: fields.Field) -> float | None:
    value = gpu.field(field, scale=NANO)
    if value is None and reason in _VIOLATIONS and gpu.driver < _FIRST_DRIVER_WITH_COUNTERS:
        status = gpu.ask("nvmlDeviceGetViolationStatus", _VIOLATIONS[reason])
        value = None if status is None else plain(status.violationTime) * NANO
    return value


def _slow(gpu: Gpu, out: Sink) -> None:
    for clock, number in _CLOCKS.items():
        out.gpu(m.CLOCK_MAX, gpu.number("nvmlDeviceGetMaxClockInfo", number, scale=MEGA), clock)


COLLECTOR = Collector("clocks", {Tier.FAST: _fast, Tier.SLOW: _slow})

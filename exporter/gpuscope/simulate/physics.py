"""What a load does to a GPU: power, clocks, clock event reasons, and the temperature that follows with a lag."""

import math
from dataclasses import dataclass

from gpuscope.simulate.activity import Load
from gpuscope.simulate.model import GpuModel

__all__ = [
    "REASON_BRAKE",
    "REASON_HW_THERMAL",
    "REASON_IDLE",
    "REASON_POWER_CAP",
    "REASON_SW_THERMAL",
    "OperatingPoint",
    "approach",
    "operating_point",
    "settled",
]

REASON_IDLE, REASON_POWER_CAP, REASON_SW_THERMAL, REASON_HW_THERMAL, REASON_BRAKE = 0x1, 0x4, 0x20, 0x40, 0x80
_HW_SLOWDOWN = 0x8
_AMBIENT_C = 31.0
_C_AT_LIMIT = 43.0
"""How far above its surroundings a well-cooled GPU settles at its power limit."""
_LAG_S = 25.0


@dataclass(frozen=True, slots=True)
class OperatingPoint:
    """How a GPU runs while its load does not change: watts, MHz, and the bits of nvmlClocksEventReasons."""

    power: float
    clock: float
    reasons: int


def operating_point(model: GpuModel, load: Load, temperature: float, *, brake: bool) -> OperatingPoint:
    """Power and clocks under a load; both fall when the power limit, heat or a power brake asks for it."""
    want = model.power_idle + (model.power_limit - model.power_idle) * (
        0.18 * load.graphics + 0.42 * load.sm + 0.34 * load.tensor + 0.28 * load.dram
    )
    reasons = REASON_IDLE if load.graphics < 0.01 else 0
    if want > model.power_limit:
        reasons |= REASON_POWER_CAP
    if temperature >= model.slowdown:
        reasons |= REASON_HW_THERMAL | _HW_SLOWDOWN
    elif temperature >= model.slowdown - 3:
        reasons |= REASON_SW_THERMAL
    if brake:
        reasons |= REASON_BRAKE | _HW_SLOWDOWN
    share = 1.0
    if reasons & REASON_POWER_CAP:
        share *= 0.93
    if reasons & REASON_SW_THERMAL:
        share *= 0.8
    if reasons & _HW_SLOWDOWN:
        share *= 0.5
    clock = model.clock_idle if reasons & REASON_IDLE else max(model.clock_idle, model.clock_max * share)
    power = min(want, model.power_limit) * (0.62 if reasons & _HW_SLOWDOWN else 1.0)
    return OperatingPoint(max(model.power_idle, power), float(clock), reasons)


def settled(model: GpuModel, power: float, heat: float = 0.0) -> float:
    """Temperature in °C at which a GPU settles; ``heat`` is what bad cooling adds."""
    return _AMBIENT_C + _C_AT_LIMIT * power / model.power_limit + heat


def approach(temperature: float, target: float, seconds: float) -> float:
    """Temperature after a while on its way to ``target``; the same however the while is cut into steps."""
    return target + (temperature - target) * math.exp(-seconds / _LAG_S)

"""Power, limits and energy of whole GPUs; NVML has none of it per MIG instance.

Output::

    gpuscope_gpu_power_watts{gpu="0",uuid="GPU-…"} 612.3
    gpuscope_gpu_energy_joules_total{gpu="0",uuid="GPU-…"} 184467.2
"""

from gpuscope.catalogue import power as m
from gpuscope.catalogue.metric import Tier
from gpuscope.collectors.collector import Collector
from gpuscope.collectors.sink import Sink
from gpuscope.nvml import fields
from gpuscope.nvml.gpu import Gpu
from gpuscope.nvml.values import MILLI

__all__ = ["COLLECTOR"]

_MODULE, _MEMORY = 1, 2
_LIMITS = {
    "requested": fields.POWER_REQUESTED_MW,
    "default": fields.POWER_DEFAULT_MW,
    "min": fields.POWER_MIN_MW,
    "max": fields.POWER_MAX_MW,
}


def _fast(gpu: Gpu, out: Sink) -> None:
    out.gpu(m.POWER, gpu.number("nvmlDeviceGetPowerUsage", scale=MILLI))
    out.gpu(m.INSTANT, gpu.field(fields.POWER_INSTANT_MW, scale=MILLI))
    out.gpu(m.AVERAGE, gpu.field(fields.POWER_AVERAGE_MW, scale=MILLI))
    out.gpu(m.MODULE, gpu.field(fields.POWER_INSTANT_MW, scope=_MODULE, scale=MILLI))
    out.gpu(m.MEMORY, gpu.field(fields.POWER_INSTANT_MW, scope=_MEMORY, scale=MILLI))
    out.gpu(m.ENERGY, gpu.number("nvmlDeviceGetTotalEnergyConsumption", scale=MILLI))


def _slow(gpu: Gpu, out: Sink) -> None:
    out.gpu(m.LIMIT, gpu.number("nvmlDeviceGetEnforcedPowerLimit", scale=MILLI), "enforced")
    for limit, field in _LIMITS.items():
        out.gpu(m.LIMIT, gpu.field(field, scale=MILLI), limit)


COLLECTOR = Collector("power", {Tier.FAST: _fast, Tier.SLOW: _slow})

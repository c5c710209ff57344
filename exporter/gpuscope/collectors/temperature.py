"""Temperatures, thresholds and fans.

Output::

    gpuscope_gpu_temperature_celsius{gpu="0",uuid="GPU-…",sensor="memory"} 71
    gpuscope_gpu_temperature_headroom_celsius{gpu="0",uuid="GPU-…"} 24
"""

from gpuscope.catalogue import temperature as m
from gpuscope.catalogue.metric import Tier
from gpuscope.collectors.collector import Collector
from gpuscope.collectors.sink import Sink
from gpuscope.nvml import fields
from gpuscope.nvml.gpu import Gpu
from gpuscope.nvml.values import PERCENT

__all__ = ["COLLECTOR"]

_GPU_SENSOR = 0
_THRESHOLDS = {"shutdown": 0, "slowdown": 1, "mem_max": 2, "gpu_max": 3}
_OFFSETS = {
    "shutdown": fields.TLIMIT_SHUTDOWN,
    "slowdown": fields.TLIMIT_SLOWDOWN,
}


def _fast(gpu: Gpu, out: Sink) -> None:
    core = gpu.number("nvmlDeviceGetTemperatureV", _GPU_SENSOR)
    if core is None:  # drivers and bindings before 570
        core = gpu.number("nvmlDeviceGetTemperature", _GPU_SENSOR)
    out.gpu(m.TEMPERATURE, core, "gpu")
    memory = gpu.field(fields.MEMORY_TEMPERATURE)
    # Boards without the sensor answer 0 with SUCCESS; no memory under power is at 0 °C.
    out.gpu(m.TEMPERATURE, memory or None, "memory")
    out.gpu(m.HEADROOM, gpu.number("nvmlDeviceGetMarginTemperature"))


def _slow(gpu: Gpu, out: Sink) -> None:
    for name, number in _THRESHOLDS.items():
        out.gpu(m.THRESHOLD, gpu.number("nvmlDeviceGetTemperatureThreshold", number), name)
    for name, field in _OFFSETS.items():
        out.gpu(m.THRESHOLD_HEADROOM, gpu.field(field), name)
    for fan in range(int(gpu.ask("nvmlDeviceGetNumFans") or 0)):
        out.gpu(m.FAN_RATIO, gpu.number("nvmlDeviceGetFanSpeed_v2", fan, scale=PERCENT), str(fan))
        if fan == 0:  # the binding asks for the first fan only
            out.gpu(m.FAN_RPM, gpu.number("nvmlDeviceGetFanSpeedRPM"), str(fan))


COLLECTOR = Collector("temperature", {Tier.FAST: _fast, Tier.SLOW: _slow})

"""Activity of the arithmetic pipes by GPM; off by default.

Output::

    gpuscope_gpu_pipe_active_ratio{gpu="0",uuid="GPU-…",pipe="fp32"} 0.21
    gpuscope_gpu_pipe_active_seconds_total{gpu="0",uuid="GPU-…",pipe="fp32"} 98.5
"""

from gpuscope.catalogue import pipes as m
from gpuscope.catalogue.metric import Tier
from gpuscope.collectors.collector import Collector
from gpuscope.collectors.integral import Integral
from gpuscope.collectors.sink import Sink
from gpuscope.nvml.gpu import Gpu
from gpuscope.nvml.values import PERCENT

__all__ = ["COLLECTOR"]

_PIPES = {
    4: "int",
    6: "tensor_dfma",
    7: "tensor_hmma",
    8: "tensor_dmma",
    9: "tensor_imma",
    11: "fp64",
    12: "fp32",
    13: "fp16",
}


def _activity(gpu: Gpu, out: Sink) -> None:
    for metric, pipe in _PIPES.items():
        value = gpu.window.number(metric, scale=PERCENT)
        out.gpu(m.PIPE_RATIO, value, pipe)
        total = gpu.keep((m.PIPE_SECONDS, pipe), Integral).add(value, gpu.window.seconds)
        out.gpu(m.PIPE_SECONDS, total, pipe)
        for device in gpu.mig:
            who, window = device.instance, device.ci_window
            value = window.number(metric, scale=PERCENT)
            out.mig(who, m.MIG_PIPE_RATIO, value, pipe)
            total = gpu.keep((m.MIG_PIPE_SECONDS, who.uuid, pipe), Integral).add(value, window.seconds)
            out.mig(who, m.MIG_PIPE_SECONDS, total, pipe)


COLLECTOR = Collector("pipes", {Tier.ACTIVITY: _activity})

"""Cycle counters that the GPU keeps itself since its reset (driver 595 and newer); off by default.

Output::

    gpuscope_gpu_sm_cycles_total{gpu="0",uuid="GPU-…",state="active"} 812345678901
    gpuscope_gpu_pipe_cycles_total{gpu="0",uuid="GPU-…",pipe="fp32"} 21345678901
"""

from gpuscope.catalogue import cycles as m
from gpuscope.catalogue.metric import Tier
from gpuscope.collectors.collector import Collector
from gpuscope.collectors.sink import Sink
from gpuscope.nvml.gpu import Gpu

__all__ = ["COLLECTOR"]

_FIRST_DRIVER = (595,)
_STATES = {248: "elapsed", 249: "active"}
_PIPES = {
    250: "tensor",
    251: "tensor_dfma",
    252: "tensor_hmma",
    253: "tensor_dmma",
    254: "tensor_imma",
    257: "int",
    258: "fp64",
    259: "fp32",
    260: "fp16",
}


def _activity(gpu: Gpu, out: Sink) -> None:
    if gpu.driver < _FIRST_DRIVER:
        return
    for metric, state in _STATES.items():
        out.gpu(m.SM_CYCLES, gpu.window.number(metric), state)
        for device in gpu.mig:
            out.mig(device.instance, m.MIG_SM_CYCLES, device.ci_window.number(metric), state)
    for metric, pipe in _PIPES.items():
        out.gpu(m.PIPE_CYCLES, gpu.window.number(metric), pipe)
        for device in gpu.mig:
            out.mig(device.instance, m.MIG_PIPE_CYCLES, device.ci_window.number(metric), pipe)


COLLECTOR = Collector("cycles", {Tier.ACTIVITY: _activity})

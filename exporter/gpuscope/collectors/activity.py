"""Activity by GPM, of GPUs and of MIG instances (Hopper and newer).

Output::

    gpuscope_gpu_sm_active_ratio{gpu="0",uuid="GPU-…"} 0.83
    gpuscope_mig_sm_active_seconds_total{gpu="4",uuid="GPU-…",mig_uuid="MIG-…",gi="2",profile="3g.40gb"} 310.2
"""

from gpuscope.catalogue import activity as m
from gpuscope.catalogue.metric import Metric, Tier
from gpuscope.collectors.collector import Collector
from gpuscope.collectors.integral import Integral
from gpuscope.collectors.sink import Sink
from gpuscope.nvml.gpu import Gpu
from gpuscope.nvml.values import PERCENT

__all__ = ["COLLECTOR"]

_DRAM = 10
_OCCUPANCY = 3
_GPU: dict[int, tuple[Metric, Metric]] = {
    1: (m.GRAPHICS_RATIO, m.GRAPHICS_SECONDS),
    2: (m.SM_RATIO, m.SM_SECONDS),
    5: (m.TENSOR_RATIO, m.TENSOR_SECONDS),
    _DRAM: (m.DRAM_RATIO, m.DRAM_SECONDS),
}
_MIG: dict[int, tuple[Metric, Metric]] = {
    1: (m.MIG_GRAPHICS_RATIO, m.MIG_GRAPHICS_SECONDS),
    2: (m.MIG_SM_RATIO, m.MIG_SM_SECONDS),
    5: (m.MIG_TENSOR_RATIO, m.MIG_TENSOR_SECONDS),
    _DRAM: (m.MIG_DRAM_RATIO, m.MIG_DRAM_SECONDS),
}


def _activity(gpu: Gpu, out: Sink) -> None:
    for metric, (ratio, seconds) in _GPU.items():
        value = gpu.window.number(metric, scale=PERCENT)
        out.gpu(ratio, value)
        out.gpu(seconds, gpu.keep(seconds, Integral).add(value, gpu.window.seconds))
    out.gpu(m.OCCUPANCY_RATIO, gpu.window.number(_OCCUPANCY, scale=PERCENT))
    out.gpu(m.WINDOW_SECONDS, gpu.keep(m.WINDOW_SECONDS, Integral).add(1.0, gpu.window.seconds))
    for device in gpu.mig:
        who = device.instance
        for metric, (ratio, seconds) in _MIG.items():
            if metric == _DRAM and not device.first:
                continue  # the memory interface belongs to the GPU instance
            window = device.gi_window if metric == _DRAM else device.ci_window
            value = window.number(metric, scale=PERCENT)
            out.mig(who, ratio, value)
            out.mig(who, seconds, gpu.keep((seconds, who.uuid), Integral).add(value, window.seconds))
        window = device.ci_window
        out.mig(who, m.MIG_OCCUPANCY_RATIO, window.number(_OCCUPANCY, scale=PERCENT))
        covered = gpu.keep((m.MIG_WINDOW_SECONDS, who.uuid), Integral).add(1.0, window.seconds)
        out.mig(who, m.MIG_WINDOW_SECONDS, covered)


COLLECTOR = Collector("activity", {Tier.ACTIVITY: _activity})

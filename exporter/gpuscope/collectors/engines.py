"""Activity of each video engine by GPM; off by default.

Output::

    gpuscope_gpu_engine_active_ratio{gpu="0",uuid="GPU-…",engine="nvdec",number="0"} 0.4
"""

from gpuscope.catalogue import engines as m
from gpuscope.catalogue.metric import Tier
from gpuscope.collectors.collector import Collector
from gpuscope.collectors.sink import Sink
from gpuscope.nvml.gpu import Gpu
from gpuscope.nvml.values import PERCENT

__all__ = ["COLLECTOR"]

_ENGINES = {"nvdec": (30, 8), "nvjpg": (40, 8), "nvofa": (50, 2), "nvenc": (166, 4)}


def _activity(gpu: Gpu, out: Sink) -> None:
    for engine, (first, count) in _ENGINES.items():
        for number in range(count):
            out.gpu(m.ENGINE_RATIO, gpu.window.number(first + number, scale=PERCENT), engine, str(number))


COLLECTOR = Collector("engines", {Tier.ACTIVITY: _activity})

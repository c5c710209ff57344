"""Chip-to-chip links between GPU and CPU (Grace).

Output::

    gpuscope_gpu_c2c_link_up{gpu="0",uuid="GPU-…",link="0"} 1
"""

from gpuscope.catalogue import c2c as m
from gpuscope.catalogue.metric import Tier
from gpuscope.collectors.collector import Collector
from gpuscope.collectors.integral import Integral
from gpuscope.collectors.sink import Sink
from gpuscope.nvml import fields
from gpuscope.nvml.gpu import Gpu
from gpuscope.nvml.values import MEBI, MEGA

__all__ = ["COLLECTOR"]

_ERRORS = {"intr": fields.C2C_INTERRUPTS, "replay": fields.C2C_REPLAYS, "replay_b2b": fields.C2C_REPLAYS_B2B}
_TRAFFIC = {"tx": 100, "rx": 101}
_MAX_LINKS = 64


def _links(gpu: Gpu) -> int:
    count = gpu.field(fields.C2C_LINKS)
    return int(count) if count is not None and 0 < count <= _MAX_LINKS else 0


def _activity(gpu: Gpu, out: Sink) -> None:
    if not _links(gpu):
        return
    for direction, metric in _TRAFFIC.items():
        rate = gpu.window.number(metric, scale=MEBI)
        out.gpu(m.BYTES, gpu.keep((m.BYTES, direction), Integral).add(rate, gpu.window.seconds), direction)


def _slow(gpu: Gpu, out: Sink) -> None:
    count = _links(gpu)
    if not count:
        return
    out.gpu(m.LINKS, count)
    for link in range(count):
        out.gpu(m.LINK_UP, gpu.field(fields.C2C_LINK_STATE, scope=link), str(link))
        out.gpu(m.BANDWIDTH_MAX, gpu.field(fields.C2C_LINK_MB, scope=link, scale=MEGA), str(link))
    for kind, field in _ERRORS.items():
        out.gpu(m.ERRORS, gpu.field(field), kind)


COLLECTOR = Collector("c2c", {Tier.ACTIVITY: _activity, Tier.SLOW: _slow})

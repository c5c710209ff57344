"""NVLink of a GPU as a whole; the driver answers nothing about it while MIG is on.

Output::

    gpuscope_gpu_nvlink_links{gpu="0",uuid="GPU-…",state="up"} 18
    gpuscope_gpu_nvlink_bytes_total{gpu="0",uuid="GPU-…",direction="tx"} 918273645568
"""

from gpuscope.catalogue import nvlink as m
from gpuscope.catalogue.metric import Tier
from gpuscope.collectors.collector import Collector
from gpuscope.collectors.sink import Sink
from gpuscope.nvml import links
from gpuscope.nvml.fields import ALL_LINKS
from gpuscope.nvml.gpu import Gpu

__all__ = ["COLLECTOR"]


def _activity(gpu: Gpu, out: Sink) -> None:
    for direction in links.DIRECTIONS:
        out.gpu(m.BYTES, links.traffic_bytes(gpu, direction, ALL_LINKS), direction)


def _slow(gpu: Gpu, out: Sink) -> None:
    states = [links.state(gpu, link) for link in links.present(gpu)]
    if states and None not in states:
        out.gpu(m.LINKS, states.count(1), "up")
        out.gpu(m.LINKS, states.count(0), "down")
    for kind, field in links.ERRORS.items():
        out.gpu(m.ERRORS, gpu.field(field, scope=ALL_LINKS), kind)


COLLECTOR = Collector("nvlink", {Tier.ACTIVITY: _activity, Tier.SLOW: _slow})

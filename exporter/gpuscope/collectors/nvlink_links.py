"""NVLink link by link; off by default, as 18 links make some hundred series a GPU.

Output::

    gpuscope_gpu_nvlink_link_bytes_total{gpu="0",uuid="GPU-…",link="3",direction="tx"} 51012647936
    gpuscope_gpu_nvlink_link_errors_total{gpu="0",uuid="GPU-…",link="3",type="crc"} 0
"""

from gpuscope.catalogue import nvlink_links as m
from gpuscope.catalogue.metric import Tier
from gpuscope.collectors.collector import Collector
from gpuscope.collectors.sink import Sink
from gpuscope.nvml import fields, links
from gpuscope.nvml.gpu import Gpu
from gpuscope.nvml.values import MEGA

__all__ = ["COLLECTOR"]

_PACKETS = {"tx": fields.NVLINK_TX_PACKETS, "rx": fields.NVLINK_RX_PACKETS}
_BIT_ERROR_RATIOS = {"effective": fields.NVLINK_EFFECTIVE_BER, "symbol": fields.NVLINK_SYMBOL_BER}


def _activity(gpu: Gpu, out: Sink) -> None:
    for link in links.present(gpu):
        for direction in links.DIRECTIONS:
            out.gpu(m.LINK_BYTES, links.traffic_bytes(gpu, direction, link), str(link), direction)


def _slow(gpu: Gpu, out: Sink) -> None:
    for link in links.present(gpu):
        name = str(link)
        out.gpu(m.LINK_UP, links.state(gpu, link), name)
        for direction, field in _PACKETS.items():
            out.gpu(m.LINK_PACKETS, gpu.field(field, scope=link), name, direction)
        for kind, field in links.ERRORS.items():
            out.gpu(m.LINK_ERRORS, gpu.field(field, scope=link), name, kind)
        for kind, field in _BIT_ERROR_RATIOS.items():
            out.gpu(m.BIT_ERROR_RATIO, links.bit_error_ratio(gpu.field(field, scope=link)), name, kind)
        for number, field in enumerate(fields.NVLINK_FEC):
            out.gpu(m.FEC_HISTORY, gpu.field(field, scope=link), name, str(number))
        out.gpu(m.LINK_SPEED, gpu.field(fields.NVLINK_SPEED_MB, scope=link, scale=MEGA), name)


COLLECTOR = Collector("nvlink_links", {Tier.ACTIVITY: _activity, Tier.SLOW: _slow})

"""PCIe errors by their cause; off by default.

Output::

    gpuscope_gpu_pcie_error_details_total{gpu="0",uuid="GPU-…",type="bad_tlp"} 0
"""

from gpuscope.catalogue import pcie_details as m
from gpuscope.catalogue.metric import Tier
from gpuscope.collectors.collector import Collector
from gpuscope.collectors.sink import Sink
from gpuscope.nvml import fields
from gpuscope.nvml.gpu import Gpu

__all__ = ["COLLECTOR"]

_TYPES = {
    "unsupported_request": fields.PCIE_COUNT_UNSUPPORTED,
    "bad_tlp": fields.PCIE_COUNT_BAD_TLP,
    "bad_dllp": fields.PCIE_COUNT_BAD_DLLP,
    "lcrc": fields.PCIE_COUNT_LCRC,
    "lane": fields.PCIE_COUNT_LANE,
    "receiver": fields.PCIE_COUNT_RECEIVER,
    "nak_received": fields.PCIE_COUNT_NAK_RECEIVED,
    "nak_sent": fields.PCIE_COUNT_NAK_SENT,
    "l0_recovery": fields.PCIE_L0_RECOVERY,
}


def _slow(gpu: Gpu, out: Sink) -> None:
    for kind, field in _TYPES.items():
        out.gpu(m.DETAILS, gpu.field(field), kind)


COLLECTOR = Collector("pcie_details", {Tier.SLOW: _slow})

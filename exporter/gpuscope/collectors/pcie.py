"""PCIe traffic, errors and link.

Output::

    gpuscope_gpu_pcie_bytes_total{gpu="0",uuid="GPU-…",direction="rx"} 73014444032
    gpuscope_gpu_pcie_link_generation{gpu="0",uuid="GPU-…",state="current"} 5
"""

import math
from dataclasses import dataclass

from gpuscope.catalogue import pcie as m
from gpuscope.catalogue.metric import Tier
from gpuscope.collectors.collector import Collector
from gpuscope.collectors.integral import Integral
from gpuscope.collectors.sink import Sink
from gpuscope.nvml import fields
from gpuscope.nvml.gpu import Gpu
from gpuscope.nvml.values import MEBI

__all__ = ["COLLECTOR"]

_BYTES = {"tx": (fields.PCIE_TX_BYTES, 20), "rx": (fields.PCIE_RX_BYTES, 21)}
_WRAP = 1 << 32
_ERRORS = {
    "correctable": fields.PCIE_COUNT_CORRECTABLE,
    "non_fatal": fields.PCIE_COUNT_NON_FATAL,
    "fatal": fields.PCIE_COUNT_FATAL,
}
_LINK = {"current": "Curr", "max": "Max"}


@dataclass(slots=True)
class _Unwrapped:
    """A byte counter that the driver wraps at 32 bits; read every few seconds it wraps at most once in between."""

    total: float = 0.0
    last: float | None = None

    def advance(self, raw: float) -> float | None:
        """Adds what came since the last reading; ``None`` while the driver never counted anything."""
        if self.last is not None:
            step = raw - self.last
            self.total += step + _WRAP if step < 0 and self.last < _WRAP else max(step, 0.0)
        else:
            self.total = raw
        self.last = raw
        return self.total or None


def _fast(gpu: Gpu, out: Sink) -> None:
    for direction, (field, _) in _BYTES.items():
        raw = gpu.field(field)
        if raw is not None and not math.isnan(raw):
            out.gpu(m.BYTES, gpu.keep((m.BYTES, direction), _Unwrapped).advance(raw), direction)


def _activity(gpu: Gpu, out: Sink) -> None:
    """Where the driver has no byte counters, or they never move, the GPM rates are summed up."""
    for direction, (_, metric) in _BYTES.items():
        counter = gpu.keep((m.BYTES, direction), _Unwrapped)
        rate = gpu.window.number(metric, scale=MEBI)
        total = gpu.keep((m.BYTES, direction, "gpm"), Integral).add(rate, gpu.window.seconds)
        if not counter.total:
            out.gpu(m.BYTES, total or None, direction)


def _slow(gpu: Gpu, out: Sink) -> None:
    out.gpu(m.REPLAYS, gpu.number("nvmlDeviceGetPcieReplayCounter"))
    for kind, field in _ERRORS.items():
        out.gpu(m.ERRORS, gpu.field(field), kind)
    for state, prefix in _LINK.items():
        out.gpu(m.GENERATION, gpu.number(f"nvmlDeviceGet{prefix}PcieLinkGeneration"), state)
        out.gpu(m.WIDTH, gpu.number(f"nvmlDeviceGet{prefix}PcieLinkWidth"), state)


COLLECTOR = Collector("pcie", {Tier.FAST: _fast, Tier.ACTIVITY: _activity, Tier.SLOW: _slow})

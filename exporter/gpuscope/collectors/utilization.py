"""Utilization as the driver averages it; the driver stops answering on a GPU in MIG mode.

Output::

    gpuscope_gpu_utilization_ratio{gpu="0",uuid="GPU-…"} 0.98
    gpuscope_gpu_busy_seconds_total{gpu="0",uuid="GPU-…"} 512.4
"""

from dataclasses import dataclass

from gpuscope.catalogue import utilization as m
from gpuscope.catalogue.metric import Tier
from gpuscope.collectors.collector import Collector
from gpuscope.collectors.sink import Sink
from gpuscope.nvml.gpu import Gpu
from gpuscope.nvml.samples import utilization_samples
from gpuscope.nvml.values import MICRO, PERCENT, plain

__all__ = ["COLLECTOR"]

_ENGINES = {
    "encoder": "nvmlDeviceGetEncoderUtilization",
    "decoder": "nvmlDeviceGetDecoderUtilization",
    "jpeg": "nvmlDeviceGetJpgUtilization",
    "ofa": "nvmlDeviceGetOfaUtilization",
}
_MAX_GAP_S = 2.0


@dataclass(slots=True)
class _Busy:
    """Integral over the driver's sample buffer; ``last`` is the time stamp (µs) of the newest sample used."""

    seconds: float = 0.0
    last: int = 0


def _busy(gpu: Gpu) -> float | None:
    busy = gpu.keep("busy", _Busy)
    samples = utilization_samples(gpu, busy.last)
    if samples is None or (not samples and not busy.last):
        return None
    for stamp, raw in samples:
        if stamp <= busy.last:
            continue
        gap = (stamp - busy.last) * MICRO
        percent = plain(raw)
        # A longer gap than the buffer's rhythm was not observed; it counts as nothing rather than as a guess.
        if busy.last and gap <= _MAX_GAP_S and 0 <= percent <= 100:
            busy.seconds += gap * percent * PERCENT
        busy.last = stamp
    return busy.seconds


def _fast(gpu: Gpu, out: Sink) -> None:
    rates = gpu.ask("nvmlDeviceGetUtilizationRates")
    if rates is not None:
        out.gpu(m.UTILIZATION, plain(rates.gpu) * PERCENT)
        out.gpu(m.MEMORY_CONTROLLER, plain(rates.memory) * PERCENT)
    for engine, call in _ENGINES.items():
        answer = gpu.ask(call)
        if answer is not None:
            out.gpu(m.ENGINE, plain(answer[0]) * PERCENT, engine)
    out.gpu(m.BUSY, None if gpu.mig_enabled else _busy(gpu))


COLLECTOR = Collector("utilization", {Tier.FAST: _fast})

"""ECC mode and errors.

Output::

    gpuscope_gpu_ecc_errors_total{gpu="0",uuid="GPU-…",severity="uncorrected",location="dram"} 0
    gpuscope_gpu_ecc_sram_threshold_exceeded{gpu="0",uuid="GPU-…"} 0
"""

from gpuscope.catalogue import ecc as m
from gpuscope.catalogue.metric import Tier
from gpuscope.collectors.collector import Collector
from gpuscope.collectors.sink import Sink
from gpuscope.nvml.gpu import Gpu
from gpuscope.nvml.structs import SramEccErrorStatus, reference
from gpuscope.nvml.values import plain

__all__ = ["COLLECTOR"]

_SEVERITIES = {"corrected": 0, "uncorrected": 1}
_VOLATILE, _AGGREGATE = 0, 1
_LOCATIONS = {"dram": 2, "sram": 7}
_UNITS = {
    "l2": "aggregateUncBucketL2",
    "sm": "aggregateUncBucketSm",
    "mcu": "aggregateUncBucketMcu",
    "pcie": "aggregateUncBucketPcie",
    "other": "aggregateUncBucketOther",
}


def _slow(gpu: Gpu, out: Sink) -> None:
    mode = gpu.ask("nvmlDeviceGetEccMode")
    if mode is None:
        return
    out.gpu(m.MODE_ENABLED, bool(mode[0]))
    out.gpu(m.MODE_PENDING, bool(mode[1]))
    if not mode[0]:
        return
    for severity, number in _SEVERITIES.items():
        out.gpu(m.ERRORS, gpu.number("nvmlDeviceGetTotalEccErrors", number, _VOLATILE), severity, "total")
        for location, place in _LOCATIONS.items():
            errors = gpu.number("nvmlDeviceGetMemoryErrorCounter", number, _VOLATILE, place)
            out.gpu(m.ERRORS, errors, severity, location)
        out.gpu(m.LIFETIME, gpu.number("nvmlDeviceGetTotalEccErrors", number, _AGGREGATE), severity)
    _sram(gpu, out)


def _sram(gpu: Gpu, out: Sink) -> None:
    status = SramEccErrorStatus()
    call = "nvmlDeviceGetSramEccErrorStatus"
    if gpu.attempt(call, lambda function: (function(gpu.pointer, reference(status)),)) is None:
        return
    out.gpu(m.SRAM_THRESHOLD, bool(status.bThresholdExceeded))
    for unit, name in _UNITS.items():
        out.gpu(m.SRAM_ERRORS, plain(getattr(status, name)), unit)


COLLECTOR = Collector("ecc", {Tier.SLOW: _slow})

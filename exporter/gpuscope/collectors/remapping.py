"""Row remapping, page retirement and repairs of GPU memory.

Output::

    gpuscope_gpu_remapped_rows_pending{gpu="0",uuid="GPU-…"} 0
    gpuscope_gpu_row_remapper_banks{gpu="0",uuid="GPU-…",availability="max"} 640
"""

from gpuscope.catalogue import remapping as m
from gpuscope.catalogue.metric import Tier
from gpuscope.collectors.collector import Collector
from gpuscope.collectors.sink import Sink
from gpuscope.nvml import fields
from gpuscope.nvml.gpu import Gpu
from gpuscope.nvml.values import plain

__all__ = ["COLLECTOR"]

_AVAILABILITY = ("max", "high", "partial", "low", "none")


def _slow(gpu: Gpu, out: Sink) -> None:
    out.gpu(m.RETIRED_PAGES, gpu.field(fields.RETIRED_SBE), "single_bit")
    out.gpu(m.RETIRED_PAGES, gpu.field(fields.RETIRED_DBE), "double_bit")
    out.gpu(m.RETIRED_PENDING, gpu.field(fields.RETIRED_PENDING))
    rows = gpu.ask("nvmlDeviceGetRemappedRows")
    if rows is not None:
        corrected, uncorrected, pending, failed = rows
        out.gpu(m.ROWS, plain(corrected), "corrected")
        out.gpu(m.ROWS, plain(uncorrected), "uncorrected")
        out.gpu(m.ROWS_PENDING, plain(pending))
        out.gpu(m.FAILED, plain(failed))
    histogram = gpu.ask("nvmlDeviceGetRowRemapperHistogram")
    if histogram is not None:
        for availability in _AVAILABILITY:
            out.gpu(m.BANKS, plain(getattr(histogram, availability)), availability)
    repair = gpu.ask("nvmlDeviceGetRepairStatus")
    if repair is not None:
        out.gpu(m.REPAIR_PENDING, plain(repair[0]), "channel")
        out.gpu(m.REPAIR_PENDING, plain(repair[1]), "tpc")
    out.gpu(m.UNREPAIRABLE, gpu.number("nvmlDeviceGetUnrepairableMemoryFlag_v1"))


COLLECTOR = Collector("remapping", {Tier.SLOW: _slow})

"""Frame buffer and BAR1.

Version 2 of the call keeps what the driver reserves apart from what processes hold; version 1 counts it as used.

Output::

    gpuscope_gpu_memory_used_bytes{gpu="0",uuid="GPU-…"} 72351744000
    gpuscope_mig_memory_used_bytes{gpu="4",uuid="GPU-…",mig_uuid="MIG-…",gi="2",profile="3g.40gb"} 11630804992
"""

from collections.abc import Callable
from functools import partial

import gpuscope.nvml.structs as structs
from gpuscope.catalogue import memory as m
from gpuscope.catalogue.metric import Metric, Tier
from gpuscope.collectors.collector import Collector
from gpuscope.collectors.sink import Sink
from gpuscope.nvml.gpu import Gpu
from gpuscope.nvml.handle import Handle
from gpuscope.nvml.values import plain

__all__ = ["COLLECTOR"]

_Add = Callable[[Metric, float | None], None]


def _frame_buffer(handle: Handle, add: _Add, metrics: tuple[Metric, Metric, Metric, Metric]) -> None:
    memory = handle.ask("nvmlDeviceGetMemoryInfo", structs.MEMORY_V2)
    if memory is not None:
        total, used, free, reserved = metrics
        add(total, plain(memory.total))
        add(used, plain(memory.used))
        add(free, plain(memory.free))
        add(reserved, plain(memory.reserved))


def _bar1(handle: Handle, add: _Add, metrics: tuple[Metric, Metric]) -> None:
    bar1 = handle.ask("nvmlDeviceGetBAR1MemoryInfo")
    if bar1 is not None:
        add(metrics[0], plain(bar1.bar1Total))
        add(metrics[1], plain(bar1.bar1Used))


def _fast(gpu: Gpu, out: Sink) -> None:
    _frame_buffer(gpu, out.gpu, (m.TOTAL, m.USED, m.FREE, m.RESERVED))
    for device in gpu.mig:
        if device.first:
            add = partial(out.mig, device.instance)
            _frame_buffer(device, add, (m.MIG_TOTAL, m.MIG_USED, m.MIG_FREE, m.MIG_RESERVED))


def _slow(gpu: Gpu, out: Sink) -> None:
    _bar1(gpu, out.gpu, (m.BAR1_TOTAL, m.BAR1_USED))
    for device in gpu.mig:
        if device.first:
            _bar1(device, partial(out.mig, device.instance), (m.MIG_BAR1_TOTAL, m.MIG_BAR1_USED))


COLLECTOR = Collector("memory", {Tier.FAST: _fast, Tier.SLOW: _slow})

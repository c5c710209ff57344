"""MIG mode and MIG instances.

Output::

    gpuscope_mig_info{gpu="4",uuid="GPU-…",mig_uuid="MIG-…",gi="2",profile="3g.40gb",ci="0",mig_index="0"} 1
    gpuscope_mig_slices{gpu="4",uuid="GPU-…",mig_uuid="MIG-…",gi="2",profile="3g.40gb",kind="gi"} 3
"""

from gpuscope.catalogue import mig as m
from gpuscope.catalogue.metric import Tier
from gpuscope.collectors.collector import Collector
from gpuscope.collectors.sink import Sink
from gpuscope.nvml.gpu import Gpu

__all__ = ["COLLECTOR"]

_ENGINES = {
    "copy": "sharedCopyEngineCount",
    "decoder": "sharedDecoderCount",
    "encoder": "sharedEncoderCount",
    "jpeg": "sharedJpegCount",
    "ofa": "sharedOfaCount",
}


def _static(gpu: Gpu, out: Sink) -> None:
    for device in gpu.mig:
        who = device.instance
        out.mig(who, m.MIG_INFO, 1, str(who.ci), str(who.index))
        attributes = device.ask("nvmlDeviceGetAttributes_v2")
        if attributes is None:
            continue
        out.mig(who, m.MULTIPROCESSORS, attributes.multiprocessorCount)
        out.mig(who, m.SLICES, attributes.gpuInstanceSliceCount, "gi")
        out.mig(who, m.SLICES, attributes.computeInstanceSliceCount, "ci")
        for engine, name in _ENGINES.items():
            out.mig(who, m.ENGINES, getattr(attributes, name), engine)


def _slow(gpu: Gpu, out: Sink) -> None:
    if gpu.mig_enabled is None:
        return
    out.gpu(m.MODE_ENABLED, gpu.mig_enabled)
    out.gpu(m.MODE_PENDING, gpu.mig_pending)
    if gpu.mig_enabled:
        support = gpu.ask("nvmlGpmQueryDeviceSupport")
        out.gpu(m.UTILIZATION_SUPPORTED, bool(support is not None and support.isSupportedDevice))


COLLECTOR = Collector("mig", {Tier.STATIC: _static, Tier.SLOW: _slow})

"""Confidential computing.

Output::

    gpuscope_cc_enabled 1
    gpuscope_gpu_memory_protected_used_bytes{gpu="0",uuid="GPU-…"} 1073741824
"""

from gpuscope.catalogue import confidential as m
from gpuscope.catalogue.metric import Sample, Tier
from gpuscope.collectors.collector import Collector
from gpuscope.collectors.sink import Sink
from gpuscope.nvml.gpu import Gpu
from gpuscope.nvml.library import Session
from gpuscope.nvml.values import plain

__all__ = ["COLLECTOR", "node_samples"]


def node_samples(session: Session) -> tuple[Sample, ...]:
    """Reads the state of the whole system; empty where the driver does not know confidential computing."""
    state = session.system("nvmlSystemGetConfComputeState")
    if state is None:
        return ()
    samples = [
        Sample(m.ENABLED, (), float(bool(state.ccFeature))),
        Sample(m.DEV_TOOLS, (), float(bool(state.devToolsMode))),
    ]
    ready = session.system("nvmlSystemGetConfComputeGpusReadyState")
    if ready is not None and state.ccFeature:
        samples.append(Sample(m.READY, (), float(bool(ready))))
    return tuple(samples)


def _slow(gpu: Gpu, out: Sink) -> None:
    memory = gpu.ask("nvmlDeviceGetConfComputeProtectedMemoryUsage")
    if memory is not None and memory.total:
        out.gpu(m.PROTECTED_TOTAL, plain(memory.total))
        out.gpu(m.PROTECTED_USED, plain(memory.used))


COLLECTOR = Collector("confidential", {Tier.SLOW: _slow})

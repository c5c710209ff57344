"""Virtual GPUs: the licence in a guest, and the instances on a host.

Output::

    gpuscope_gpu_vgpu_license_licensed{gpu="0",uuid="GPU-…"} 1
"""

from gpuscope.catalogue import vgpu as m
from gpuscope.catalogue.metric import Tier
from gpuscope.collectors.collector import Collector
from gpuscope.collectors.sink import Sink
from gpuscope.nvml.gpu import Gpu

__all__ = ["COLLECTOR"]

_GUEST, _HOST = {2}, {3, 4}
_MODES = {0: "none", 1: "passthrough", 2: "vgpu", 3: "host_vgpu", 4: "host_vsga"}


def _slow(gpu: Gpu, out: Sink) -> None:
    mode = gpu.ask("nvmlDeviceGetVirtualizationMode")
    if mode in _MODES:
        out.gpu(m.VIRTUALIZATION_INFO, 1, _MODES[mode])
    if mode in _GUEST:
        licence = gpu.ask("nvmlDeviceGetGridLicensableFeatures_v4")
        if licence is not None and licence.isGridLicenseSupported:
            count = licence.licensableFeaturesCount
            licensed = any(feature.featureState for feature in licence.gridLicensableFeatures[:count])
            out.gpu(m.LICENSED, licensed)
    if mode in _HOST:
        instances = gpu.ask("nvmlDeviceGetActiveVgpus")
        out.gpu(m.INSTANCES, None if instances is None else len(instances))


COLLECTOR = Collector("vgpu", {Tier.SLOW: _slow})

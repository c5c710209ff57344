"""Who is there.

Output::

    gpuscope_gpu_info{gpu="0",uuid="GPU-…",model="NVIDIA H100 80GB HBM3",…} 1
    gpuscope_gpu_compute_mode{gpu="0",uuid="GPU-…",mode="default"} 1
"""

from gpuscope.catalogue import inventory as m
from gpuscope.catalogue.metric import Tier
from gpuscope.collectors.collector import Collector
from gpuscope.collectors.sink import Sink
from gpuscope.nvml.gpu import Gpu
from gpuscope.nvml.identity import GpuIdentity

__all__ = ["COLLECTOR", "facts"]

_COMPUTE_MODES = {0: "default", 2: "prohibited", 3: "exclusive_process"}


def facts(who: GpuIdentity, out: Sink) -> None:
    """Publishes the constant facts of a GPU; the only readings that stay while it is down."""
    out.gpu(
        m.GPU_INFO,
        1,
        who.model,
        who.arch,
        who.pci_bus_id,
        who.minor,
        who.serial,
        who.vbios,
        who.compute_capability,
        who.numa_node,
        who.board_part,
        who.module_id,
    )


def _static(gpu: Gpu, out: Sink) -> None:
    facts(gpu.identity, out)


def _slow(gpu: Gpu, out: Sink) -> None:
    out.gpu(m.PERSISTENCE_MODE, gpu.number("nvmlDeviceGetPersistenceMode"))
    mode = gpu.ask("nvmlDeviceGetComputeMode")
    out.states(m.COMPUTE_MODE, None if mode is None else _COMPUTE_MODES.get(mode, f"mode_{mode}"))


COLLECTOR = Collector("inventory", {Tier.STATIC: _static, Tier.SLOW: _slow})

"""What a collector is."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from gpuscope.catalogue.metric import Tier
from gpuscope.collectors.sink import Sink
from gpuscope.nvml.gpu import Gpu

__all__ = ["Collector"]


@dataclass(frozen=True, slots=True)
class Collector:
    """Reads one subject of one GPU.

    Attributes:
        name: the subject; also the catalogue module and the flag ``--collector.<name>``.
        reads: per sampling tier the function that reads. It runs in the GPU's own thread, asks through the ``Gpu``
            and puts readings into the ``Sink``. ``DeviceLost`` and ``NvmlUnavailable`` pass through it.
    """

    name: str
    reads: Mapping[Tier, Callable[[Gpu, Sink], None]]

"""What the driver asks for to bring a GPU back (driver 565 and newer).

Output::

    gpuscope_gpu_recovery_action{gpu="0",uuid="GPU-…",action="none"} 1
"""

import math

from gpuscope.catalogue import recovery as m
from gpuscope.catalogue.metric import Tier
from gpuscope.collectors.collector import Collector
from gpuscope.collectors.sink import Sink
from gpuscope.nvml import fields
from gpuscope.nvml.gpu import Gpu

__all__ = ["COLLECTOR"]


def _slow(gpu: Gpu, out: Sink) -> None:
    value = gpu.field(fields.RECOVERY_ACTION)
    if value is None:
        return
    known = not math.isnan(value) and value < len(m.RECOVERY_ACTION.states)
    out.states(m.RECOVERY_ACTION, m.RECOVERY_ACTION.states[int(value)] if known else "unknown")


COLLECTOR = Collector("recovery", {Tier.SLOW: _slow})

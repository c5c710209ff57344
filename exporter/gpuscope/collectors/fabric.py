"""Membership of an NVLink fabric (NVSwitch systems, GB200).

Output::

    gpuscope_gpu_fabric_state{gpu="0",uuid="GPU-…",state="completed"} 1
    gpuscope_gpu_fabric_health{gpu="0",uuid="GPU-…",condition="degraded_bandwidth"} 0
"""

import uuid
from functools import partial
from typing import Any

from gpuscope.catalogue import fabric as m
from gpuscope.catalogue.metric import Tier
from gpuscope.collectors.collector import Collector
from gpuscope.collectors.sink import Sink
from gpuscope.nvml.gpu import Gpu
from gpuscope.nvml.structs import FabricInfoV2, FabricInfoV3, reference

__all__ = ["COLLECTOR"]

_CALL = "nvmlDeviceGetGpuFabricInfoV"
_COMPLETED = 3
_CONDITIONS = {
    "degraded_bandwidth": 0,
    "route_recovery": 2,
    "route_unhealthy": 4,
    "access_timeout_recovery": 6,
    "partition_assigned": 12,
}
_TRUE, _FALSE = 1, 2
_MISCONFIGURATION_SHIFT = 8
_SUMMARIES = {1: "healthy", 2: "unhealthy", 3: "limited"}


def _read(gpu: Gpu) -> Any | None:
    info: Any
    for info in (FabricInfoV3(), FabricInfoV2()):
        pointer = reference(info)
        if gpu.attempt(_CALL, partial(_fill, gpu, pointer), key=(type(info).__name__,)):
            return info
    return None


def _fill(gpu: Gpu, pointer: Any, function: Any) -> bool:
    function(gpu.pointer, pointer)
    return True


def _slow(gpu: Gpu, out: Sink) -> None:
    info = _read(gpu)
    if info is None:
        return
    states = m.STATE.states
    out.states(m.STATE, states[info.state] if info.state < len(states) else f"state_{info.state}")
    if info.state != _COMPLETED:
        return
    out.gpu(m.FABRIC_INFO, 1, str(uuid.UUID(bytes=bytes(info.clusterUuid))), str(info.cliqueId))
    out.gpu(m.STATUS, info.status)
    for condition, shift in _CONDITIONS.items():
        bits = info.healthMask >> shift & 0x3
        if bits in {_TRUE, _FALSE}:
            out.gpu(m.HEALTH, bits == _TRUE, condition)
    reason = info.healthMask >> _MISCONFIGURATION_SHIFT & 0xF
    if reason:
        reasons = m.MISCONFIGURATION.states
        out.states(m.MISCONFIGURATION, reasons[reason - 1] if reason <= len(reasons) else f"reason_{reason}")
    summary = getattr(info, "healthSummary", 0)
    if summary:
        out.states(m.SUMMARY, _SUMMARIES.get(summary, f"summary_{summary}"))


COLLECTOR = Collector("fabric", {Tier.SLOW: _slow})

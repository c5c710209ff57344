"""What attribution needs to know of the GPUs in a snapshot."""

from collections.abc import Iterable

from gpuscope.attribution.look import Look
from gpuscope.catalogue import activity as a
from gpuscope.catalogue import recovery, utilization
from gpuscope.catalogue.metric import Sample
from gpuscope.nvml.identity import DriverStatus
from gpuscope.sampling.snapshot import GpuStatus

__all__ = ["look"]

_NOBODY_LOOKS = frozenset({"released", "starting"})
_OF_GPU = frozenset({utilization.UTILIZATION, a.GRAPHICS_RATIO, a.SM_RATIO})
_OF_MIG = frozenset({a.MIG_GRAPHICS_RATIO, a.MIG_SM_RATIO})
_MIG_UUID = 2


def look(status: GpuStatus, driver: DriverStatus) -> Look:
    """Makes the look of one GPU."""
    return Look(
        identity=status.identity,
        up=status.up,
        looked=driver.ok or driver.reason not in _NOBODY_LOOKS,
        mig_enabled=status.mig_enabled,
        mig=status.mig,
        activity=_activity(status.identity.uuid, status.samples),
        asks_for_action=any(
            metric is recovery.RECOVERY_ACTION and labels[-1] != "none" and value == 1
            for metric, labels, value in status.samples
        ),
        listed=status.listed if status.up else None,
    )


def _activity(uuid: str, samples: Iterable[Sample]) -> dict[str, float]:
    found: dict[str, float] = {}
    for metric, labels, value in samples:
        if metric in _OF_GPU:
            found[uuid] = max(value, found.get(uuid, 0.0))
        elif metric in _OF_MIG:
            found[labels[_MIG_UUID]] = max(value, found.get(labels[_MIG_UUID], 0.0))
    return found

"""Counts the time that each device spends in each state, so that cost and idle reports are cut from counters."""

from collections.abc import Iterable, Iterator, Mapping

from gpuscope.attribution.allocation import Allocation, Known
from gpuscope.attribution.look import Look
from gpuscope.catalogue import attribution as m
from gpuscope.catalogue.metric import Sample
from gpuscope.nvml.identity import GpuIdentity, MigInstance

__all__ = ["BUSY_FROM", "StateSeconds"]

BUSY_FROM = 0.01
"""A device counts as busy from this share of the time on: the driver's own utilization has no finer step."""

_ALWAYS = tuple(state for state in m.STATES if state != "unknown")


class StateSeconds:
    """State times of all devices.

    The time between two looks counts for the state that the second one finds: utilization tells of the past. While a
    GPU is in MIG mode the time counts for its MIG devices. A device that is gone for good, as after a MIG change, is
    forgotten; one that cannot be read is not.

    Args:
        busy_from: share of the time in which a busy device does work.

    Attributes:
        now: UUID of a device -> the state that it is in.
    """

    def __init__(self, busy_from: float = BUSY_FROM) -> None:
        self.busy_from = busy_from
        self.now: Mapping[str, str] = {}
        self._at: float | None = None
        self._seconds: dict[str, dict[str, float]] = {}
        self._parts: dict[str, tuple[MigInstance, ...] | None] = {}

    def advance(self, now_s: float, looks: Iterable[Look], allocation: Allocation) -> tuple[Sample, ...]:
        """Accounts for the time since the last call.

        Args:
            now_s: seconds of a clock that never goes back.
            looks: all GPUs; one that is left out is forgotten.
            allocation: who holds what.

        Returns:
            The counters of all devices.
        """
        passed = 0.0 if self._at is None else max(0.0, now_s - self._at)
        self._at = now_s
        seconds: dict[str, dict[str, float]] = {}
        states: dict[str, str] = {}
        samples: list[Sample] = []
        parts: dict[str, tuple[MigInstance, ...] | None] = {}
        for look in looks:
            gpu = look.identity
            if not gpu.uuid:
                continue
            if look.up:
                parts[gpu.uuid] = tuple(look.mig) if look.mig_enabled else None
            else:
                parts[gpu.uuid] = self._parts.get(gpu.uuid)
            for mig in _devices(parts[gpu.uuid]):
                uuid = mig.uuid if mig else gpu.uuid
                states[uuid] = state = self._state(look, uuid, allocation)
                total = seconds[uuid] = self._seconds.get(uuid) or dict.fromkeys(_ALWAYS, 0.0)
                if uuid in self._seconds:
                    total[state] = total.get(state, 0.0) + passed
                samples += _samples(gpu, mig, total)
        self._seconds, self._parts, self.now = seconds, parts, states
        return tuple(samples)

    def _state(self, look: Look, uuid: str, allocation: Allocation) -> str:
        if not look.looked:
            return "unknown"
        if not look.up:
            return "unhealthy"
        activity = look.activity.get(uuid)
        if activity and activity >= self.busy_from:  # no work is not busy, whatever the threshold
            return "busy"
        if look.asks_for_action and activity is not None:
            return "unhealthy"
        known = allocation.known(uuid)
        if known is Known.UNALLOCATED:
            return "unallocated"
        if known is Known.UNKNOWN or activity is None:
            return "unknown"
        return "idle_allocated"


def _devices(parts: tuple[MigInstance, ...] | None) -> Iterator[MigInstance | None]:
    if parts is None:
        yield None
    else:
        yield from parts


def _samples(gpu: GpuIdentity, mig: MigInstance | None, total: Mapping[str, float]) -> Iterator[Sample]:
    own: tuple[str, ...] = (str(gpu.index), gpu.uuid)
    metric = m.GPU_STATE_SECONDS
    if mig is not None:
        own, metric = (*own, mig.uuid, str(mig.gi), mig.profile), m.MIG_STATE_SECONDS
    for state, spent in total.items():
        yield Sample(metric, (*own, state), spent)

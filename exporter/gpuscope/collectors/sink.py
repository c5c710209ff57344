"""Where collectors put readings: what is absent stays absent, what is implausible is dropped and counted."""

from gpuscope.catalogue.metric import Metric, Sample
from gpuscope.nvml.identity import GpuIdentity, MigInstance
from gpuscope.nvml.ledger import Ledger

__all__ = ["Sink"]


class Sink:
    """Readings of one GPU in one cycle.

    Args:
        identity: the GPU.
        ledger: where dropped readings are counted.

    Attributes:
        samples: what was accepted, in order.
    """

    __slots__ = ("_gpu_labels", "_ledger", "samples")

    def __init__(self, identity: GpuIdentity, ledger: Ledger) -> None:
        self._gpu_labels = (str(identity.index), identity.uuid)
        self._ledger = ledger
        self.samples: list[Sample] = []

    def gpu(self, metric: Metric, value: float | None, *extra: str) -> None:
        """Adds a reading of the GPU; ``None`` adds nothing.

        Args:
            metric: a metric of the GPU level.
            value: in the metric's base unit.
            extra: values of ``metric.extra``, in order.
        """
        if value is not None:
            self._add(metric, self._gpu_labels + extra, value)

    def mig(self, instance: MigInstance, metric: Metric, value: float | None, *extra: str) -> None:
        """Adds a reading of a MIG instance; ``None`` adds nothing."""
        if value is not None:
            labels = (*self._gpu_labels, instance.uuid, str(instance.gi), instance.profile, *extra)
            self._add(metric, labels, value)

    def states(self, metric: Metric, current: str | None, *extra: str) -> None:
        """Adds a state set of the GPU: 1 for the current state, 0 for the others.

        A state that the catalogue does not know counts as implausible and adds nothing.
        """
        if current is None:
            return
        if current not in metric.states:
            self._ledger.dropped[metric.name, "bounds"] += 1
            return
        for state in metric.states:
            self._add(metric, (*self._gpu_labels, *extra, state), float(state == current))

    def _add(self, metric: Metric, labels: tuple[str, ...], value: float) -> None:
        if metric.low <= value <= metric.high:
            self.samples.append(Sample(metric, labels, float(value)))
        else:  # NaN compares false with everything: a sentinel, marked at the door
            reason = "bounds" if value == value else "sentinel"
            self._ledger.dropped[metric.name, reason] += 1

"""The samples of one GPU, sorted by whom they describe and found by name."""

from gpuscope.catalogue.metric import Level, Sample
from gpuscope.sampling.snapshot import GpuStatus

__all__ = ["STATES", "Readings", "state_of"]

STATES = ("ok", "lost", "timeout", "reset_required", "driver", "error")
"""States of a GPU; what each means stands in docs/api.md."""

_GPU_LABELS = 2  # gpu, uuid
_MIG_LABELS = 5  # gpu, uuid, mig_uuid, gi, profile
_MIG_UUID = 2


def state_of(status: GpuStatus) -> str:
    """One word for the state of a GPU."""
    if status.up:
        return "ok"
    return status.reason if status.reason in STATES[1:] else "error"


class Readings:
    """Readings of a GPU and of its MIG instances.

    Attributes:
        gpu: samples of the GPU itself.
        mig: samples of each MIG instance, by its UUID.
    """

    __slots__ = ("_values", "gpu", "mig")

    def __init__(self, status: GpuStatus) -> None:
        self.gpu: list[Sample] = []
        self.mig: dict[str, list[Sample]] = {instance.uuid: [] for instance in status.mig}
        self._values: dict[tuple[str, ...], float] = {}
        for sample in status.samples:
            metric, labels, value = sample
            if metric.level is Level.MIG:
                uuid = labels[_MIG_UUID]
                self.mig.setdefault(uuid, []).append(sample)
                self._values[(uuid, metric.name, *labels[_MIG_LABELS:])] = value
            else:
                self.gpu.append(sample)
                self._values[("", metric.name, *labels[_GPU_LABELS:])] = value

    def of_gpu(self, name: str, *extra: str) -> float | None:
        """A reading of the GPU; ``None`` when it is unknown.

        Args:
            name: metric name without ``gpuscope_gpu_``.
            extra: values of the metric's own labels.
        """
        return self._values.get(("", f"gpuscope_gpu_{name}", *extra))

    def of_mig(self, uuid: str, name: str, *extra: str) -> float | None:
        """The same for a MIG instance; ``name`` is without ``gpuscope_mig_``."""
        return self._values.get((uuid, f"gpuscope_mig_{name}", *extra))

    def recovery_action(self) -> str | None:
        """The driver's own recommendation for this GPU (``none``, ``gpu_reset`` …), when it gives one."""
        for metric, labels, value in self.gpu:
            if metric.name == "gpuscope_gpu_recovery_action" and value == 1.0:
                return labels[-1]
        return None

"""GPU performance monitoring (GPM): contiguous windows over a GPU, a GPU instance or a compute instance.

A window is the time between two samples. The end of one window is the start of the next, so that Σ ratio × Δt misses
nothing. Hopper and newer; A100 and older do not have it.
"""

import math
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pynvml

from gpuscope.nvml.handle import Handle

__all__ = ["GpmWindow"]

_METRICS_GET_VERSION = 1
_MIN_WINDOW_S = 0.1


class GpmWindow:
    """The running window of one target.

    Args:
        handle: where calls are counted and support is remembered: the GPU or the MIG device.
        take: fills a sample: ``take(binding_sample)``, through ``handle.attempt``.
        name: name of the sampling call, for the ledger.

    Attributes:
        seconds: length of the last finished window; 0 while there is none.
    """

    def __init__(self, handle: Handle, name: str, take: Callable[[Any, Any], Any]) -> None:
        self._handle = handle
        self._name = name
        self._take = take
        self._wanted: list[int] = []
        self._request: Any = None
        self._last: tuple[Any, float] | None = None
        self._spare: Any = None
        self._values: dict[int, float] = {}
        self.seconds = 0.0

    @classmethod
    def of_gpu(cls, handle: Handle) -> "GpmWindow":
        """Window over a whole GPU, or over the compute instance when ``handle`` is a MIG device."""
        call = "nvmlGpmSampleGet"
        return cls(handle, call, lambda function, sample: function(handle.pointer, sample))

    @classmethod
    def of_gpu_instance(cls, handle: Handle, parent: Handle, gi: int) -> "GpmWindow":
        """Window over a GPU instance, asked through its parent GPU and counted for ``handle``."""
        call = "nvmlGpmMigSampleGet"
        return cls(handle, call, lambda function, sample: function(parent.pointer, gi, sample))

    def advance(self) -> bool:
        """Ends the running window and starts the next; true when a finished window can be read.

        Raises:
            DeviceLost: the GPU is gone.
            NvmlUnavailable: the driver is gone.
        """
        self._values, self.seconds = {}, 0.0
        now = self._handle.clock()
        if self._last and now - self._last[1] < _MIN_WINDOW_S:
            return False
        if self._spare is None:
            self._spare = self._handle.attempt("nvmlGpmSampleAlloc", lambda function: function())
        sample, self._spare = self._spare, None
        if sample is None:
            return False
        taken = self._handle.attempt(self._name, lambda function: self._take(function, sample))
        if taken is None:
            self._spare = sample
            self._forget_last()
            return False
        if self._last is None:
            self._last = (sample, now)
            return False
        (previous, start), self._last = self._last, (sample, now)
        self._spare = previous
        if self._wanted:
            self._evaluate(previous, sample)
            self.seconds = now - start
        return self.seconds > 0

    def number(self, metric: int, *, scale: float = 1.0) -> float | None:
        """A GPM metric over the last window; ``None`` when there is no window or no answer.

        The first request for a metric adds it to the following windows.
        """
        if metric not in self._wanted and self._handle.supported(_question(metric)):
            self._wanted.append(metric)
            self._request = None
        value = self._values.get(metric)
        return None if value is None else value * scale

    def close(self) -> None:
        """Frees the samples; must come before NVML is shut down."""
        self._forget_last()
        self._free(self._spare)
        self._spare = None

    def _evaluate(self, first: Any, second: Any) -> None:
        request = self._request
        if request is None:
            request = self._request = pynvml.c_nvmlGpmMetricsGet_t()
            request.version = _METRICS_GET_VERSION
            request.numMetrics = len(self._wanted)
            for entry, metric in zip(request.metrics, self._wanted, strict=False):
                entry.metricId = metric
        request.sample1, request.sample2 = first, second
        if self._handle.attempt("nvmlGpmMetricsGet", lambda function: function(request)) is None:
            return
        for entry in request.metrics[: request.numMetrics]:
            if entry.nvmlReturn == pynvml.NVML_ERROR_NOT_SUPPORTED:
                self._handle.refuse(_question(entry.metricId))
                self._wanted.remove(entry.metricId)
                self._request = None
            elif entry.nvmlReturn:
                self._handle.judge(_question(entry.metricId), entry.nvmlReturn)
            elif math.isfinite(entry.value):
                self._values[entry.metricId] = entry.value

    def _forget_last(self) -> None:
        last, self._last = self._last, None
        if last:
            self._free(last[0])

    def _free(self, sample: Any) -> None:
        if sample is not None:
            with suppress(pynvml.NVMLError):
                pynvml.nvmlGpmSampleFree(sample)


def _question(metric: int) -> str:
    return f"nvmlGpmMetricsGet:{metric}"

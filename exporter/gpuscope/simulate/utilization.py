"""Simulated readings of how busy a GPU is."""

from collections.abc import Callable

from gpuscope.simulate.device import SimGpu
from gpuscope.simulate.node import Node
from gpuscope.simulate.status import ARGUMENT, INSUFFICIENT_SIZE, NOT_FOUND, NOT_SUPPORTED, Status, put, read
from gpuscope.simulate.table import Entry, getter, mig_off, physical

__all__ = ["FUNCTIONS"]

_SAMPLES_PER_S = 6
_SAMPLES = 99
_GPU_UTILIZATION, _MEMORY_UTILIZATION = 1, 2
_ENGINE_PERIOD_US = 167_000


def percent(ratio: float) -> int:
    """A ratio as NVML writes it."""
    return round(100 * min(1.0, max(0.0, ratio)))


@physical
def _utilization(_node: Node, gpu: SimGpu, pointer: int) -> int:
    if gpu.mig_mode:
        raise Status(NOT_SUPPORTED)
    return put(pointer, "II", percent(gpu.load.graphics), percent(gpu.load.dram * 0.9))


@physical
def _samples(node: Node, gpu: SimGpu, kind: int, last_us: int, value_type: int, count: int, buffer: int | None) -> int:
    """The driver's ring buffer: 99 samples, six a second; those after ``last_us`` are copied."""
    if kind not in {_GPU_UTILIZATION, _MEMORY_UTILIZATION}:
        raise Status(ARGUMENT)
    if gpu.mig_mode or kind != _GPU_UTILIZATION:
        raise Status(NOT_SUPPORTED)
    put(value_type, "I", 1)
    if not buffer:
        return put(count, "I", _SAMPLES)
    newest = int((gpu.now - node.start) * _SAMPLES_PER_S)
    numbers = range(max(0, newest - _SAMPLES + 1), newest + 1)
    stamps = [(node.start + number / _SAMPLES_PER_S, number) for number in numbers]
    fresh = [int(stamp * 1e6) for stamp, _ in stamps if int(stamp * 1e6) > last_us]
    if not fresh:
        raise Status(NOT_FOUND)
    if read(count, "I")[0] < len(fresh):
        raise Status(INSUFFICIENT_SIZE)
    values = (part for stamp in fresh for part in (stamp, percent(_ratio_at(gpu, stamp / 1e6))))
    put(buffer, "QI4x" * len(fresh), *values)
    return put(count, "I", len(fresh))


def _ratio_at(gpu: SimGpu, when: float) -> float:
    for end, ratio in gpu.history:
        if when < end:
            return ratio
    return gpu.load.graphics


def _engine(ratio: Callable[[SimGpu], float]) -> Entry:
    return getter("II", lambda gpu: (percent(ratio(gpu)), _ENGINE_PERIOD_US), when=mig_off)


FUNCTIONS: dict[str, Entry] = {
    "nvmlDeviceGetUtilizationRates": ("pp", _utilization),
    "nvmlDeviceGetEncoderUtilization": _engine(lambda gpu: gpu.load.encoder),
    "nvmlDeviceGetDecoderUtilization": _engine(lambda gpu: gpu.load.decoder),
    "nvmlDeviceGetJpgUtilization": _engine(lambda gpu: 0.0),
    "nvmlDeviceGetOfaUtilization": _engine(lambda gpu: 0.0),
    "nvmlDeviceGetSamples": ("puqppp", _samples),
    "nvmlDeviceGetEncoderStats": getter("III", lambda gpu: (0, 0, 0)),
}

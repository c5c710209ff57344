"""The driver's buffer of utilization samples."""

from typing import Any

import pynvml

import gpuscope.nvml.structs as structs
from gpuscope.nvml.handle import Handle

__all__ = ["utilization_samples"]


def utilization_samples(handle: Handle, since: int) -> list[tuple[int, float]] | None:
    """Samples of GPU utilization that are newer than a time stamp.

    Source: ``nvmlDeviceGetSamples``, which says NOT_FOUND when there is nothing newer yet. That is an answer.

    Args:
        handle: the GPU.
        since: time stamp of the newest sample that is known, in microseconds; 0 for all.

    Returns:
        (time stamp in microseconds, percent), oldest first; ``None`` when the driver does not tell.
    """

    def run(call: Any) -> Any:
        try:
            return call(handle.pointer, structs.SAMPLES_GPU_UTILIZATION, since)
        except pynvml.NVMLError as error:
            if error.value == pynvml.NVML_ERROR_NOT_FOUND:
                return 0, ()
            raise

    # The time stamp is part of the question, but not of what is supported.
    answer = handle.attempt("nvmlDeviceGetSamples", run)
    if answer is None:
        return None
    value_type, samples = answer
    return [(int(one.timeStamp), structs.value_of(one.sampleValue, value_type)) for one in samples]

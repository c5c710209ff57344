"""The agent's samples about itself: cycles, NVML calls, collectors, dropped readings."""

import platform
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from gpuscope.catalogue import agent as m
from gpuscope.catalogue import inventory
from gpuscope.catalogue.metric import Sample, Tier
from gpuscope.nvml.identity import DriverStatus
from gpuscope.nvml.ledger import Ledger
from gpuscope.nvml.library import binding_version
from gpuscope.sampling.options import SamplingOptions
from gpuscope.sampling.worker import WorkerState

__all__ = ["build_samples", "call_samples", "collector_samples", "cycle_samples", "driver_samples"]


def build_samples(options: SamplingOptions) -> list[Sample]:
    """Version of the agent and its parts."""
    labels = (options.version, options.revision, platform.python_version(), binding_version())
    return [Sample(inventory.BUILD_INFO, labels, 1.0)]


def driver_samples(driver: DriverStatus, *, ready: bool) -> list[Sample]:
    """Whether the driver can be talked to, and which it is."""
    samples = [Sample(m.UP, (), float(driver.ok)), Sample(m.READY, (), float(ready))]
    if driver.ok:
        labels = (driver.driver_version, driver.cuda_version, driver.nvml_version, driver.kernel_module)
        samples.append(Sample(inventory.DRIVER_INFO, labels, 1.0))
    else:
        samples.append(Sample(m.UNAVAILABLE_INFO, (driver.reason,), 1.0))
    return samples


def cycle_samples(states: Sequence[WorkerState], skipped: Mapping[tuple[Tier, str], int]) -> list[Sample]:
    """Durations on the slowest GPU, last success on the GPU that is furthest behind, and skipped cycles."""
    samples = []
    up = [state for state in states if state.up]
    for tier in Tier:
        durations = [state.durations[tier] for state in up if tier in state.durations]
        if durations:
            samples.append(Sample(m.CYCLE_DURATION, (tier.value,), max(durations)))
            oldest = min(state.succeeded.get(tier, 0.0) for state in up)
            if oldest:
                samples.append(Sample(m.CYCLE_LAST, (tier.value,), oldest))
    samples += [Sample(m.CYCLES_SKIPPED, (tier.value, reason), count) for (tier, reason), count in skipped.items()]
    return samples


def collector_samples(states: Iterable[WorkerState]) -> list[Sample]:
    """Success and duration of each collector, over all GPUs."""
    seconds: Counter[str] = Counter()
    failed: Counter[str] = Counter()
    for state in states:
        for name, run in state.runs.items():
            seconds[name] += run.seconds  # type: ignore[assignment]
            failed[name] += not run.success
    samples = [Sample(m.COLLECTOR_SUCCESS, (name,), float(not failed[name])) for name in seconds]
    return samples + [Sample(m.COLLECTOR_DURATION, (name,), float(spent)) for name, spent in seconds.items()]


def call_samples(ledger: Ledger) -> list[Sample]:
    """NVML calls, their time, their failures, what is unsupported, and what was thrown away."""
    unsupported = Counter(call for _, call in ledger.unsupported)
    return [
        *(Sample(m.NVML_CALLS, (call,), count) for call, count in ledger.calls.items()),
        *(Sample(m.NVML_SECONDS, (call,), seconds) for call, seconds in ledger.seconds.items()),
        *(Sample(m.NVML_ERRORS, key, count) for key, count in ledger.errors.items()),
        *(Sample(m.NVML_UNSUPPORTED, (call,), count) for call, count in sorted(unsupported.items())),
        *(Sample(m.IMPLAUSIBLE, key, count) for key, count in ledger.dropped.items()),
    ]

"""One GPU's cycles, without threads: runs the collectors of the tiers that are due and keeps their last results."""

import logging
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from gpuscope.catalogue.metric import Metric, Sample, Tier
from gpuscope.collectors.collector import Collector
from gpuscope.collectors.sink import Sink
from gpuscope.errors import DeviceLost, NvmlUnavailable
from gpuscope.nvml.gpu import Gpu
from gpuscope.sampling.exposition import forget_series, render_blocks

__all__ = ["TIERS", "CollectorRun", "GpuSampler", "Readings"]

log = logging.getLogger(__name__)

TIERS = (Tier.STATIC, Tier.FAST, Tier.ACTIVITY, Tier.PROCESSES, Tier.SLOW)


@dataclass(frozen=True, slots=True, eq=False)
class Readings:
    """The last result of one collector and tier, and its finished lines; compared by identity.

    ``taken`` is the time of reading, in seconds of the GPU's monotonic clock.
    """

    samples: tuple[Sample, ...]
    blocks: dict[Metric, str]
    taken: float = 0.0


@dataclass(slots=True)
class CollectorRun:
    """How a collector's last run went: seconds it took, whether it succeeded, failures so far."""

    seconds: float = 0.0
    success: bool = True
    failures: int = 0


@dataclass(slots=True)
class GpuSampler:
    """Samples one GPU.

    Attributes:
        gpu: the GPU, used by one thread only.
        collectors: what runs, in the order of the catalogue.
        readings: last results, by collector and tier. Replaced, never changed in place.
        runs: how each collector's last run went.
    """

    gpu: Gpu
    collectors: Sequence[Collector]
    readings: dict[tuple[str, Tier], Readings] = field(default_factory=dict)
    runs: dict[str, CollectorRun] = field(default_factory=dict)

    def cycle(self, tiers: Iterable[Tier]) -> None:
        """Runs the collectors of these tiers.

        A collector that fails loses its own readings and nothing else.

        Raises:
            DeviceLost: the GPU is gone.
            NvmlUnavailable: the driver is gone.
        """
        fresh = dict(self.readings)
        for tier in tiers:
            self.gpu.fields.refresh(tier)
            if tier is Tier.ACTIVITY:
                for window in self.gpu.windows():
                    window.advance()
            for collector in self.collectors:
                read = collector.reads.get(tier)
                if read is None:
                    continue
                sink = Sink(self.gpu.identity, self.gpu.ledger)
                taken = self.gpu.clock()
                if self._run(collector, tier, sink):
                    fresh[collector.name, tier] = Readings(tuple(sink.samples), render_blocks(sink.samples), taken)
                else:
                    fresh.pop((collector.name, tier), None)
        self.readings = fresh

    def refresh_mig(self) -> bool:
        """Looks for MIG changes; after one, every reading is taken anew, as ids are reused."""
        if not self.gpu.refresh_mig():
            return False
        self.readings = {}
        forget_series()
        return True

    def samples(self) -> tuple[Sample, ...]:
        """All current readings."""
        return tuple(sample for reading in self.readings.values() for sample in reading.samples)

    def _run(self, collector: Collector, tier: Tier, sink: Sink) -> bool:
        run = self.runs.setdefault(collector.name, CollectorRun())
        started = time.perf_counter()
        try:
            collector.reads[tier](self.gpu, sink)
            run.success = True
        except (DeviceLost, NvmlUnavailable):
            raise
        except Exception:  # the boundary: one broken collector costs its own readings
            run.success = False
            run.failures += 1
            if run.failures in {1, 10, 100} or run.failures % 1000 == 0:
                log.exception("collector %s failed on GPU %s", collector.name, self.gpu.uuid)
        run.seconds = time.perf_counter() - started
        return run.success

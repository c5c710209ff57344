"""Simulated machines for tests: the real binding on the simulated driver, without threads and on a clock of its own."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from gpuscope import simulate
from gpuscope.catalogue import DEFAULT_OFF, METRICS, SUBJECTS
from gpuscope.catalogue.metric import Sample
from gpuscope.collectors import COLLECTORS
from gpuscope.nvml.gpu import open_gpu
from gpuscope.nvml.ledger import Ledger
from gpuscope.nvml.library import Session
from gpuscope.sampling.exposition import Exposition
from gpuscope.sampling.sampler import TIERS, GpuSampler


class Machine:
    """A simulated machine whose cycles the test runs.

    ``value`` and ``series`` look readings up; ``cycle`` moves time on and samples every GPU.
    """

    def __init__(
        self, scenario: str, *, collectors: frozenset[str] | None = None, kernel_log: Path | None = None, seed: str
    ) -> None:
        names = set(SUBJECTS) - DEFAULT_OFF if collectors is None else collectors
        self.collectors = [one for one in COLLECTORS if one.name in names]
        self.clock = simulate.ManualClock()
        self.driver = simulate.SimulatedDriver(
            simulate.load(scenario), clock=self.clock, kernel_log=kernel_log, seed=seed
        )
        self.session = Session(self.driver.open)
        self.ledger = Ledger()
        self.samplers: list[GpuSampler] = []

    def start(self) -> None:
        self.session.start()
        for index in range(self.session.count()):
            gpu = open_gpu(self.session, index, self.ledger, self.clock.monotonic)
            sampler = GpuSampler(gpu, self.collectors)
            sampler.refresh_mig()
            self.samplers.append(sampler)

    def cycle(self, seconds: float = 0.0, *, gpus: list[int] | None = None) -> None:
        self.clock.advance(seconds)
        for index, sampler in enumerate(self.samplers):
            if gpus is None or index in gpus:
                sampler.refresh_mig()
                sampler.cycle(TIERS)

    def close(self) -> None:
        for sampler in self.samplers:
            sampler.gpu.close_windows()
        self.session.stop()
        self.driver.close()
        assert self.driver.callback_errors == []

    def samples(self) -> list[Sample]:
        return [sample for sampler in self.samplers for sample in sampler.samples()]

    def series(self, name: str, **labels: str) -> dict[tuple[str, ...], float]:
        """Label values -> value of all series of a metric that carry these labels."""
        found = {}
        for metric, values, value in self.samples():
            own = dict(zip(metric.labels, values, strict=True))
            if metric.name == name and all(own.get(key) == wanted for key, wanted in labels.items()):
                found[values] = value
        return found

    def value(self, name: str, **labels: str) -> float | None:
        found = self.series(name, **labels)
        assert len(found) <= 1, found
        return next(iter(found.values()), None)

    def text(self, *, openmetrics: bool = False) -> str:
        blocks = [reading.blocks for sampler in self.samplers for reading in sampler.readings.values()]
        return Exposition(blocks, METRICS).body(openmetrics=openmetrics).decode()


@pytest.fixture
def machine() -> Iterator[Callable[..., Machine]]:
    """Makes machines: ``machine("h100-mig")``; ``collectors`` limits or widens what runs."""
    with ExitStack() as stack:

        @contextmanager
        def running(scenario: str, **options: object) -> Iterator[Machine]:
            one = Machine(scenario, **{"seed": "node-a", **options})  # type: ignore[arg-type]
            one.start()
            try:
                yield one
            finally:
                one.close()

        yield lambda scenario, **options: stack.enter_context(running(scenario, **options))

"""Simulated machines whose readings go through the renderer, with holders that the test decides."""

from collections.abc import Callable
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from gpuscope.catalogue import METRICS
from gpuscope.catalogue.metric import Sample
from gpuscope.catalogue.xid import EVENT_WATCHER_UP
from gpuscope.compat import Owner, Renderer
from gpuscope.faults.ledger import FaultLedger
from gpuscope.faults.xids import XidCatalogue
from gpuscope.nvml.events import NvmlEvent
from gpuscope.nvml.identity import DriverStatus
from gpuscope.sampling.exposition import Exposition
from gpuscope.sampling.options import SamplingOptions
from gpuscope.sampling.rendering import Device, Rendered
from gpuscope.sampling.snapshot import GpuStatus

Labels = dict[str, str]
TRAINER = Owner("research", "trainer-0", "main")
SERVER = Owner("serving", "llm-7f9c", "vllm")


class Holders(dict[str, Owner]):
    """Device uuid -> its only holder."""

    def owner(self, device_uuid: str, /) -> Owner | None:
        return self.get(device_uuid)


class Node:
    """A simulated machine, and what a scrape of it would give.

    ``holders``, ``down`` (indexes of GPUs) and ``watching`` (whether XIDs are noticed) are the test's to change.
    """

    def __init__(self, machine: Any, **options: str) -> None:
        self.machine = machine
        self.holders = Holders()
        self.down: set[int] = set()
        self.watching = True
        self.driver_version = machine.session.driver_version
        self.hostname = "node-a"
        self.options = {"compat": "dcgm", **options}
        xids = XidCatalogue.load()
        self.ledger = FaultLedger(xids)
        self.renderer = Renderer(xids, lambda: self.holders)

    def cycles(self, *seconds: float) -> "Node":
        for step in seconds or (0, 10):
            self.machine.cycle(step)
            self.rendered()
        return self

    def xid(self, gpu: int, code: int, when: float, gi: int | None = None) -> None:
        uuid = self.machine.samplers[gpu].gpu.uuid
        self.ledger.nvml_event(NvmlEvent(uuid=uuid, type="xid", time=when, xid=code, gi=gi, ci=None))

    def uuid(self, gpu: int) -> str:
        return str(self.machine.samplers[gpu].gpu.uuid)

    def mig_uuid(self, gpu: int, place: int = 0) -> str:
        return str(self.machine.samplers[gpu].gpu.mig[place].instance.uuid)

    def rendered(self) -> Rendered:
        devices = []
        for sampler in self.machine.samplers:
            gpu, up = sampler.gpu, sampler.gpu.identity.index not in self.down
            mig = tuple(device.instance for device in gpu.mig) if up else ()
            status = GpuStatus(gpu.identity, up, "" if up else "lost", 0.0, 0.0, gpu.mig_enabled, mig, ())
            devices.append(Device(status, self.ledger.samples(gpu.identity), sampler.readings if up else {}))
        options = SamplingOptions(node=self.hostname, collectors=frozenset(), **self.options)  # type: ignore[arg-type]
        driver = DriverStatus(ok=True, driver_version=self.driver_version)
        return self.renderer(options, driver, devices, [Sample(EVENT_WATCHER_UP, (), float(self.watching))])

    def text(self, *, openmetrics: bool = False) -> str:
        rendered = self.rendered()
        return Exposition(rendered.blocks, METRICS, rendered.foreign).body(openmetrics=openmetrics).decode()

    def series(self, name: str, **labels: str) -> list[tuple[Labels, float]]:
        """Labels and value of all series of a name that carry these labels."""
        lines = "".join(line for line in self.text().splitlines(keepends=True) if line.startswith(f"{name}{{"))
        return [
            (sample.labels, sample.value)
            for family in text_string_to_metric_families(lines)
            for sample in family.samples
            if labels.items() <= sample.labels.items()
        ]

    def value(self, name: str, **labels: str) -> float | None:
        found = self.series(name, **labels)
        assert len(found) <= 1, found
        return found[0][1] if found else None


@pytest.fixture
def node(machine: Callable[..., Any]) -> Callable[..., Node]:
    """Makes a node of a scenario; ``collectors`` goes to the machine, all else to the options."""

    def make(scenario: str, *, collectors: frozenset[str] | None = None, **options: str) -> Node:
        return Node(machine(scenario, collectors=collectors), **options)

    return make


@pytest.fixture
def people() -> tuple[Owner, Owner]:
    """Two holders."""
    return TRAINER, SERVER

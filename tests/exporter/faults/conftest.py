"""A ledger that knows two GPUs, and readers of a real log in a folder of the test."""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from gpuscope.faults.fault import Fault
from gpuscope.faults.kernel_log import KernelLog
from gpuscope.faults.ledger import FaultLedger
from gpuscope.faults.xids import XidCatalogue
from gpuscope.nvml.events import NvmlEvent
from gpuscope.nvml.identity import GpuIdentity

GPUS = (
    GpuIdentity(0, "GPU-aaaaaaaa-0000-0000-0000-000000000000", "H100", pci_bus_id="00000000:1B:00.0"),
    GpuIdentity(1, "GPU-bbbbbbbb-0000-0000-0000-000000000000", "H100", pci_bus_id="00000000:43:00.0"),
)
BOOT_ID = "6f1b3c1e-0000-4000-8000-000000000001"


class Account:
    """The ledger, read as a scrape reads it."""

    def __init__(self) -> None:
        self.ledger = FaultLedger(XidCatalogue.load())
        self.ledger.known_gpus(GPUS)

    def nvml(self, code: int, when: float, *, gpu: int = 0, gi: int | None = None, ci: int | None = None) -> None:
        self.ledger.nvml_event(NvmlEvent(GPUS[gpu].uuid, when, "xid", code, gi, ci))

    def xids(self, gpu: int = 0) -> dict[tuple[str, str, str], float]:
        """Counts above 0 by code, gi and ci."""
        return {key: count for key, count in self.series(gpu).items() if count}

    def series(self, gpu: int = 0) -> dict[tuple[str, str, str], float]:
        found = {}
        for metric, labels, value in self.ledger.samples(GPUS[gpu]):
            if metric.name == "gpuscope_gpu_xid_errors_total":
                assert labels[:2] == (str(gpu), GPUS[gpu].uuid)
                found[labels[2], labels[3], labels[4]] = value
        return found

    def last(self, gpu: int = 0) -> dict[str, float]:
        return {
            labels[2]: value
            for metric, labels, value in self.ledger.samples(GPUS[gpu])
            if metric.name == "gpuscope_gpu_xid_last_timestamp_seconds"
        }

    def node(self) -> dict[tuple[str, ...], float]:
        return {(metric.name, *labels): value for metric, labels, value in self.ledger.node_samples()}

    def codes(self) -> list[int]:
        """Codes of the listed faults, oldest first."""
        return [fault.code for fault in reversed(self.ledger.recent())]

    def only(self) -> Fault:
        (fault,) = self.ledger.recent()
        return fault


def eventually(condition: Callable[[], object], what: str = "") -> None:
    """Waits for an event; the deadline is for a broken program only."""
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, what or "it never happened"
        time.sleep(0.01)


@pytest.fixture
def account() -> Account:
    return Account()


@pytest.fixture
def procfs(tmp_path: Path) -> Path:
    """Boot id, and a boot time a day ago."""
    root = tmp_path / "proc"
    (root / "sys/kernel/random").mkdir(parents=True)
    (root / "sys/kernel/random/boot_id").write_text(f"{BOOT_ID}\n")
    (root / "stat").write_text(f"cpu 1 2 3\nbtime {int(time.time()) - 86_400}\nprocesses 7\n")
    return root


@pytest.fixture
def follow(account: Account, tmp_path: Path, procfs: Path) -> Iterator[Callable[..., KernelLog]]:
    """Starts readers: ``follow(path)``; ``state=True`` keeps the position. Each is running when it is returned.

    They look fifty times a second, so that no test waits for the next look.
    """
    with ExitStack() as stack:

        def start(path: Path, *, state: bool = False, up: bool = True, poll_s: float = 0.02) -> KernelLog:
            file = tmp_path / "state.json" if state else None
            reader = KernelLog(path, account.ledger, state_file=file, procfs=procfs, poll_s=poll_s, retry_s=(0.05,))
            stack.callback(reader.stop)
            reader.start()
            if up:
                eventually(lambda: reader.up, reader.reason)
            return reader

        yield start

"""The simulated driver's log, read as the agent reads it."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.exporter.faults.conftest import Account, eventually

from gpuscope import simulate
from gpuscope.faults.kernel_log import KernelLog
from gpuscope.faults.ledger import FaultLedger
from gpuscope.nvml.identity import GpuIdentity


def test_what_the_simulated_driver_logs_is_understood(
    account: Account, follow: Callable[..., KernelLog], tmp_path: Path
) -> None:
    driver = simulate.SimulatedDriver(
        simulate.load("h100-mig"), clock=simulate.ManualClock(), kernel_log=tmp_path / "kmsg"
    )
    ledger: FaultLedger = account.ledger
    who = [
        GpuIdentity(gpu.index, gpu.uuid, gpu.model.name, pci_bus_id=f"00000000:{gpu.bus:02X}:00.0")
        for gpu in driver.node.gpus
    ]
    ledger.known_gpus(who)
    reader = follow(tmp_path / "kmsg")
    driver.inject("xid", gpu=2, code=13, times=200, message="Graphics SM Warp Exception on (GPC 2, TPC 3)")
    driver.inject("xid", gpu=5, code=94, gi=1, ci=0, message="Contained: SM (0x1). RST: No, D-RST: No")
    driver.inject("xid", gpu=2, code=79, message="GPU has fallen off the bus.")
    driver.inject("sxid", switch=1, code=12028, fatal=False, message="Link 32 egress non-posted PRIV error (First)")
    eventually(lambda: reader.lines == 203)
    eventually(lambda: account.ledger.recent()[-1].count == 200)
    driver.close()
    found = [
        (fault.kind, fault.code, fault.uuid, fault.gi, fault.count, fault.action) for fault in account.ledger.recent()
    ]
    assert found == [
        ("sxid", 12028, None, None, 1, "contact_support"),
        ("xid", 79, who[2].uuid, None, 1, "reboot_node"),
        ("xid", 94, who[5].uuid, 1, 1, "restart_app"),
        ("xid", 13, who[2].uuid, None, 200, "restart_app"),
    ]


@pytest.mark.parametrize("event", simulate.load("h100-mig+xid-burst").events, ids=lambda event: event.kind)
def test_every_line_of_the_burst_scenario_is_understood(
    account: Account, follow: Callable[..., KernelLog], tmp_path: Path, event: simulate.scenario.Event
) -> None:
    if event.kind not in {"xid", "sxid"}:
        return
    driver = simulate.SimulatedDriver(
        simulate.load("h100-mig"), clock=simulate.ManualClock(), kernel_log=tmp_path / "k"
    )
    follow(tmp_path / "k")
    driver.inject(event.kind, **dict(event.arguments))
    eventually(account.ledger.recent)
    driver.close()
    assert account.only().code == event.arguments["code"]

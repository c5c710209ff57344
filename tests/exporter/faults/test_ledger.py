import threading
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.exporter.faults.conftest import GPUS, Account

from gpuscope.faults.nvrm import LogFault, parse_line
from gpuscope.faults.xids import XidCatalogue, XidEntry
from gpuscope.nvml.events import NvmlEvent
from gpuscope.nvml.identity import GpuIdentity

T = 1_790_000_000.0


def line(code: int, text: str = "pid=7, name=train", *, bus: str = "0000:1b:00", gi: int | None = None) -> LogFault:
    place = f"PCI:{bus}" + ("" if gi is None else f" GPU-I:{gi:02d}")
    fault = parse_line(f"NVRM: Xid ({place}): {code}, {text}")
    assert fault is not None
    return fault


def switch(code: int, severity: str, text: str = "Link 28 LTSSM Fault Up") -> LogFault:
    fault = parse_line(f"nvidia-nvswitch0: SXid (PCI:0000:85:00.0): {code}, {severity}{text}")
    assert fault is not None
    return fault


def test_the_same_xid_twice_is_2(account: Account) -> None:
    account.nvml(79, T)
    account.nvml(79, T)
    assert account.xids() == {("79", "", ""): 2}
    assert account.last() == {"79": T}
    assert account.xids(gpu=1) == {}


def test_critical_codes_are_0_from_the_start_for_every_gpu(account: Account) -> None:
    critical = {(str(code), "", ""): 0.0 for code in XidCatalogue.load().critical_codes}
    assert account.series(0) == account.series(1) == critical
    account.nvml(79, T)
    account.nvml(31, T)
    assert account.series(0) == {**critical, ("79", "", ""): 1, ("31", "", ""): 1}
    assert account.series(1) == critical


def test_mig_instances_are_counted_apart(account: Account) -> None:
    account.nvml(94, T, gi=1, ci=0)
    account.nvml(94, T, gi=2, ci=0)
    account.nvml(94, T)
    assert account.xids() == {("94", "1", "0"): 1, ("94", "2", "0"): 1, ("94", "", ""): 1}
    assert [(fault.gi, fault.ci) for fault in account.ledger.recent()] == [(None, None), (2, 0), (1, 0)]


def test_a_fault_of_both_sources_is_one_and_has_the_facts_of_both(account: Account) -> None:
    account.nvml(94, T + 0.2, gi=1, ci=0)
    account.ledger.log_fault(line(94, "Contained: SM (0x1)", gi=1), T)
    assert account.xids() == {("94", "1", "0"): 1}
    fault = account.only()
    assert (fault.gi, fault.ci, fault.message) == (1, 0, "Contained: SM (0x1)")
    assert (fault.uuid, fault.pci_bus_id) == (GPUS[0].uuid, "00000000:1b:00.0")
    assert (fault.fault_class, fault.action) == ("mem_contained", "restart_app")
    assert fault.last == T + 0.2


def test_the_kernel_log_may_come_first(account: Account) -> None:
    account.ledger.log_fault(line(94, "Contained: SM (0x1)"), T)
    account.nvml(94, T + 9, gi=1, ci=0)
    assert account.xids() == {("94", "", ""): 1}
    fault = account.only()
    assert (fault.gi, fault.ci, fault.message, fault.source) == (1, 0, "Contained: SM (0x1)", "kernel_log")


@pytest.mark.parametrize("order", sorted(set(permutations("nnkk"))))
def test_two_of_each_source_are_two(account: Account, order: tuple[str, ...]) -> None:
    for number, source in enumerate(order):
        if source == "n":
            account.nvml(31, T + number)
        else:
            account.ledger.log_fault(line(31, f"pid={number}"), T + number)
    assert account.xids() == {("31", "", ""): 2}
    assert len(account.ledger.recent()) == 2
    assert all(fault.message for fault in account.ledger.recent())


@given(st.lists(st.sampled_from("nk"), max_size=30))
def test_reports_are_paired_one_to_one(order: list[str]) -> None:
    account = Account()
    for source in order:
        if source == "n":
            account.nvml(31, T)
        else:
            account.ledger.log_fault(line(31), T)
    # At every moment the sources may only have told of the same faults.
    assert sum(account.xids().values()) == max(order.count("n"), order.count("k"))
    assert len(account.ledger.recent()) == max(order.count("n"), order.count("k"))


def test_reports_more_than_ten_seconds_apart_are_two_faults(account: Account) -> None:
    account.nvml(31, T)
    account.ledger.log_fault(line(31), T + 10.5)
    account.ledger.log_fault(line(31), T - 10.5)
    assert account.xids() == {("31", "", ""): 3}


def test_other_codes_gpus_and_instances_do_not_pair(account: Account) -> None:
    account.nvml(31, T, gi=1, ci=0)
    account.ledger.log_fault(line(13), T)
    account.ledger.log_fault(line(31, bus="0000:43:00"), T)
    account.ledger.log_fault(line(31, gi=2), T)
    assert account.xids(0) == {("31", "1", "0"): 1, ("31", "2", ""): 1, ("13", "", ""): 1}
    assert account.xids(1) == {("31", "", ""): 1}


def test_a_line_that_names_its_instance_pairs_with_that_instance(account: Account) -> None:
    account.nvml(94, T)
    account.nvml(94, T, gi=1, ci=0)
    account.ledger.log_fault(line(94, "first", gi=1), T)
    account.ledger.log_fault(line(94, "second"), T)
    assert {(fault.gi, fault.message) for fault in account.ledger.recent()} == {(1, "first"), (None, "second")}


def test_a_burst_that_goes_on_grows_the_fault_also_after_pairing(account: Account) -> None:
    account.nvml(13, T)
    account.ledger.log_fault(line(13), T + 0.1)
    account.ledger.grew(line(13), T + 20, 99)
    assert account.xids() == {("13", "", ""): 1}
    assert (account.only().count, account.only().first, account.only().last) == (100, T, T + 20)
    assert account.last() == {"13": T + 20}
    account.ledger.grew(line(13, "other"), T + 30, 5)
    assert account.only().count == 100


def test_a_long_burst_pairs_with_an_event_near_its_end(account: Account) -> None:
    account.ledger.log_fault(line(13), T)
    account.ledger.grew(line(13), T + 60, 99)
    account.nvml(13, T + 65)
    assert account.xids() == {("13", "", ""): 1}


def test_xid_154_carries_the_action_that_the_driver_asks_for(account: Account) -> None:
    account.nvml(154, T)
    assert account.only().action == "follow_154"
    account.ledger.log_fault(line(154, "GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot Required)"), T)
    assert account.only().action == "reboot_node"


def test_an_own_action_for_xid_154_holds(account: Account) -> None:
    account.ledger.use_catalogue(XidCatalogue([XidEntry(154, "x", "recovery", "contact_support")]))
    account.ledger.log_fault(line(154, "GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot Required)"), T)
    assert account.only().action == "contact_support"


def test_a_reloaded_catalogue_holds_for_faults_from_now_on(account: Account) -> None:
    account.nvml(901, T)
    account.ledger.use_catalogue(XidCatalogue([XidEntry(901, "burn-in", "info", "ignore", critical=True)]))
    account.nvml(901, T + 1)
    assert [fault.fault_class for fault in account.ledger.recent()] == ["info", "unknown"]
    assert account.series(1) == {("901", "", ""): 0}


def test_a_gpu_that_nvml_does_not_show_is_listed_and_counted_once_it_is_known(account: Account) -> None:
    lost = GpuIdentity(2, "GPU-cccccccc-0000-0000-0000-000000000000", "H100", pci_bus_id="00000000:91:00.0")
    account.ledger.log_fault(line(79, "GPU has fallen off the bus.", bus="0000:91:00"), T)
    account.ledger.gpu_at("00000000:91:00.0", lost.uuid)
    account.ledger.log_fault(line(154, "GPU recovery action changed", bus="0000:91:00"), T + 1)
    assert [(fault.code, fault.uuid) for fault in account.ledger.recent()] == [(154, lost.uuid), (79, None)]
    account.ledger.known_gpus([*GPUS, lost])
    counted = {
        labels[2:]: value for metric, labels, value in account.ledger.samples(lost) if labels[2] in {"79", "154"}
    }
    assert counted == {("79", "", ""): 1, ("154", "", ""): 1, ("79",): T, ("154",): T + 1}
    assert [(fault.code, fault.uuid) for fault in account.ledger.recent()] == [(154, lost.uuid), (79, lost.uuid)]
    account.ledger.known_gpus([*GPUS, lost])
    assert len(account.ledger.recent()) == 2


def test_a_line_of_an_unknown_gpu_still_pairs_with_its_event(account: Account) -> None:
    new = GpuIdentity(2, "GPU-cccccccc-0000-0000-0000-000000000000", "H100", pci_bus_id="00000000:91:00.0")
    account.ledger.log_fault(line(79, "off", bus="0000:91:00"), T)
    account.ledger.nvml_event(NvmlEvent(new.uuid, T + 1, "xid", 79))
    account.ledger.known_gpus([new])
    assert [fault.message for fault in account.ledger.recent()] == ["off"]
    counts = [value for metric, labels, value in account.ledger.samples(new) if labels[2:] == ("79", "", "")]
    assert counts == [1]


def test_a_gpu_that_is_gone_keeps_its_counters(account: Account) -> None:
    account.nvml(79, T)
    account.ledger.known_gpus([GPUS[1]])
    account.ledger.known_gpus([])
    assert account.xids() == {("79", "", ""): 1}
    account.ledger.log_fault(line(48), T)
    assert account.xids() == {("79", "", ""): 1, ("48", "", ""): 1}


def test_a_gpu_without_identity_has_no_series(account: Account) -> None:
    assert account.ledger.samples(GpuIdentity(0, "", "")) == ()


def test_switch_errors_are_counted_by_switch_code_and_severity(account: Account) -> None:
    account.ledger.log_fault(switch(20034, "Fatal, "), T)
    account.ledger.log_fault(switch(20034, "Fatal, ", "Link 29 LTSSM Fault Up"), T)
    account.ledger.log_fault(switch(12028, "Non-fatal, "), T)
    account.ledger.log_fault(switch(31_000, "Non-fatal, "), T)
    account.ledger.log_fault(switch(31_000, "", "odd"), T)
    account.ledger.log_fault(switch(22003, "", "Minion halted"), T)
    bus, name = "00000000:85:00.0", "gpuscope_nvswitch_sxid_errors_total"
    assert account.node() == {
        (name, bus, "20034", "fatal"): 2,
        (name, bus, "12028", "nonfatal"): 1,
        (name, bus, "31000", "nonfatal"): 1,
        (name, bus, "31000", "unknown"): 1,
        (name, bus, "22003", "fatal"): 1,
    }
    assert [(fault.code, fault.action) for fault in account.ledger.recent()] == [
        (22003, "reboot_node"),
        (31000, "contact_support"),
        (31000, "contact_support"),
        (12028, "contact_support"),
        (20034, "reset_fabric"),
        (20034, "reset_fabric"),
    ]
    assert {fault.kind for fault in account.ledger.recent()} == {"sxid"}
    assert account.xids() == {}


@pytest.mark.parametrize(("code", "severity"), [(20034, "Non-fatal, "), (20001, "Fatal, ")])
def test_a_severity_that_contradicts_the_guide_is_for_a_person(account: Account, code: int, severity: str) -> None:
    account.ledger.log_fault(switch(code, severity), T)
    assert account.only().action == "contact_support"


def test_other_events_are_counted_by_type(account: Account) -> None:
    for kind in ("poison", "sbe_storm", "poison"):
        account.ledger.nvml_event(NvmlEvent(GPUS[0].uuid, T, kind))
    found = {
        labels: value
        for metric, labels, value in account.ledger.samples(GPUS[0])
        if metric.name == "gpuscope_gpu_nvml_events_total"
    }
    assert found == {("0", GPUS[0].uuid, "poison"): 2, ("0", GPUS[0].uuid, "sbe_storm"): 1}
    assert account.ledger.recent() == ()


def test_memory_and_series_are_bounded_while_a_fault_counts(account: Account, caplog: pytest.LogCaptureFixture) -> None:
    for number in range(10_000):
        account.ledger.log_fault(line(number, "x", bus="0000:1b:00"), T)
        account.ledger.log_fault(line(79, "x", bus=f"{number:04x}:99:00"), T)
        account.ledger.log_fault(switch(number, "Fatal, "), T)
        account.ledger.gpu_at(f"{number:08x}:99:00.0", f"GPU-{number}")
    account.ledger.known_gpus([GpuIdentity(3, "GPU-9999", "", pci_bus_id=f"{9999:08x}:99:00.0")])
    assert len(account.xids()) == 256
    assert len(account.node()) == 2048
    assert len(account.ledger.recent()) == 256
    assert sum("more different fault codes" in record.message for record in caplog.records) == 2
    # What has a series already is still counted.
    account.ledger.log_fault(line(1, "x"), T + 60)
    assert account.xids()["1", "", ""] == 2


def test_faults_are_listed_newest_first_whenever_they_were_reported(account: Account) -> None:
    account.nvml(48, T + 30)
    account.ledger.log_fault(line(31), T)
    account.ledger.log_fault(switch(20034, "Fatal, "), T + 15)
    assert [fault.code for fault in account.ledger.recent()] == [48, 20034, 31]


def test_unpublished_faults_are_counted_and_hidden(account: Account) -> None:
    account.ledger.companions.append(lambda: account.ledger.samples(GPUS[1]))
    assert account.node()
    account.ledger.published = False
    account.nvml(79, T)
    assert account.xids() == {}
    assert account.node() == {}
    assert account.ledger.recent() == ()
    account.ledger.published = True
    assert account.xids() == {("79", "", ""): 1}


def test_threads_lose_no_fault(account: Account) -> None:
    start = threading.Barrier(4)

    def work(number: int) -> None:
        start.wait()
        for turn in range(500):
            when = T + 100 * turn
            if number % 2:
                account.nvml(31, when, gpu=number // 2)
            else:
                account.ledger.log_fault(line(31, f"{turn}", bus=("0000:1b:00", "0000:43:00")[number // 2]), when)
            account.ledger.samples(GPUS[0])
            account.ledger.recent()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # Each turn is one fault that both sources tell of, unless one source ran far ahead and its report was forgotten.
    for gpu in (0, 1):
        assert 500 <= sum(account.xids(gpu).values()) <= 1000

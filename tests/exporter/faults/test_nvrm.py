import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuscope.faults.nvrm import LogFault, normal_bus_id, parse_gpu, parse_line, recovery_action

BUS = "00000000:1b:00.0"


def xid(code: int, text: str = "", gi: int | None = None, ci: int | None = None, bus: str = BUS) -> LogFault:
    return LogFault("xid", code, bus, gi, ci, "", text)


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        (
            "NVRM: Xid (PCI:0000:1b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.",
            xid(79, "pid='<unknown>', name=<unknown>, GPU has fallen off the bus."),
        ),
        (
            "NVRM: Xid (PCI:0000:1b:00 GPU-I:05): 31, pid=812, name=train, Ch 00000008, MMU Fault: ENGINE GRAPHICS",
            xid(31, "pid=812, name=train, Ch 00000008, MMU Fault: ENGINE GRAPHICS", gi=5),
        ),
        (
            "NVRM: Xid (PCI:0000:1B:00 GPU-I:01 GPU-CI:02): 94, Contained: SM (0x1)",
            xid(94, "Contained: SM (0x1)", gi=1, ci=2),
        ),
        (
            "NVRM: Xid (0000:03:00): 62, 0d1d 00000000 00000000",
            xid(62, "0d1d 00000000 00000000", bus="00000000:03:00.0"),
        ),
        ("NVRM: Xid (PCI:0000:1b:00): 63", xid(63)),
        (
            "[171167.6] NVRM: Xid (PCI:0009:01:00): 149, NETIR_LINK_EVT Fatal XC0 i0 Link 01 (0x021425c6 0x00000000)",
            xid(149, "NETIR_LINK_EVT Fatal XC0 i0 Link 01 (0x021425c6 0x00000000)", bus="00000009:01:00.0"),
        ),
        ("<4>kernel: NVRM: Xid (PCI:00010000:1b:00.0): 48, DBE", xid(48, "DBE", bus="00010000:1b:00.0")),
        (
            "nvidia-nvswitch3: SXid (PCI:0000:85:00.0): 12028, Non-fatal, Link 32 egress non-posted PRIV error (First)",
            LogFault(
                "sxid",
                12028,
                "00000000:85:00.0",
                None,
                None,
                "nonfatal",
                "Link 32 egress non-posted PRIV error (First)",
            ),
        ),
        (
            "nvidia-nvswitch0: SXid (PCI:0000:c2:00.0): 20034, Fatal, Link 28 LTSSM Fault Up",
            LogFault("sxid", 20034, "00000000:c2:00.0", None, None, "fatal", "Link 28 LTSSM Fault Up"),
        ),
        (
            "nvidia-nvswitch0: SXid (PCI:0000:c2:00.0): 24007, Fatal",
            LogFault("sxid", 24007, "00000000:c2:00.0", None, None, "fatal", ""),
        ),
        (
            "nvidia-nvswitch0: SXid (PCI:0000:c2:00.0): 10003, interrupt",
            LogFault("sxid", 10003, "00000000:c2:00.0", None, None, "unknown", "interrupt"),
        ),
    ],
)
def test_lines_of_every_driver_generation_are_understood(line: str, fault: LogFault) -> None:
    assert parse_line(line) == fault


@pytest.mark.parametrize(
    "line",
    [
        "",
        "NVRM: loading NVIDIA UNIX Open Kernel Module",
        "NVRM: Xid error: 79",
        "NVRM: Xid (invalid): 79, text",
        "NVRM: Xid (PCI:0000:66:00): abc, pid=2280636",
        "NVRM: Xid (PCI:0000:66:00): 12345, too long for a code",
        "NVRM: Xid (PCI:0000:66:00): 7f, no number",
        "usb 1-1: Xid (PCI:0000:66:00): 79",
        # the further lines of one SXID
        "nvidia-nvswitch2: SXid (PCI:0000:07:00.0): 20034, Severity 1 Engine instance 60 Sub-engine instance 00",
        "nvidia-nvswitch0: SXid (PCI:0000:a9:00.0): 20034, Data {0x50610002, 0x10100030}",
        "nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): garbled, Fatal",
    ],
)
def test_other_lines_are_no_fault(line: str) -> None:
    assert parse_line(line) is None


@given(st.text() | st.binary().map(lambda data: data.decode(errors="replace")))
def test_no_text_makes_the_parser_raise(text: str) -> None:
    for line in (text, f"NVRM: Xid ({text}", f"NVRM: Xid (PCI:0000:1b:00{text}", f"NVRM: Xid (PCI:0000:1b:00): {text}"):
        parse_line(line)
        parse_gpu(line)
        recovery_action(line)
        parse_line(line.replace("NVRM: Xid", "nvidia-nvswitch0: SXid"))
        parse_gpu(line.replace("Xid (", "GPU at "))


@given(
    st.integers(0, 9999),
    st.integers(0, 0xFFFFFFFF),
    st.integers(0, 255),
    st.integers(0, 31),
    st.none() | st.integers(0, 99),
    st.none() | st.integers(0, 7),
    st.text(st.characters(exclude_categories=["C", "Z"])),
)
def test_what_the_driver_writes_is_read_back(
    code: int, domain: int, bus: int, device: int, gi: int | None, ci: int | None, text: str
) -> None:
    instance = ("" if gi is None else f" GPU-I:{gi:02d}") + ("" if ci is None else f" GPU-CI:{ci:02d}")
    line = f"NVRM: Xid (PCI:{domain:04x}:{bus:02x}:{device:02x}{instance}): {code}, {text}"
    assert parse_line(line) == xid(code, text, gi, ci, f"{domain:08x}:{bus:02x}:{device:02x}.0")


@pytest.mark.parametrize("text", ["0000:1b:00", "0000:1B:00.0", "00000000:1B:00.0", " 00000000:1b:00 "])
def test_one_device_has_one_address(text: str) -> None:
    assert normal_bus_id(text) == BUS


@given(st.text())
def test_an_address_that_is_normal_stays(text: str) -> None:
    assert normal_bus_id(normal_bus_id(text)) == normal_bus_id(text)


def test_gpu_of_a_pci_address_is_read() -> None:
    uuid = "GPU-b6c3b2be-c55b-d076-fa0e-d464e4c7e08b"
    assert parse_gpu(f"NVRM: GPU at PCI:0000:91:00: {uuid}") == ("00000000:91:00.0", uuid)
    assert parse_gpu(f"NVRM: GPU at 0000:91:00: {uuid}") == ("00000000:91:00.0", uuid)
    assert parse_gpu("NVRM: GPU at PCI:0000:91:00: unknown") is None
    assert parse_gpu("NVRM: GPU Board Serial Number: 1653723052734") is None


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)", "reset_gpu"),
        ("GPU recovery action changed from 0x0 (None) to 0x2 (OS Reboot)", "reboot_node"),
        ("GPU recovery action changed from 0x0 (None) to 0x3 (Drain P2P)", "drain"),
        ("GPU recovery action changed from 0x1 (GPU Reset Required) to 0x4 (Drain and Reset)", "drain_and_reset"),
        ("GPU recovery action changed from 0x4 (Drain and Reset) to 0x0 (None)", "ignore"),
        ("GPU recovery action changed from 0x0 (None) to 0x6 (Bus Reset)", "reset_gpu"),
        ("GPU recovery action changed from 0x0 (None) to 0x7 (System Reboot)", "reboot_node"),
        ("GPU recovery action changed from 0x0 (None) to 0x63 (?)", None),
        ("something else", None),
    ],
)
def test_recovery_action_of_xid_154(text: str, action: str | None) -> None:
    assert recovery_action(text) == action

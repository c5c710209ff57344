"""The reader on real files: written, rotated, truncated and refused by the test."""

import ctypes
import json
import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.exporter.faults.conftest import Account, eventually

from gpuscope.faults.kernel_log import KernelLog

Follow = Callable[..., KernelLog]


def xid(code: int, text: str = "pid=7, name=train", bus: str = "0000:1b:00") -> str:
    return f"NVRM: Xid (PCI:{bus}): {code}, {text}"


def record(number: int, micros: int, text: str) -> str:
    return f"4,{number},{micros},-;{text}\n"


def append(path: Path, *lines: str) -> None:
    with path.open("a") as file:
        file.write("".join(line if line.endswith("\n") else f"{line}\n" for line in lines))


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "kern.log"
    path.write_text(f"{xid(62)}\n")  # before the agent's time
    return path


def test_new_lines_are_faults_and_old_ones_are_not(account: Account, follow: Follow, log: Path) -> None:
    reader = follow(log)
    append(log, "usb 1-1: new device", xid(79, "GPU has fallen off the bus."), xid(48, bus="0000:43:00"))
    eventually(lambda: reader.lines == 3)
    assert account.xids(0) == {("79", "", ""): 1}
    assert account.xids(1) == {("48", "", ""): 1}
    values = {metric.name: value for metric, _, value in reader.samples()}
    assert values == {
        "gpuscope_kernel_log_up": 1,
        "gpuscope_kernel_log_lines_total": 3,
        "gpuscope_kernel_log_lost_total": 0,
        "gpuscope_kernel_log_suppressed_total": 0,
    }


def test_a_burst_of_100000_lines_is_one_fault_and_hides_nothing(account: Account, follow: Follow, log: Path) -> None:
    reader = follow(log)
    append(log, *(record(number, 10 * number, xid(31)) for number in range(50_000)))
    append(log, record(50_000, 500_000, xid(79, "GPU has fallen off the bus.")))
    append(log, *(record(number, 10 * number, xid(31)) for number in range(50_001, 100_001)))
    append(log, record(100_001, 1_000_010, "nvidia-nvswitch0: SXid (PCI:0000:85:00.0): 20034, Fatal, Link 1"))
    eventually(lambda: account.codes() == [31, 79, 20034] and account.ledger.recent()[-1].count == 100_000)
    assert account.xids() == {("31", "", ""): 1, ("79", "", ""): 1}
    assert reader.suppressed == 99_999
    assert reader.lines == 100_002


def test_a_burst_beside_nvml_events_stays_one(account: Account, follow: Follow, log: Path) -> None:
    follow(log)
    account.nvml(13, time.time())
    append(log, *(xid(13) for _ in range(1000)))
    eventually(lambda: account.only().count == 1000)
    assert account.xids() == {("13", "", ""): 1}


def test_alternating_codes_are_two_faults(account: Account, follow: Follow, log: Path) -> None:
    reader = follow(log)
    append(log, *(record(number, 1000 * number, xid(31 if number % 2 else 13)) for number in range(200)))
    eventually(lambda: reader.lines == 200)
    assert account.xids() == {("31", "", ""): 1, ("13", "", ""): 1}


def test_lines_apart_in_time_or_in_text_are_faults_of_their_own(account: Account, follow: Follow, log: Path) -> None:
    reader = follow(log)
    second = 1_000_000
    append(
        log,
        record(1, 0, xid(31)),
        record(2, second, xid(31)),  # within a second of the one before
        record(3, 2 * second, xid(31)),  # and again
        record(4, 3 * second + 1000, xid(31)),
        record(5, 3 * second + 1000, xid(31, "pid=8, name=train")),
        record(6, 3 * second + 1000, xid(31, bus="0000:43:00")),
        record(7, 3 * second + 500, xid(31)),  # another processor's line, a little out of order
    )
    eventually(lambda: reader.lines == 7)
    assert account.xids(0) == {("31", "", ""): 3}
    assert account.xids(1) == {("31", "", ""): 1}
    assert reader.suppressed == 3


def test_lines_read_late_are_judged_by_their_own_time(account: Account, follow: Follow, log: Path) -> None:
    reader = follow(log)
    base = time.time() - 7200
    stamps = [datetime.fromtimestamp(base + offset, UTC).isoformat() for offset in (0, 0.5, 3600)]
    append(log, *(f"{stamp} node-a kernel: {xid(95)}" for stamp in stamps))
    eventually(lambda: reader.lines == 3)
    assert account.xids() == {("95", "", ""): 2}
    assert account.last() == {"95": pytest.approx(base + 3600, abs=0.001)}


def test_kernel_time_becomes_unix_time_and_never_the_future(account: Account, follow: Follow, log: Path) -> None:
    reader = follow(log)
    began = time.time()
    append(log, record(1, 3_600_000_000, xid(31)), record(2, 10**15, xid(48)), xid(95))
    eventually(lambda: reader.lines == 3)
    last = account.last()
    assert last["31"] == pytest.approx(began - 86_400 + 3600, abs=30)
    assert began <= last["48"] <= time.time()
    assert began <= last["95"] <= time.time()


def test_ids_of_a_gpu_that_nvml_does_not_show_come_from_the_log(account: Account, follow: Follow, log: Path) -> None:
    follow(log)
    uuid = "GPU-b6c3b2be-c55b-d076-fa0e-d464e4c7e08b"
    append(log, f"NVRM: GPU at PCI:0000:91:00: {uuid}", xid(79, "GPU has fallen off the bus.", bus="0000:91:00"))
    eventually(account.ledger.recent)
    assert (account.only().uuid, account.only().pci_bus_id) == (uuid, "00000000:91:00.0")


def test_half_a_line_waits_for_its_other_half(account: Account, follow: Follow, log: Path) -> None:
    reader = follow(log)
    whole = xid(79, "GPU has fallen off the bus.")
    with log.open("a", buffering=1) as file:
        file.write(f"first\n{whole[:20]}")
        file.flush()
        eventually(lambda: reader.lines == 1)
        file.write(f"{whole[20:]}\n")
        file.flush()
        eventually(lambda: reader.lines == 2)
    assert account.only().message == "GPU has fallen off the bus."


def test_bytes_that_are_no_text_are_passed_over(account: Account, follow: Follow, log: Path) -> None:
    reader = follow(log)
    with log.open("ab") as file:
        file.write(b"\xff\xfe\x00\n" + b"x" * 300_000 + b"\n\n" + xid(79).encode() + b"\xff\n")
    eventually(lambda: account.codes() == [79])
    assert reader.up


def test_rotation_loses_nothing(account: Account, follow: Follow, log: Path) -> None:
    follow(log, poll_s=0.5)  # the daemon has two looks' time to end its last line
    append(log, xid(31))
    eventually(lambda: account.codes() == [31])
    with log.open("a") as writer:
        log.rename(log.with_name("kern.log.1"))
        append(log, xid(48))
        writer.write(f"{xid(13)}\n{xid(94)}")  # the daemon still has the old file, and its last line is not ended
    eventually(lambda: account.codes() == [31, 13, 94, 48])
    append(log, xid(79))
    eventually(lambda: account.codes() == [31, 13, 94, 48, 79])


def test_a_truncated_file_is_read_from_its_beginning(account: Account, follow: Follow, log: Path) -> None:
    follow(log)
    append(log, xid(31), "x" * 500)
    eventually(lambda: account.codes() == [31])
    log.write_text(f"{xid(48)}\n")
    eventually(lambda: account.codes() == [31, 48])


def test_a_shorter_file_that_begins_as_before_is_read_from_its_beginning(
    account: Account, follow: Follow, log: Path
) -> None:
    banner = "x" * 400
    log.write_text(f"{banner}\n")
    follow(log)
    append(log, xid(31), "y" * 1000)
    eventually(lambda: account.codes() == [31])
    log.write_text(f"{banner}\n{xid(48)}\n")
    eventually(lambda: account.codes() == [31, 48])


def test_a_file_written_anew_and_longer_is_read_from_its_beginning(account: Account, follow: Follow, log: Path) -> None:
    reader = follow(log)
    append(log, xid(31))
    eventually(lambda: account.codes() == [31])
    with log.open("r+") as file:
        file.write("".join(f"{xid(48, f'pid={number}')}\n" for number in range(50)))
    eventually(lambda: account.xids().get(("48", "", "")) == 50)
    assert reader.up


def test_a_file_that_is_gone_is_said_and_found_again(account: Account, follow: Follow, log: Path) -> None:
    reader = follow(log)
    log.unlink()
    eventually(lambda: not reader.up)
    assert reader.reason == f"{log}: No such file or directory"
    assert next(value for metric, _, value in reader.samples() if metric.name == "gpuscope_kernel_log_up") == 0
    append(log, xid(79))
    eventually(lambda: account.codes() == [79])
    assert reader.up


def test_a_path_that_cannot_be_read_is_said_once_and_tried_again(
    account: Account, follow: Follow, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    reader = follow(loop, up=False)
    eventually(lambda: "symbolic links" in reader.reason)
    # Each takes the place of the one before in one step: a look in between would find nothing, and say so.
    folder, file = tmp_path / "to-folder", tmp_path / "to-file"
    folder.symlink_to(tmp_path)
    folder.replace(loop)
    eventually(lambda: reader.reason == f"{loop}: Is a directory")
    assert not reader.up
    (tmp_path / "file").write_text("")
    file.symlink_to(tmp_path / "file")
    file.replace(loop)
    eventually(lambda: reader.up)
    assert len(caplog.records) == 2


@contextmanager
def without_overrides() -> Iterator[None]:
    """Root, too, is held to file modes in threads that start meanwhile: capabilities belong to a thread."""
    libc = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)  # _LINUX_CAPABILITY_VERSION_3, this thread
    before = (ctypes.c_uint32 * 6)()
    assert libc.capget(header, before) == 0
    reduced = (ctypes.c_uint32 * 6)(*before)
    reduced[0] &= ~0b110  # effective CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH
    assert libc.capset(header, reduced) == 0
    try:
        yield
    finally:
        assert libc.capset(header, before) == 0


def test_without_permission_the_capability_is_named(account: Account, follow: Follow, log: Path) -> None:
    log.chmod(0)
    with without_overrides():
        reader = follow(log, up=False)
    eventually(lambda: reader.reason == f"{log}: Permission denied (needs CAP_SYSLOG)")
    assert not reader.up
    log.chmod(0o600)
    eventually(lambda: reader.up)


def test_a_restart_neither_loses_nor_repeats(account: Account, follow: Follow, log: Path) -> None:
    first = follow(log, state=True)
    append(log, xid(31))
    eventually(lambda: account.codes() == [31])
    first.stop()
    append(log, xid(48), xid(62))
    second = follow(log, state=True)
    eventually(lambda: second.lines == 2)
    assert account.codes() == [31, 48, 62]
    second.stop()
    third = follow(log, state=True)
    append(log, "nothing")
    eventually(lambda: third.lines == 1)
    assert account.codes() == [31, 48, 62]


def test_a_first_start_that_read_nothing_is_remembered(account: Account, follow: Follow, log: Path) -> None:
    follow(log, state=True).stop()
    append(log, xid(79))
    follow(log, state=True)
    eventually(lambda: account.codes() == [79])


def test_half_a_line_at_the_end_is_read_whole_after_a_restart(account: Account, follow: Follow, log: Path) -> None:
    first = follow(log, state=True)
    with log.open("a") as file:
        file.write(xid(79)[:15])
    append(log.with_name("other"), "x")
    first.stop()
    append(log, xid(79)[15:])
    follow(log, state=True)
    eventually(lambda: account.codes() == [79])


def test_a_rotation_while_nobody_reads_loses_nothing(account: Account, follow: Follow, log: Path) -> None:
    follow(log, state=True).stop()
    append(log, xid(31))
    log.rename(log.with_name("kern.log.1"))
    append(log, xid(48))
    follow(log, state=True)
    eventually(lambda: account.codes() == [31, 48])


def test_a_file_replaced_while_nobody_reads_is_read_from_its_beginning(
    account: Account, follow: Follow, log: Path
) -> None:
    append(log, "x" * 500)
    follow(log, state=True).stop()
    log.write_text(f"{xid(48)}\n" + "y" * 1000 + "\n")  # the same inode, and longer than before
    append(log.with_name("kern.log.1"), "not the one that was read")
    follow(log, state=True)
    eventually(lambda: account.codes() == [48])


@pytest.mark.parametrize(
    "state",
    [
        b"",
        b"{",
        b"[]",
        b"\xff\xff",
        b'{"path": 1}',
        b'{"path": "x", "more": 1}',
        b'{"path": "x", "offset": 1e999}',
        b'{"path": "x", "offset": "1"}',
        b'{"path": "x", "offset": -7}',
        b'{"path": "x", "inode": true}',
        b'{"path": "x", "boot_id": null}',
        b"[" * 100_000,
    ],
)
def test_a_damaged_state_file_starts_from_now_with_one_warning(
    account: Account, follow: Follow, log: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture, state: bytes
) -> None:
    caplog.set_level(logging.WARNING)
    (tmp_path / "state.json").write_bytes(state)
    reader = follow(log, state=True)
    append(log, xid(79))
    eventually(lambda: account.codes() == [79])
    reader.stop()
    (warning,) = caplog.records
    assert "state.json, is unusable; reading starts from now" in warning.message
    assert json.loads((tmp_path / "state.json").read_text())["offset"] == log.stat().st_size


def test_the_position_in_another_log_means_nothing(account: Account, follow: Follow, log: Path) -> None:
    other = log.with_name("other.log")
    other.write_text("")
    follow(other, state=True).stop()
    reader = follow(log, state=True)
    append(log, xid(79))
    eventually(lambda: reader.lines == 1)
    assert account.codes() == [79]


def test_a_position_that_cannot_be_saved_is_said_once(
    account: Account, log: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    reader = KernelLog(log, account.ledger, state_file=tmp_path / "missing/state.json", procfs=tmp_path, poll_s=0.02)
    reader.start()
    eventually(lambda: reader.up)
    append(log, xid(79))
    eventually(lambda: account.codes() == [79])
    reader.stop()
    assert [record.message for record in caplog.records if record.levelno == logging.WARNING] == [
        f"position in the kernel log cannot be saved to {tmp_path}/missing/state.json: No such file or directory"
    ]


def test_stop_comes_back_in_the_middle_of_a_flood(account: Account, follow: Follow, log: Path) -> None:
    append(log, *(record(number, 10**7 * number, xid(number % 100, f"pid={number}")) for number in range(20_000)))
    state = {"path": str(log), "inode": log.stat().st_ino, "offset": 0}
    log.with_name("state.json").write_text(json.dumps(state))
    reader = follow(log, state=True)
    eventually(lambda: reader.lines > 0)
    reader.stop()
    eventually(lambda: reader.reason == "stopped")
    read = reader.lines
    assert read > 0
    rest = follow(log, state=True)
    eventually(lambda: read + rest.lines == 20_001)
    rest.stop()
    assert account.xids()["31", "", ""] == 200


def test_damaged_procfs_costs_the_boot_time_only(account: Account, tmp_path: Path, log: Path) -> None:
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/stat").write_bytes(b"btime \xff\nbtime\n")
    reader = KernelLog(log, account.ledger, procfs=tmp_path / "proc", poll_s=0.02)
    reader.start()
    eventually(lambda: reader.up)
    began = time.time()
    append(log, record(1, 5, xid(79)))
    eventually(lambda: account.codes() == [79])
    reader.stop()
    assert began <= account.last()["79"] <= time.time()

"""The reader on records of /dev/kmsg: from a pipe that stands for the device, and from the device itself."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.exporter.faults.conftest import BOOT_ID, Account, eventually

from gpuscope.faults.kernel_log import KernelLog

Follow = Callable[..., KernelLog]


class Device:
    """A pipe with records; what is written while nobody reads is kept, as the kernel's ring keeps it."""

    def __init__(self, path: Path) -> None:
        os.mkfifo(path)
        self.path = path
        self.descriptor = os.open(path, os.O_RDWR | os.O_NONBLOCK)

    def write(self, *records: tuple[int, str]) -> None:
        for number, text in records:
            os.write(self.descriptor, f"4,{number},{number}000000,-;{text}\n".encode())

    def raw(self, data: bytes) -> None:
        os.write(self.descriptor, data)


def xid(code: int, text: str = "pid=7") -> str:
    return f"NVRM: Xid (PCI:0000:1b:00): {code}, {text}"


@pytest.fixture
def device(tmp_path: Path) -> Iterator[Device]:
    one = Device(tmp_path / "kmsg")
    yield one
    os.close(one.descriptor)


def test_records_before_the_first_start_are_not_counted(account: Account, follow: Follow, device: Device) -> None:
    device.write((1, xid(62)), (2, xid(48)))
    reader = follow(device.path)
    device.write((3, xid(79)))
    eventually(lambda: reader.lines == 1)
    assert account.codes() == [79]


def test_dictionary_lines_of_a_record_are_not_lines_of_the_log(
    account: Account, follow: Follow, device: Device
) -> None:
    reader = follow(device.path)
    device.raw(f"4,7,7000000,-;{xid(79)}\n SUBSYSTEM=pci\n DEVICE=+pci:0000:1b:00.0\n6,8,8000000,-;end\n".encode())
    eventually(lambda: reader.lines == 2)
    assert account.only().message == "pid=7"
    assert account.only().pci_bus_id == "00000000:1b:00.0"


def test_a_record_may_come_in_pieces(account: Account, follow: Follow, device: Device) -> None:
    reader = follow(device.path)
    whole = f"4,7,7000000,-;{xid(79)}\n".encode()
    device.raw(b"4,6,6000000,-;first\n" + whole[:30])
    eventually(lambda: reader.lines == 1)
    device.raw(whole[30:])
    eventually(lambda: account.codes() == [79])


def test_overwritten_records_are_counted_as_lost(account: Account, follow: Follow, device: Device) -> None:
    reader = follow(device.path)
    device.write((10, "a"), (11, "b"), (500, xid(79)), (501, "c"))
    eventually(lambda: reader.lines == 4)
    eventually(lambda: reader.lost == 488)
    assert account.codes() == [79]


def test_a_restart_goes_on_behind_the_last_record(account: Account, follow: Follow, device: Device) -> None:
    first = follow(device.path, state=True)
    device.write((10, xid(31)), (11, "b"))
    eventually(lambda: first.lines == 2)
    first.stop()
    # The ring gives everything again to a new reader.
    device.write((10, xid(31)), (11, "b"), (12, xid(48)))
    second = follow(device.path, state=True)
    eventually(lambda: account.codes() == [31, 48])
    assert second.lines == 1
    assert second.lost == 0


def test_records_lost_between_two_runs_are_counted(account: Account, follow: Follow, device: Device) -> None:
    first = follow(device.path, state=True)
    device.write((10, "a"))
    eventually(lambda: first.lines == 1)
    first.stop()
    device.write((100, xid(79)))
    second = follow(device.path, state=True)
    eventually(lambda: account.codes() == [79])
    eventually(lambda: second.lost == 89)


def test_after_a_reboot_everything_of_the_new_boot_is_read(
    account: Account, follow: Follow, device: Device, procfs: Path
) -> None:
    first = follow(device.path, state=True)
    device.write((5000, "a"))
    eventually(lambda: first.lines == 1)
    first.stop()
    (procfs / "sys/kernel/random/boot_id").write_text("another\n")
    device.write((0, xid(48)), (1, "b"))
    second = follow(device.path, state=True)
    eventually(lambda: second.lines == 2)
    assert account.codes() == [48]
    assert second.lost == 0


def test_an_empty_ring_at_the_first_start_is_remembered(
    account: Account, follow: Follow, device: Device, tmp_path: Path
) -> None:
    follow(device.path, state=True).stop()
    assert json.loads((tmp_path / "state.json").read_text())["boot_id"] == BOOT_ID
    device.write((0, xid(79)))
    follow(device.path, state=True)
    eventually(lambda: account.codes() == [79])


def test_without_a_boot_id_a_position_does_not_outlive_the_process(
    account: Account, follow: Follow, device: Device, procfs: Path
) -> None:
    (procfs / "sys/kernel/random/boot_id").unlink()
    first = follow(device.path, state=True)
    device.write((5000, xid(31)))
    eventually(lambda: account.codes() == [31])
    first.stop()
    device.write((7, xid(62)))  # of a new boot, perhaps, and before this start
    second = follow(device.path, state=True)
    device.write((8, xid(79)))
    eventually(lambda: second.lines == 1)
    assert sorted(account.codes()) == [31, 79]


def test_a_position_in_a_file_means_nothing_for_a_device(account: Account, follow: Follow, tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("")
    follow(path, state=True).stop()
    path.unlink()
    device = Device(path)
    device.write((7, xid(62)))
    reader = follow(path, state=True)
    device.write((8, xid(79)))
    eventually(lambda: reader.lines == 1)
    reader.stop()
    assert account.codes() == [79]
    os.close(device.descriptor)
    path.unlink()
    path.write_text(f"{xid(48)}\n")
    follow(path, state=True)
    with path.open("a") as file:
        file.write(f"{xid(94)}\n")
    eventually(lambda: account.codes() == [79, 94])


def test_the_real_device_is_read_or_refused_in_words(account: Account, follow: Follow) -> None:
    device = Path("/dev/kmsg")
    reader = follow(device, up=False)
    eventually(lambda: reader.up or reader.reason != "not started")
    if reader.up:
        assert reader.reason == ""
    else:
        assert reader.reason.startswith("/dev/kmsg: ")

"""What a simulated machine writes beside NVML: kernel log records and the driver's part of /proc."""

import re
from pathlib import Path

import pynvml as nvml  # noqa: TID251

RECORD = re.compile(r"(\d+),(\d+),(\d+),-;(.+)")


def _records(path: Path) -> list[tuple[int, int, str]]:
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        match = RECORD.fullmatch(line)
        assert match, line
        found.append((int(match[2]), int(match[3]), match[4]))
    return found


def test_xids_are_written_as_the_kernel_module_writes_them(rig, tmp_path: Path) -> None:
    log = tmp_path / "kmsg"
    one = rig("h100-mig+gpu-lost+xid-burst", kernel_log=log)
    one.clock.advance(60)
    one.driver.node.tick()
    records = _records(log)
    texts = [text for _, _, text in records]
    lost = "NVRM: Xid (PCI:0000:61:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus."
    assert lost in texts
    assert any(text.startswith("NVRM: Xid (PCI:0000:c3:00 GPU-I:01): 94, ") for text in texts)
    switch = "nvidia-nvswitch1: SXid (PCI:0000:86:00.0): 12028, Non-fatal, Link 32 egress non-posted PRIV error (First)"
    assert switch in texts
    assert sum(": 13, " in text for text in texts) == 200
    sequence = [number for number, _, _ in records]
    assert sequence == list(range(sequence[0], sequence[0] + len(sequence)))
    assert [stamp for _, stamp, _ in records] == sorted(stamp for _, stamp, _ in records)


def test_lines_carry_the_time_of_the_event_not_of_the_look(rig, tmp_path: Path) -> None:
    log = tmp_path / "kmsg"
    one = rig("h100x8+gpu-lost", kernel_log=log)
    one.clock.advance(500)
    one.driver.node.tick()
    (record,) = _records(log)
    boot = one.driver.node.log.boot
    assert abs(boot + record[1] / 1e6 - one.driver.node.start - 20) < 0.001


def test_addresses_in_log_proc_and_nvml_are_the_same(rig, tmp_path: Path) -> None:
    one = rig("h100x8", kernel_log=tmp_path / "kmsg")
    one.driver.write_procfs(tmp_path / "proc")
    for index in range(8):
        one.driver.inject("xid", gpu=index, code=31, message="MMU Fault")
        bus_id = nvml.nvmlDeviceGetPciInfo(one.gpu(index)).busId.lower()[4:]
        text = (tmp_path / f"proc/driver/nvidia/gpus/{bus_id}/information").read_text(encoding="utf-8")
        facts = dict(line.split(":", 1) for line in text.splitlines())
        assert facts["GPU UUID"].strip() == nvml.nvmlDeviceGetUUID(one.gpu(index))
        assert facts["Device Minor"].strip() == str(nvml.nvmlDeviceGetMinorNumber(one.gpu(index)))
        assert facts["Bus Location"].strip() == bus_id
        assert f"(PCI:{bus_id.removesuffix('.0')})" in _records(tmp_path / "kmsg")[-1][2]


def test_proc_names_the_driver_and_its_kernel_module(rig, tmp_path: Path) -> None:
    rig("h100x8").driver.write_procfs(tmp_path / "open")
    rig("a100-mig").driver.write_procfs(tmp_path / "closed")
    texts = [(tmp_path / kind / "driver/nvidia/version").read_text(encoding="utf-8") for kind in ("open", "closed")]
    assert texts[0].startswith("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  590.48.01  Release Build\n")
    assert texts[1].startswith("NVRM version: NVIDIA UNIX Kernel Module for x86_64  570.172.08  Release Build\n")
    # Twice over the same folder is no error: an agent that starts again finds its own.
    rig("h100x8").driver.write_procfs(tmp_path / "open")


def test_without_a_log_file_nothing_is_written(rig) -> None:
    one = rig("h100x8")
    one.driver.inject("xid", gpu=0, code=79)
    one.driver.close()
    one.driver.inject("xid", gpu=0, code=79)

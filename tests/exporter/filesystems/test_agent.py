"""File systems through the real agent: its command, its settings and its HTTP server."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import requests

from gpuscope.agent.check import check
from gpuscope.agent.filesystems import filesystem_sources
from gpuscope.agent.machine import Machine
from gpuscope.config import load
from gpuscope.errors import ConfigError

# Mounts a FUSE file system that nobody serves, so that every call to it blocks in the kernel, and becomes a command.
SILENT_MOUNT = """\
import ctypes, os, sys
fuse = os.open("/dev/fuse", os.O_RDWR)
os.set_inheritable(fuse, True)
libc = ctypes.CDLL(None, use_errno=True)
options = f"fd={fuse},rootmode=40000,user_id={os.getuid()},group_id={os.getgid()}"
if libc.mount(b"nobody", os.fsencode(sys.argv[1]), b"fuse.silent", 0, options.encode()):
    sys.exit(os.strerror(ctypes.get_errno()))
os.execvp(sys.argv[2], sys.argv[2:])
"""
MACHINE = """\
gpus: [{model: h100-sxm, count: 2, job: training, job_name: one}]
filesystems:
  - {type: lustre, name: lustre01, mountpoint: /lustre01}
  - {type: nfs4, name: "nas:/shared", mountpoint: /shared}
events:
  - {at: 0, do: mount_hangs, mountpoint: /lustre01}
"""


def namespaces() -> list[str] | None:
    """How a process gets a mount namespace in which it may mount FUSE; ``None`` where the system does not let it."""
    for command in (["unshare", "-m"], ["unshare", "-Urm"]):
        program = [*command, sys.executable, "-c", SILENT_MOUNT, "/mnt", "true"]
        try:
            done = subprocess.run(program, stdin=subprocess.DEVNULL, capture_output=True, timeout=30, check=False)
        except (OSError, subprocess.TimeoutExpired):
            return None
        if done.returncode == 0:
            return command
    return None


NAMESPACES = namespaces()


class Running:
    """An agent process."""

    def __init__(self, process: subprocess.Popen[bytes], log: Path) -> None:
        self.process = process
        self.log = log
        self.session = requests.Session()
        self.session.trust_env = False

    def address(self) -> str:
        return self.log.read_text().partition("listening on ")[2].partition('"')[0].split(",")[0].strip()

    def metrics(self) -> dict[str, float]:
        answer = self.session.get(f"{self.address()}/metrics", timeout=30)
        lines = [line.rpartition(" ") for line in answer.text.splitlines() if not line.startswith("#")]
        return {series: float(value) for series, _, value in lines}

    def value(self, name: str, *labels: str) -> float | None:
        found = [
            value
            for series, value in self.metrics().items()
            if series.startswith(f"gpuscope_{name}{{") and all(label in series for label in labels)
        ]
        return found[0] if found else None


Start = Callable[..., Running]


@pytest.fixture
def agent(tmp_path: Path, eventually: Callable[[Callable[[], object], str], None]) -> Iterator[Start]:
    started: list[Running] = []

    def start(*flags: str, prefix: tuple[str, ...] = ()) -> Running:
        temporary = tmp_path / "tmp"
        temporary.mkdir()
        kept = {name: value for name, value in os.environ.items() if not name.startswith("GPUSCOPE_")}
        words = ["--web.listen-address", "127.0.0.1:0", "--interval.fast", "300ms", "--interval.filesystem", "200ms"]
        with (tmp_path / "log").open("wb") as log:
            process = subprocess.Popen(
                [*prefix, sys.executable, "-m", "gpuscope", "agent", *words, *flags],
                env={**kept, "TMPDIR": str(temporary)},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
            )
        one = Running(process, tmp_path / "log")
        started.append(one)
        eventually(lambda: one.address() or process.poll() is not None, "an address")
        assert process.poll() is None, one.log.read_text()
        return one

    yield start
    for one in started:
        one.session.close()
        if one.process.poll() is None:
            one.process.send_signal(signal.SIGTERM)
        try:
            one.process.wait(30)
        finally:
            one.process.kill()
            one.process.wait(30)
        assert "Traceback" not in one.log.read_text()


def _fresher(before: dict[str, float], after: dict[str, float]) -> bool:
    energy = [series for series in before if series.startswith("gpuscope_gpu_energy_joules_total")]
    assert len(energy) >= 2
    cycle = 'gpuscope_cycle_last_success_timestamp_seconds{tier="fast"}'
    return all(after.get(series, 0.0) > before[series] for series in [*energy, cycle])


def simulated(agent: Start, folder: Path) -> tuple[Running, str, str]:
    (folder / "machine.yaml").write_text(MACHINE)
    running = agent("--simulate", str(folder / "machine.yaml"), "--filesystem.timeout", "500ms")
    return running, "/lustre01", "/shared"


def fuse(agent: Start, folder: Path) -> tuple[Running, str, str]:
    point, table = folder / "silent", folder / "proc/1"
    point.mkdir()
    table.mkdir(parents=True)
    (table / "mountinfo").symlink_to("/proc/self/mountinfo")  # the agent's own: the mount is in its namespace only
    running = agent(
        *("--simulate", "h100x8", "--path.procfs", str(folder / "proc"), "--filesystem.timeout", "500ms"),
        *("--filesystem.types", "none", "--filesystem.scratch", "none"),
        *("--filesystem.expected", str(point), "--filesystem.expected", "/"),
        prefix=(*(NAMESPACES or ()), sys.executable, "-c", SILENT_MOUNT, str(point)),
    )
    return running, str(point), "/"


# Where this user may mount FUSE there is also a mount that really hangs, in the kernel.
@pytest.mark.parametrize("hanging", [simulated] if NAMESPACES is None else [simulated, fuse])
def test_a_mount_that_hangs_is_down_while_every_other_metric_is_fresh(
    agent: Start, tmp_path: Path, eventually: Callable[..., None], hanging: Callable[..., tuple[Running, str, str]]
) -> None:
    running, point, other = hanging(agent, tmp_path)
    down, up = f'mountpoint="{point}"', f'mountpoint="{other}"'
    eventually(lambda: running.value("filesystem_up", down) == 0, "the mount to be down")
    assert running.value("filesystem_failure_info", down, 'reason="timeout"') == 1
    assert running.value("filesystem_size_bytes", down) is None
    eventually(lambda: running.value("filesystem_up", up) == 1, "the other mount")
    before = running.metrics()
    eventually(lambda: _fresher(before, running.metrics()), "every other metric to be fresh")
    assert running.value("filesystem_up", down) == 0
    assert running.value("filesystem_statfs_failures_total", down, 'reason="timeout"') == 1
    assert running.session.get(f"{running.address()}/-/healthy", timeout=30).status_code == 200
    running.process.send_signal(signal.SIGTERM)
    assert running.process.wait(30) == 0, "a call that hangs does not hold up the end"


def test_bytes_move_with_the_jobs(agent: Start, tmp_path: Path, eventually: Callable[..., None]) -> None:
    running, _, _ = simulated(agent, tmp_path)
    shared = ("filesystem_read_bytes_total", 'filesystem="nas:/shared",mountpoint="/shared"')
    eventually(lambda: running.value(*shared) is not None, "bytes")
    before = running.value(*shared)
    assert before is not None
    eventually(lambda: (running.value(*shared) or 0) > before, "bytes to move")
    assert running.value("lustre_source_available", 'param="llite_stats"', 'source="debugfs"') == 1


def test_collectors_can_be_switched_off(agent: Start, eventually: Callable[..., None]) -> None:
    running = agent("--simulate", "h100x8", "--no-collector.lustre", "--no-collector.filesystem")
    eventually(lambda: running.metrics().get("gpuscope_ready") == 1, "the first cycle")
    time.sleep(0.5)
    assert [series for series in running.metrics() if "filesystem_" in series or "lustre" in series] == []


@pytest.mark.parametrize(
    ("flags", "reason"),
    [
        (["--filesystem.types", "(lustre"], "--filesystem.types: '(lustre' is no regular expression: "),
        (["--filesystem.exclude", "*"], "--filesystem.exclude: '*' is no regular expression: "),
        (["--filesystem.expected", "scratch"], "--filesystem.expected: 'scratch' is no mount point: "),
        (["--filesystem.timeout", "0"], "--filesystem.timeout: '0' is out of range"),
    ],
)
def test_a_bad_setting_is_named(flags: list[str], reason: str) -> None:
    key, raw = flags[0].removeprefix("--"), flags[1]
    with pytest.raises(ConfigError) as raised:
        check(load({key: [raw] if key.endswith("expected") else raw}, None, {}))
    assert str(raised.value).startswith(reason)


def test_sources_are_made_of_the_settings(tmp_path: Path) -> None:
    settings = {
        "path.procfs": str(tmp_path), "path.sysfs": str(tmp_path),
        "filesystem.expected": ["/gone/", "/", "//data/./x/../y//"],
        "lustre.lctl": "/nowhere/lctl", "kernel-log": "off",
    }  # fmt: skip
    (tmp_path / "fs/lustre").mkdir(parents=True)
    (tmp_path / "1").mkdir()
    (tmp_path / "1/mountinfo").write_text("1 0 0:1 / /gone rw - tmpfs t rw\n2 0 0:2 / /data/y rw - tmpfs t rw\n")
    checked = check(load(settings, None, {}))
    mounts, lustre = filesystem_sources(checked.settings, Machine(checked))
    found = {sample.labels: sample.value for sample in mounts.scan() if sample.metric.name.endswith("_up")}
    mounts.stop()
    assert found == {("", "/"): 0.0}
    reasons = {sample.labels for sample in lustre.read() if sample.metric.name.endswith("unavailable_info")}
    assert ("state", "lctl", "missing") in reasons

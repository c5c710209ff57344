"""A simulated machine's file systems: the real sources on the tree that the simulator keeps up to date."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from gpuscope import simulate
from gpuscope.catalogue import SUBJECTS
from gpuscope.errors import ConfigError
from gpuscope.filesystems.lustre.source import LustreSource

MACHINE = """\
gpus:
  - {model: h100-sxm, count: 8, job: training, job_name: one}
"""
MOUNTS = """\
filesystems:
  - {type: lustre, name: lustre01, mountpoint: /lustre01, targets: 2}
  - {type: nfs4, name: "nas:/export", mountpoint: /shared}
  - {type: xfs, name: /dev/md0, mountpoint: /scratch, read_only: true}
"""
LABELS = {"filesystem": "lustre01", "mountpoint": "/lustre01"}


class Rig:
    """A machine whose clock the test moves."""

    def __init__(self, folder: Path) -> None:
        (folder / "machine.yaml").write_text(MACHINE + MOUNTS)
        self.clock = simulate.ManualClock()
        self.driver = simulate.SimulatedDriver(simulate.load(str(folder / "machine.yaml")), clock=self.clock)
        self.mounts = simulate.SimulatedFilesystems(self.driver.node, folder / "proc", folder / "sys")
        self.lustre = LustreSource(folder / "proc", folder / "sys")

    def after(self, seconds: float) -> tuple:
        self.clock.advance(seconds)
        self.mounts.update()
        return self.lustre.read()


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    one = Rig(tmp_path)
    yield one
    one.mounts.close()
    one.driver.close()


def test_training_reads_all_the_time_and_writes_checkpoints(rig: Rig, value) -> None:
    reads, writes = [], []
    before = (0.0, 0.0)
    for _ in range(75):
        samples = rig.after(4)
        now = (
            value(samples, "filesystem_read_bytes_total", **LABELS),
            value(samples, "filesystem_write_bytes_total", **LABELS),
        )
        reads.append((now[0] - before[0]) / 4)
        writes.append((now[1] - before[1]) / 4)
        before = now
    assert sum(rate > 1e9 for rate in reads) > 50
    assert 4 <= sum(rate > 1e9 for rate in writes) <= 6, "one checkpoint of 20 s in 5 min"
    assert sum(rate == 0 for rate in writes) > 60


def test_every_file_is_understood_and_nothing_is_missing(rig: Rig, value, series) -> None:
    for _ in range(10):
        samples = rig.after(40)
    assert value(samples, "lustre_source_failures_total") is None
    assert series(samples, "lustre_target_up") == {("lustre01", name): 1 for name in ("OST0000", "OST0001", "MDT0000")}
    sources = {labels: used for labels, used in series(samples, "lustre_source_available").items() if used}
    assert len(sources) == 6
    rpcs = sum(series(samples, "lustre_rpcs_total", direction="read").values())
    assert rpcs == pytest.approx(value(samples, "filesystem_read_bytes_total", **LABELS) / 2**20, rel=0.01)


def test_a_mount_that_hangs_moves_no_bytes(rig: Rig, value) -> None:
    rig.after(60)
    rig.driver.inject("mount_hangs", mountpoint="/lustre01")
    before = value(rig.after(0), "filesystem_read_bytes_total", **LABELS)
    assert value(rig.after(60), "filesystem_read_bytes_total", **LABELS) == before
    rig.driver.inject("mount_answers", mountpoint="/lustre01")
    assert value(rig.after(60), "filesystem_read_bytes_total", **LABELS) > before


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ("type: ext9, name: a, mountpoint: /a", "filesystems.0.type: 'ext9' is not one of lustre, nfs4, xfs"),
        ("type: xfs, mountpoint: /a", "filesystems.0.name: is missing"),
        ("type: xfs, name: a, mountpoint: a", "filesystems.0.mountpoint: 'a' must start with / and be there once"),
        ("type: xfs, name: a b, mountpoint: /a", "filesystems.0.name: 'a b' must be printable, without spaces"),
        ("type: lustre, name: ../a, mountpoint: /a", "filesystems.0.name: '../a' must be letters, digits, _ and -"),
        ("type: lustre, name: a/b, mountpoint: /a", "filesystems.0.name: 'a/b' must be letters, digits, _ and -"),
        ("type: xfs, name: a, mountpoint: /a/", "filesystems.0.mountpoint: '/a/' must be a plain path"),
        ("type: xfs, name: a, mountpoint: //a", "filesystems.0.mountpoint: '//a' must be a plain path"),
        ("type: xfs, name: a, mountpoint: /b/../a", "filesystems.0.mountpoint: '/b/../a' must be a plain path"),
        ("type: lustre, name: a, mountpoint: /a, targets: 0", "filesystems.0.targets: 0 is not a whole number from 1"),
        ("type: lustre, name: a, mountpoint: /a, size: 1", "filesystems.0.size: unknown key"),
    ],
)
def test_a_mistake_is_named_with_its_line(tmp_path: Path, entry: str, reason: str) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(f"{MACHINE}filesystems:\n  - {{{entry}}}\n")
    with pytest.raises(ConfigError) as raised:
        simulate.load(str(path))
    assert f"bad.yaml:4: {reason}" in str(raised.value)


def test_an_event_at_no_mount_is_a_mistake(tmp_path: Path) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(f"{MACHINE}{MOUNTS}events:\n  - {{at: 1, do: mount_hangs, mountpoint: /elsewhere}}\n")
    with pytest.raises(
        ConfigError, match=r"bad\.yaml:8: events\.0\.mountpoint: no file system is mounted at '/elsewhere'"
    ):
        simulate.load(str(path))
    with pytest.raises(ConfigError, match="no file system is mounted at '/lustre01'"):
        simulate.load("l40s+mount-hangs")


def test_every_metric_of_file_systems_is_emitted(tree, put, watching, eventually, rig: Rig, value) -> None:
    """The simulated machine is healthy: failures come from a real tree beside it."""
    nfs = "device n:/a mounted on /a with fstype nfs4 statvers=1.1\n\tbytes:\t1 2 0 0 0 0 0 0\n"
    put(tree.proc / "1/mountstats", f"{nfs}\tper-op statistics\n\tREAD: 3 4 1 0 0 1 2 3 0\n\n")
    tree.lustre("2.15")
    (tree.proc / "fs/lustre/osc/lustre01-OST0000-osc-ffff88105db50000/import").write_text("    state: DISCONN\n")
    put(tree.sys / "kernel/debug/lnet/stats", "1 2\n")
    tree.mounts("61 27 0:61 / /a rw - nfs4 n:/a rw\n", "garbage\n")
    from gpuscope.filesystems.selection import Selection

    source = watching(Selection(expected=frozenset({b"/gone"})))
    eventually(lambda: value(source.samples(), "filesystem_files_free", mountpoint="/a"), "an answer")
    source.scan()
    eventually(lambda: value(source.samples(), "filesystem_up", mountpoint="/gone") == 0, "the missing one")
    samples = [*source.samples(), *rig.after(300), *LustreSource(tree.proc, tree.sys).read()]
    watch_failure = {"gpuscope_filesystem_statfs_failures_total"}  # test_mounts.py
    catalogued = {metric.name for subject in ("filesystem", "lustre") for metric in SUBJECTS[subject]}
    assert catalogued - {sample.metric.name for sample in samples} == watch_failure
    unknown = {
        (sample.metric.name, label, one)
        for sample in samples
        for label, one in zip(sample.metric.labels, sample.labels, strict=True)
        if one not in sample.metric.closed_labels.get(label, (one,))
    }
    assert unknown == set()

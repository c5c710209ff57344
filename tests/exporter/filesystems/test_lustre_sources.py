"""Where parameters are when they are not where they should be: lctl, missing privileges, files that change."""

import ctypes
import errno
import logging
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

from gpuscope.filesystems.lustre.lctl import Lctl
from gpuscope.filesystems.lustre.source import LustreSource

DATA = Path(__file__).parent / "data"
CLIENT = "ffff88105db50000"
T = TypeVar("T")
PARAMS = {
    "llite.*.stats": [(f"llite.lustre01-{CLIENT}.stats", "llite_stats")],
    "llite.*.read_ahead_stats": [(f"llite.lustre01-{CLIENT}.read_ahead_stats", "read_ahead_stats")],
    "osc.*.rpc_stats": [(f"osc.lustre01-OST0000-osc-{CLIENT}.rpc_stats", "osc_rpc_stats")],
    "mdc.*.rpc_stats": [(f"mdc.lustre01-MDT0000-mdc-{CLIENT}.rpc_stats", "mdc_rpc_stats")],
    "osc.*.import": [(f"osc.lustre01-OST0000-osc-{CLIENT}.import", "osc_import")],
    "mdc.*.import": [(f"mdc.lustre01-MDT0000-mdc-{CLIENT}.import", "mdc_import")],
    "osc.*.state": [(f"osc.lustre01-OST0000-osc-{CLIENT}.state", "state")],
    "stats": [("stats", "lnet_stats")],
}
SCRIPT = """\
#!/bin/sh
echo "$@" >> "$0.calls"
[ "$1" = get_param ] || exit 9
[ -r "$0.out/$2" ] && exec cat "$0.out/$2"
echo "error: get_param: param_path '$2': No such file or directory" >&2
exit 2
"""


def program(path: Path, script: str) -> Path:
    path.write_text(script)
    path.chmod(0o755)
    return path


@pytest.fixture
def lctl(tmp_path: Path) -> Path:
    """A command that answers as lctl does, with a client of 2.15."""
    path = program(tmp_path / "lctl", SCRIPT)
    out = tmp_path / "lctl.out"
    out.mkdir()
    for pattern, entries in PARAMS.items():
        (out / pattern).write_text("".join(f"{name}=\n{(DATA / '2.15' / file).read_text()}" for name, file in entries))
    return path


def test_lctl_answers_what_is_in_no_file(tree, lctl: Path, value, series) -> None:
    tree.mounts("60 27 0:60 / /lustre01 rw - lustre m@tcp:/lustre01 rw\n")
    samples = LustreSource(tree.proc, tree.sys, lctl=Lctl(str(lctl))).read()
    labels = {"filesystem": "lustre01", "mountpoint": "/lustre01"}
    assert value(samples, "filesystem_read_bytes_total", **labels) == 44179456
    assert value(samples, "filesystem_write_bytes_total", **labels) == 44204032
    assert value(samples, "lustre_rpcs_in_flight", target="OST0000", type="write") == 2
    assert value(samples, "lustre_target_up", target="MDT0000") == 1
    assert value(samples, "lustre_lnet_bytes_total", direction="receive") == 987654321
    assert series(samples, "lustre_evictions_total").keys() == {("lustre01", "OST0000")}
    used = {labels[:2] for labels, one in series(samples, "lustre_source_available").items() if one}
    assert {source for _, source in used} == {"lctl"}
    assert len(used) == 6
    assert value(samples, "lustre_source_available", param="llite_stats", source="debugfs") == 0
    calls = lctl.with_name("lctl.calls").read_text().splitlines()
    assert "get_param llite.*.stats" in calls, "the pattern goes to lctl as it is, past any shell"
    assert value(samples, "lustre_source_failures_total") is None


def test_lctl_is_not_run_for_what_is_in_a_file(tree, lctl: Path) -> None:
    tree.lustre("2.12")
    LustreSource(tree.proc, tree.sys, lctl=Lctl(str(lctl))).read()
    assert not lctl.with_name("lctl.calls").exists()


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("#!/bin/sh\necho 'error: get_param: Permission denied' >&2\nexit 13\n", "permission"),
        ("#!/bin/sh\necho 'error: no such thing' >&2\nexit 1\n", "error"),
        ("#!/bin/sh\nexit 0\n", "missing"),
        ("#!/bin/sh\necho nonsense\n", "missing"),
        ("not a program\n", "error"),
        ("#!/nowhere\n", "error"),
    ],
)
def test_what_keeps_lctl_from_answering_is_told(tree, tmp_path: Path, value, script: str, reason: str) -> None:
    tree.mounts("60 27 0:60 / /lustre01 rw - lustre m@tcp:/lustre01 rw\n")
    source = LustreSource(tree.proc, tree.sys, lctl=Lctl(str(program(tmp_path / "x", script))))
    samples = source.read()
    told = {"param": "llite_stats", "source": "lctl"}
    assert value(samples, "lustre_source_unavailable_info", **told, reason=reason) == 1
    assert value(samples, "lustre_source_available", **told) == 0
    assert value(samples, "filesystem_read_bytes_total") is None


def test_without_lctl(tree, value) -> None:
    tree.mounts("60 27 0:60 / /lustre01 rw - lustre m@tcp:/lustre01 rw\n")
    for lctl, reason in ((None, "off"), (Lctl("no-such-program-here"), "missing")):
        samples = LustreSource(tree.proc, tree.sys, lctl=lctl).read()
        assert value(samples, "lustre_source_unavailable_info", param="state", source="lctl", reason=reason) == 1


def unprivileged(run: Callable[[], T]) -> T:
    """Runs something in a thread without the capabilities by which root passes over file modes."""
    libc = ctypes.CDLL(None, use_errno=True)
    results: list[T] = []

    def body() -> None:
        header = (ctypes.c_uint32 * 2)(0x20080522, 0)  # version 3, this thread
        data = (ctypes.c_uint32 * 6)()
        assert libc.capget(header, data) == 0
        data[0] &= ~(1 << 1 | 1 << 2)  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
        assert libc.capset(header, data) == 0, os.strerror(ctypes.get_errno())
        results.append(run())

    thread = threading.Thread(target=body, daemon=True)
    thread.start()
    thread.join(60)
    return results[0]


@pytest.mark.parametrize("path", ["kernel/debug", "kernel/debug/lustre", "kernel/debug/lustre/llite"])
def test_debugfs_that_may_not_be_read_is_told_as_such(tree, value, series, path: str) -> None:
    tree.lustre("2.15")
    (tree.sys / path).chmod(0)
    try:
        samples = unprivileged(LustreSource(tree.proc, tree.sys).read)
    finally:
        (tree.sys / path).chmod(0o755)
    told = {"param": "llite_stats", "source": "debugfs"}
    assert value(samples, "lustre_source_unavailable_info", **told, reason="permission") == 1
    assert value(samples, "lustre_source_available", **told) == 0
    assert value(samples, "filesystem_read_bytes_total") is None
    assert value(samples, "lustre_target_up", target="OST0000") == 1, "what is in procfs goes on"
    assert value(samples, "lustre_client_info", version="2.15.5") == 1


def test_a_file_that_may_not_be_read_is_counted(tree, value) -> None:
    tree.lustre("2.15")
    path = tree.sys / f"kernel/debug/lustre/llite/lustre01-{CLIENT}/stats"
    path.chmod(0)
    samples = unprivileged(LustreSource(tree.proc, tree.sys).read)
    assert value(samples, "lustre_source_failures_total", param="llite_stats", reason="permission") == 1
    assert (
        value(samples, "lustre_source_unavailable_info", param="llite_stats", source="debugfs", reason="permission")
        == 1
    )
    assert value(samples, "lustre_read_ahead_events_total", event="hits") == 10772


def test_debugfs_that_is_not_mounted_is_told_as_such(tree, value) -> None:
    import shutil

    tree.lustre("2.15")
    shutil.rmtree(tree.sys / "kernel/debug")
    (tree.sys / "kernel/debug").mkdir()
    samples = LustreSource(tree.proc, tree.sys).read()
    told = {"param": "llite_stats", "source": "debugfs"}
    assert value(samples, "lustre_source_unavailable_info", **told, reason="not_mounted") == 1
    (tree.sys / "kernel/debug").rmdir()
    samples = LustreSource(tree.proc, tree.sys).read()
    assert value(samples, "lustre_source_unavailable_info", **told, reason="not_mounted") == 1


def test_what_can_be_read_nowhere_is_logged_with_the_reason_when_that_changes(tree, caplog) -> None:
    caplog.set_level(logging.INFO)
    tree.lustre("2.15")
    debugfs, away = tree.sys / "kernel/debug", tree.sys / "away"
    debugfs.rename(away)
    source = LustreSource(tree.proc, tree.sys)
    for _ in range(3):
        source.read()
    away.rename(debugfs)
    for _ in range(2):
        source.read()
    assert [one.getMessage() for one in caplog.records] == [
        "Lustre: cannot be read: llite_stats, read_ahead_stats, lnet_stats "
        "(sysfs missing, debugfs not_mounted, procfs missing, lctl off)",
        "Lustre: can be read again: llite_stats, read_ahead_stats, lnet_stats",
    ]


def test_nothing_is_said_of_a_client_that_has_nothing_mounted(tree, caplog) -> None:
    (tree.sys / "fs/lustre").mkdir(parents=True)
    LustreSource(tree.proc, tree.sys).read()
    assert caplog.records == []


def stats_of(tree) -> Path:
    return tree.sys / f"kernel/debug/lustre/llite/lustre01-{CLIENT}/stats"


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("read_bytes                16 samples", "read_bytes                16 sam", "garbage"),
        ("4096 4194304 44179456", "4096 4194304 -44179456", "garbage"),
        ("read_bytes     ", "read bytes     ", "garbage"),
        ("16 samples [bytes] 4096 4194304 44179456 178129507188736", "\x00\xff", "garbage"),
    ],
)
def test_a_bad_line_is_counted_and_loses_itself_only(tree, value, caplog, old: str, new: str, reason: str) -> None:
    tree.lustre("2.15")
    text = stats_of(tree).read_text()
    assert old in text
    stats_of(tree).write_bytes(text.replace(old, new).encode("latin-1"))
    source = LustreSource(tree.proc, tree.sys)
    samples = source.read()
    assert value(samples, "lustre_source_failures_total", param="llite_stats", reason=reason) == 1
    assert value(samples, "filesystem_read_bytes_total") is None, "unknown is not 0"
    assert value(samples, "filesystem_write_bytes_total") == 44204032
    source.read()
    told = [one.getMessage() for one in caplog.records if one.levelno >= logging.WARNING]
    assert told == [f"Lustre: llite_stats is incomplete: {reason}"], "logged once"


def test_a_file_that_is_cut_off_keeps_what_was_whole(tree, value) -> None:
    tree.lustre("2.15")
    text = stats_of(tree).read_text()
    stats_of(tree).write_text(text[: text.index("44204032") + 3])
    samples = LustreSource(tree.proc, tree.sys).read()
    assert value(samples, "filesystem_read_bytes_total") == 44179456
    assert value(samples, "filesystem_write_bytes_total") is None
    assert value(samples, "lustre_source_failures_total", param="llite_stats", reason="truncated") == 1


@pytest.mark.parametrize("name", ["rpc_stats", "import", "state"])
def test_bad_files_of_a_target_cost_that_file(tree, value, name: str) -> None:
    tree.lustre("2.15")
    path = tree.proc / f"fs/lustre/osc/lustre01-OST0000-osc-{CLIENT}/{name}"
    path.write_text(
        "read RPCs in flight:  x\n\npages per rpc  rpcs\nnonsense\n\n - [ x, FULL ]\n - cut of", encoding="ascii"
    )
    samples = LustreSource(tree.proc, tree.sys).read()
    assert (value(samples, "lustre_source_failures_total", param=name, reason="garbage") or 0) >= 1
    assert value(samples, "lustre_source_failures_total", param=name, reason="truncated") == 1
    assert value(samples, "filesystem_read_bytes_total") == 44179456
    assert value(samples, "lustre_target_up", target="MDT0000") == 1
    assert value(samples, "lustre_target_up", target="OST0000") == (None if name == "import" else 1)


@pytest.mark.parametrize(("content", "reason"), [("1 2 3\n", "truncated"), ("0 a 0 1 1 0 0 1 1 0 0\n", "garbage")])
def test_bad_lnet_statistics(tree, put, value, content: str, reason: str) -> None:
    tree.lustre("2.15")
    put(tree.sys / "kernel/debug/lnet/stats", content)
    samples = LustreSource(tree.proc, tree.sys).read()
    assert value(samples, "lustre_lnet_errors_total") is None
    assert value(samples, "lustre_source_failures_total", param="lnet_stats", reason=reason) == 1


def test_an_instance_that_goes_between_two_looks_is_no_failure(tree, value) -> None:
    tree.lustre("2.15")
    (tree.sys / "kernel/debug/lustre/llite/lustre01-ffff000000000001").mkdir()
    samples = LustreSource(tree.proc, tree.sys).read()
    assert value(samples, "filesystem_read_bytes_total") == 44179456
    assert value(samples, "lustre_source_failures_total") is None


def test_an_error_of_a_file_costs_that_file(tree, value) -> None:
    tree.lustre("2.15")
    loop = tree.proc / f"fs/lustre/osc/lustre01-OST0001-osc-{CLIENT}/import"
    loop.parent.mkdir()
    loop.symlink_to("import")  # reading it fails with ELOOP
    with pytest.raises(OSError) as raised:
        loop.read_text()
    assert raised.value.errno == errno.ELOOP
    samples = LustreSource(tree.proc, tree.sys).read()
    assert value(samples, "lustre_target_up", target="OST0000") == 1
    assert value(samples, "lustre_source_failures_total", param="import", reason="io") == 1


def test_modules_that_are_unloaded_take_their_series_along(tree) -> None:
    import shutil

    tree.lustre("2.15")
    source = LustreSource(tree.proc, tree.sys)
    assert source.read()
    shutil.rmtree(tree.sys)
    shutil.rmtree(tree.proc / "fs")
    tree.mounts()
    assert source.read() == ()


class TestSeveralMounts:
    """The kernel does not say which instance belongs to which mount."""

    OTHER = "ffff88105db60000"

    def twice(self, tree) -> LustreSource:
        tree.lustre("2.12")
        text = stats_of(tree).read_text()
        other = stats_of(tree).parent.with_name(f"lustre01-{self.OTHER}") / "stats"
        other.parent.mkdir()
        other.write_text(text.replace("1496254921055", "1000"))
        line = "6{0} 27 0:6{0} / /m{0} rw - lustre m@tcp:/lustre01 rw\n"
        tree.mounts(line.format(0), line.format(1))
        return LustreSource(tree.proc, tree.sys)

    def test_two_instances_are_added_up_without_a_mount_point(self, tree, value) -> None:
        samples = self.twice(tree).read()
        assert value(samples, "filesystem_read_bytes_total", filesystem="lustre01", mountpoint="") == 1496254922055

    def test_the_sum_never_falls(self, tree, value) -> None:
        source = self.twice(tree)
        source.read()
        third = stats_of(tree).parent.with_name("lustre01-ffff88105db70000") / "stats"
        third.parent.mkdir()
        text = stats_of(tree).read_text()
        third.write_text(text.replace("1496254921055", "5"))
        assert value(source.read(), "filesystem_read_bytes_total") == 1496254922060
        stats_of(tree).write_text(text.replace("1496254921055", "7"))  # somebody has set the counters back
        assert value(source.read(), "filesystem_read_bytes_total") == 1496254922067
        third.unlink()
        assert value(source.read(), "filesystem_read_bytes_total") == 1496254922067
        third.write_text(text.replace("1496254921055", "6"))
        assert value(source.read(), "filesystem_read_bytes_total") == 1496254922068

    def test_bind_mounts_are_one_mount(self, tree, value) -> None:
        tree.lustre("2.12")
        line = "6{0} 27 0:60 / {1} rw - lustre m@tcp:/lustre01 rw\n"
        tree.mounts(line.format(1, "/lustre01"), line.format(2, "/var/lib/kubelet/pods/x/volumes/y"))
        samples = LustreSource(tree.proc, tree.sys).read()
        assert value(samples, "filesystem_read_bytes_total", mountpoint="/lustre01") == 1496254921055

    def test_two_file_systems_keep_their_mount_points(self, tree, value) -> None:
        tree.lustre("2.12")
        other = stats_of(tree).parent.with_name(f"home2-{self.OTHER}") / "stats"
        other.parent.mkdir()
        other.write_text(stats_of(tree).read_text().replace("1496254921055", "1000"))
        line = "6{0} 27 0:6{0} / {1} rw - lustre m@tcp:/{2} rw\n"
        tree.mounts(line.format(0, "/a", "lustre01"), line.format(1, "/b", "home2"))
        samples = LustreSource(tree.proc, tree.sys).read()
        assert value(samples, "filesystem_read_bytes_total", filesystem="lustre01", mountpoint="/a") == 1496254921055
        assert value(samples, "filesystem_read_bytes_total", filesystem="home2", mountpoint="/b") == 1000

    def test_a_remount_is_an_ordinary_reset(self, tree, value) -> None:
        tree.lustre("2.12")
        source = LustreSource(tree.proc, tree.sys)
        assert value(source.read(), "filesystem_read_bytes_total", mountpoint="/lustre01") == 1496254921055
        folder = stats_of(tree).parent
        folder.rename(folder.with_name(f"lustre01-{self.OTHER}"))
        path = folder.with_name(f"lustre01-{self.OTHER}") / "stats"
        path.write_text(path.read_text().replace("1496254921055", "12"))
        assert value(source.read(), "filesystem_read_bytes_total", mountpoint="/lustre01") == 12

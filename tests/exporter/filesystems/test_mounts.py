"""Mounts: whether they answer, and what is said when they do not."""

import errno
import logging
import os
import re
import threading
from pathlib import Path

import pytest

from gpuscope.catalogue import METRICS
from gpuscope.filesystems.selection import Selection
from gpuscope.filesystems.source import FilesystemSource
from gpuscope.filesystems.statfs import Capacity, Statfs
from gpuscope.sampling.exposition import Exposition, render_blocks

NFS = "61 27 0:61 / /data rw - nfs4 nas:/data rw,hard\n"
LUSTRE = "60 27 0:60 / /lustre01 rw,noatime - lustre 10.0.0.1@o2ib:10.0.0.2@o2ib:/lustre01 rw,flock\n"
SCRATCH = "62 27 9:0 / /scratch ro - xfs /dev/md0 rw\n"


def error(number: int) -> OSError:
    return OSError(number, os.strerror(number))


def test_a_mount_that_answers_is_up_with_its_capacity(tree, watching, eventually, value) -> None:
    tree.mounts(LUSTRE, SCRATCH)
    source = watching()
    eventually(lambda: value(source.samples(), "filesystem_up", mountpoint="/lustre01") == 1, "an answer")
    eventually(lambda: value(source.samples(), "filesystem_up", mountpoint="/scratch") == 1, "an answer")
    samples = source.samples()
    labels = {"filesystem": "lustre01", "mountpoint": "/lustre01"}
    assert value(samples, "filesystem_size_bytes", **labels) == 1000 << 30
    assert value(samples, "filesystem_free_bytes", **labels) == 400 << 30
    assert value(samples, "filesystem_available_bytes", **labels) == 350 << 30
    assert value(samples, "filesystem_files", **labels) == 1_000_000
    assert value(samples, "filesystem_files_free", **labels) == 600_000
    assert value(samples, "filesystem_statfs_duration_seconds", **labels) >= 0
    assert value(samples, "filesystem_read_only", **labels) == 0
    assert value(samples, "filesystem_read_only", mountpoint="/scratch") == 1
    facts = {"type": "lustre", "source": "10.0.0.1@o2ib:10.0.0.2@o2ib:/lustre01", "options": "rw,flock"}
    assert value(samples, "filesystem_info", **labels, **facts) == 1
    assert value(samples, "filesystem_failure_info") is None


def test_a_mount_that_hangs_is_down_and_holds_up_no_other(tree, watching, answers, eventually, value, series) -> None:
    tree.mounts(LUSTRE, NFS)
    answers.results[b"/data"] = None
    source = watching(timeout_s=1.0)
    eventually(lambda: value(source.samples(), "filesystem_up", mountpoint="/data") == 0, "the time-out")
    calls = answers.calls[b"/lustre01"]
    eventually(lambda: answers.calls[b"/lustre01"] > calls + 3, "the other to go on")
    samples = source.samples()
    assert value(samples, "filesystem_failure_info", mountpoint="/data", reason="timeout") == 1
    assert value(samples, "filesystem_size_bytes", mountpoint="/data") is None
    assert value(samples, "filesystem_statfs_failures_total", mountpoint="/data", reason="timeout") == 1
    eventually(lambda: value(source.samples(), "filesystem_up", mountpoint="/lustre01") == 1, "the other to be up")
    assert answers.calls[b"/data"] == 1, "no second call while the first one hangs"


def test_a_mount_that_answers_again_is_up_again(tree, watching, answers, eventually, value, caplog) -> None:
    caplog.set_level(logging.INFO)
    tree.mounts(NFS)
    answers.results[b"/data"] = None
    source = watching(timeout_s=1.0)
    eventually(lambda: value(source.samples(), "filesystem_up") == 0, "the time-out")
    for _ in range(5):
        source.samples()
    answers.results.clear()
    answers.release.set()
    eventually(lambda: value(source.samples(), "filesystem_up") == 1, "an answer")
    assert value(source.samples(), "filesystem_failure_info") is None
    assert value(source.samples(), "filesystem_statfs_failures_total", reason="timeout") == 1
    told = [record.getMessage() for record in caplog.records if "/data" in record.getMessage()]
    assert told == ["/data does not answer: timeout", "/data answers again"]


def test_before_the_first_answer_nothing_is_known(tree, watching, answers, eventually, value) -> None:
    tree.mounts(NFS)
    answers.results[b"/data"] = None
    source = watching(timeout_s=600.0)
    eventually(lambda: value(source.samples(), "filesystem_info") == 1, "the mount")
    assert value(source.samples(), "filesystem_up") is None
    assert value(source.samples(), "filesystem_failure_info") is None


@pytest.mark.parametrize(
    ("number", "reason"),
    [
        (errno.ESTALE, "stale"),
        (errno.ENOTCONN, "disconnected"),
        (errno.ESHUTDOWN, "disconnected"),
        (errno.EHOSTDOWN, "unreachable"),
        (errno.ETIMEDOUT, "unreachable"),
        (errno.EIO, "io"),
        (errno.ENOENT, "missing"),
        (errno.ENOMEM, "error"),
    ],
)
def test_an_error_is_a_reason(tree, watching, answers, eventually, value, number: int, reason: str) -> None:
    tree.mounts(NFS)
    answers.results[b"/data"] = error(number)
    source = watching()
    eventually(lambda: value(source.samples(), "filesystem_failure_info", reason=reason) == 1, reason)
    assert value(source.samples(), "filesystem_up") == 0
    assert value(source.samples(), "filesystem_statfs_failures_total", reason=reason) >= 1


def test_what_may_not_be_asked_is_unknown_and_not_down(tree, watching, answers, eventually, value) -> None:
    tree.mounts(NFS)
    answers.results[b"/data"] = error(errno.EACCES)
    source = watching()
    eventually(lambda: value(source.samples(), "filesystem_failure_info", reason="permission") == 1, "the reason")
    assert value(source.samples(), "filesystem_up") is None
    assert value(source.samples(), "filesystem_read_only") == 0


def test_what_this_process_does_not_see_is_unknown_and_not_asked(tree, watching, answers, eventually, value) -> None:
    tree.mounts(NFS, LUSTRE)
    answers.hidden.add(b"/data")
    source = watching()
    eventually(lambda: value(source.samples(), "filesystem_up", mountpoint="/lustre01") == 1, "the other")
    assert value(source.samples(), "filesystem_up", mountpoint="/data") is None
    assert value(source.samples(), "filesystem_failure_info", mountpoint="/data", reason="not_visible") == 1
    assert b"/data" not in answers.calls


def test_a_mount_that_goes_away_takes_its_series_along(tree, watching, eventually, value, series) -> None:
    tree.mounts(NFS, LUSTRE)
    source = watching()
    eventually(lambda: value(source.samples(), "filesystem_up", mountpoint="/data") == 1, "an answer")
    tree.mounts(LUSTRE)
    eventually(lambda: not series(source.samples(), "filesystem_info", mountpoint="/data"), "the mount to be gone")
    assert {sample.labels[1] for sample in source.samples() if "mountpoint" in sample.metric.labels} == {"/lustre01"}


def test_an_expected_mount_that_is_not_there_is_down(tree, watching, eventually, value) -> None:
    tree.mounts(NFS)
    source = watching(Selection(expected=frozenset({b"/data", b"/lustre01"})))
    eventually(lambda: value(source.samples(), "filesystem_up", mountpoint="/lustre01") == 0, "the missing one")
    assert value(source.samples(), "filesystem_failure_info", mountpoint="/lustre01", reason="missing") == 1
    eventually(lambda: value(source.samples(), "filesystem_up", mountpoint="/data") == 1, "the one that is there")
    tree.mounts(NFS, LUSTRE)
    eventually(lambda: value(source.samples(), "filesystem_up", filesystem="lustre01") == 1, "the mount")
    tree.mounts(NFS)
    eventually(lambda: value(source.samples(), "filesystem_up", filesystem="lustre01") == 0, "the name to be known")


def test_an_automount_is_not_woken_up(tree, watching, answers, eventually, value) -> None:
    tree.mounts("61 27 0:61 / /data rw - autofs auto.data rw\n", LUSTRE)
    source = watching(Selection(expected=frozenset({b"/data"})))
    eventually(lambda: value(source.samples(), "filesystem_up", mountpoint="/lustre01") == 1, "the other")
    assert value(source.samples(), "filesystem_up", mountpoint="/data") is None
    assert value(source.samples(), "filesystem_failure_info", mountpoint="/data", reason="automount") == 1
    assert b"/data" not in answers.calls


def test_a_remount_is_another_mount(tree, watching, answers, eventually, value) -> None:
    tree.mounts(NFS)
    answers.results[b"/data"] = None
    source = watching(timeout_s=1.0)
    eventually(lambda: value(source.samples(), "filesystem_up") == 0, "the time-out")
    answers.results.clear()
    tree.mounts(NFS.replace("0:61", "0:77"))
    eventually(lambda: value(source.samples(), "filesystem_up") == 1, "the new mount")
    tree.mounts(NFS.replace("0:61", "0:77").replace("/data rw", "/data ro"))
    eventually(lambda: value(source.samples(), "filesystem_read_only") == 1, "the mount to be read-only")


def test_numbers_that_cannot_be_are_left_out(tree, watching, answers, eventually, value) -> None:
    tree.mounts(NFS, LUSTRE)
    answers.results[b"/data"] = Capacity(size=100, free=40, available=2**64 - 512, files=0, files_free=0)
    answers.results[b"/lustre01"] = Capacity(size=0, free=0, available=0, files=10, files_free=11)
    source = watching()
    eventually(lambda: value(source.samples(), "filesystem_up", mountpoint="/data") == 1, "an answer")
    eventually(lambda: value(source.samples(), "filesystem_up", mountpoint="/lustre01") == 1, "an answer")
    samples = [one for one in source.samples() if "mountpoint" in one.metric.labels]
    there = {(one.metric.name[20:], one.labels[1]) for one in samples}
    assert {name for name, path in there if path == "/data"} == {
        "info", "read_only", "up", "statfs_duration_seconds", "size_bytes", "free_bytes",
    }  # fmt: skip
    assert {name for name, path in there if path == "/lustre01"} == {
        "info", "read_only", "up", "statfs_duration_seconds", "files",
    }  # fmt: skip


def test_an_unreadable_table_is_counted_and_comes_back(tree, watching, eventually, value, caplog) -> None:
    table = tree.proc / "1/mountinfo"
    table.unlink()
    source = watching()
    eventually(
        lambda: (value(source.samples(), "filesystem_source_failures_total", param="mountinfo") or 0) > 2, "failures"
    )
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING] == [
        "file systems: mountinfo is incomplete: missing"
    ]
    tree.mounts(NFS)
    eventually(lambda: value(source.samples(), "filesystem_up") == 1, "the mount")
    eventually(lambda: value(source.samples(), "collector_success", collector="filesystem") == 1, "success")


def test_without_a_table_of_mounts_the_collector_has_failed(tree, watching, eventually, value, caplog) -> None:
    tree.mounts(NFS)
    source = watching(Selection(expected=frozenset({b"/gone"})))
    eventually(lambda: value(source.samples(), "filesystem_up", mountpoint="/gone") == 0, "the mount that is missing")
    (tree.proc / "1/mountinfo").unlink()
    eventually(lambda: value(source.samples(), "collector_success", collector="filesystem") == 0, "the failure")
    assert value(source.samples(), "filesystem_up") is None, "who cannot look does not know what is missing"
    assert "Traceback" not in caplog.text


def test_a_bad_line_loses_itself_only(tree, watching, eventually, value) -> None:
    tree.mounts("nonsense\n", NFS, b"61 27 \xff\xfe\n")
    source = watching()
    eventually(lambda: value(source.samples(), "filesystem_up") == 1, "the mount")
    failures = value(source.samples(), "filesystem_source_failures_total", param="mountinfo", reason="garbage")
    assert failures is not None
    assert failures % 2 == 0


def test_paths_that_are_not_utf8_can_be_scraped(tree, watching, answers, eventually, value, promtool) -> None:
    tree.mounts(
        b"61 27 0:61 / /dat\xe9 rw - nfs4 nas:/\xff rw\n",
        b'62 27 0:62 / /a"b\\134c\\012d rw - nfs4 nas:/q rw\n',
        "63 27 0:63 / /dat\\134xe9 rw - nfs4 nas:/\\134xff rw\n",
    )
    source = watching()
    # The third mount reads the same as the first.
    eventually(lambda: value(source.samples(), "filesystem_up", mountpoint="/dat\\xe9") == 1, "an answer")
    eventually(lambda: value(source.samples(), "filesystem_up", mountpoint='/a"b\\c\nd') == 1, "an answer")
    assert b"/dat\xe9" in answers.calls
    text = Exposition([render_blocks(source.samples())], METRICS).body().decode()
    assert promtool(text) == ""
    lines = [line.rsplit(" ", 1)[0] for line in text.splitlines() if not line.startswith("#")]
    assert len(set(lines)) == len(lines)


def test_more_mounts_than_can_be_watched_are_told(tree, watching, eventually, series, value) -> None:
    tree.mounts(*(f"{100 + n} 27 0:{100 + n} / /mnt{n} rw - nfs4 nas:/{n} rw\n" for n in range(140)))
    source = watching(interval_s=20.0)
    eventually(lambda: len(series(source.samples(), "filesystem_up")) == 128, "those that are watched")
    assert value(source.samples(), "filesystem_source_failures_total", reason="too_many") == 1


def test_an_expected_mount_is_not_called_missing_for_being_one_of_many(tree, watching, eventually, value) -> None:
    tree.mounts(*(f"{100 + n} 27 0:{100 + n} / /mnt{n} rw - nfs4 nas:/{n} rw\n" for n in range(140)))
    source = watching(Selection(expected=frozenset({b"/mnt139"})), interval_s=20.0)
    eventually(lambda: value(source.samples(), "filesystem_up", mountpoint="/mnt139") == 1, "its answer")
    assert value(source.samples(), "filesystem_failure_info") is None


def test_threads_of_mounts_that_hung_and_went_have_an_end(tree, watching, answers, eventually, value) -> None:
    source = watching(timeout_s=1.0, interval_s=600.0)
    for number in range(80):
        path = f"/data{number}"
        answers.results[path.encode()] = None
        tree.mounts(f"{100 + number} 27 0:{100 + number} / {path} rw - nfs4 nas:/d rw\n")
        source.scan()
    assert value(source.samples(), "filesystem_failure_info", reason="not_watched") == 1
    assert value(source.samples(), "filesystem_up") is None
    assert len(answers.calls) < 70


def test_a_limit_of_threads_costs_the_mounts_above_it_only(
    tree, watching, eventually, value, monkeypatch: pytest.MonkeyPatch
) -> None:
    start, allowed = threading.Thread.start, ["mount /data"]

    def limited(thread: threading.Thread) -> None:
        if thread.name.startswith("mount ") and thread.name not in allowed:
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", limited)
    tree.mounts(LUSTRE, NFS)
    source = watching()
    eventually(lambda: value(source.samples(), "filesystem_up", mountpoint="/data") == 1, "the other")
    eventually(lambda: value(source.samples(), "collector_success", collector="filesystem") == 1, "success")
    assert value(source.samples(), "filesystem_up", mountpoint="/lustre01") is None
    assert value(source.samples(), "filesystem_failure_info", mountpoint="/lustre01", reason="not_watched") == 1
    allowed.append("mount /lustre01")
    eventually(lambda: value(source.samples(), "filesystem_up", mountpoint="/lustre01") == 1, "its thread")


def test_nothing_to_watch_is_no_failure(tree, watching, eventually, value) -> None:
    source = watching()
    success = "collector_success"
    eventually(lambda: value(source.samples(), success, collector="filesystem") == 1, "a look at the mounts")
    assert {one.metric.name for one in source.samples()} == {
        "gpuscope_collector_success",
        "gpuscope_collector_duration_seconds",
    }


def test_a_broken_prober_costs_its_mount_only(tree, watching, answers, eventually, value, caplog) -> None:
    tree.mounts(NFS, LUSTRE)
    answers.results[b"/data"] = RuntimeError("odd")
    source = watching()
    eventually(lambda: value(source.samples(), "filesystem_up", mountpoint="/lustre01") == 1, "the other")
    eventually(lambda: value(source.samples(), "filesystem_up", mountpoint="/data") == 0, "the broken one")
    assert value(source.samples(), "filesystem_failure_info", mountpoint="/data", reason="error") == 1
    assert "statfs of /data failed" in caplog.text


def test_real_mounts_of_this_machine_are_found_and_asked(eventually, value, series) -> None:
    selection = Selection(expected=frozenset({b"/"}), types=re.compile("none"), scratch=re.compile("none"))
    source = FilesystemSource(selection=selection, interval_s=0.05, timeout_s=60.0)
    source.start()
    try:
        eventually(lambda: value(source.samples(), "filesystem_up", mountpoint="/") == 1, "an answer")
        (size,) = series(source.samples(), "filesystem_size_bytes").values()
        answer = os.statvfs("/")
        assert size == answer.f_blocks * answer.f_frsize
    finally:
        source.stop()


class TestOwnMounts:
    """Where this process sees a mount of the host."""

    HOST = "60 27 0:60 / /lustre01 rw - lustre m@tcp:/lustre01 rw\n"

    def see(self, tmp_path: Path, own: str, rootfs: str = "/") -> bytes | None:
        from gpuscope.filesystems.mountinfo import parse_mountinfo

        (tmp_path / "own").write_text(own)
        mounts = parse_mountinfo(self.HOST.encode(), lambda _: None)
        return Statfs(Path(rootfs), tmp_path / "own").see(mounts)[b"/lustre01"]

    def test_at_its_own_place(self, tmp_path: Path) -> None:
        assert self.see(tmp_path, self.HOST) == b"/lustre01"

    def test_below_the_root_that_was_named(self, tmp_path: Path) -> None:
        own = "9 1 0:60 / /elsewhere rw - lustre m rw\n10 1 0:60 / /host/lustre01 rw - lustre m rw\n"
        assert self.see(tmp_path, own, "/host") == b"/host/lustre01"

    def test_anywhere_that_is_the_same_file_system(self, tmp_path: Path) -> None:
        assert self.see(tmp_path, "9 1 0:60 / /mnt/x rw - lustre m rw\n", "/host") == b"/mnt/x"

    def test_nowhere_when_only_the_directory_below_is_there(self, tmp_path: Path) -> None:
        assert self.see(tmp_path, "9 1 8:1 / /host rw - ext4 /dev/sda rw\n", "/host") is None

    def test_not_where_another_mount_covers_it(self, tmp_path: Path) -> None:
        assert self.see(tmp_path, self.HOST + "70 1 0:99 / /lustre01 rw - tmpfs t rw\n") is None

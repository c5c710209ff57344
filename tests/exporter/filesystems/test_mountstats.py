"""What the NFS client counts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuscope.filesystems.mountstats import parse_mountstats

MOUNT = "61 27 0:61 / /data rw - nfs4 nas:/data rw,hard\n"
STATS = """\
device /dev/vda mounted on / with fstype ext4
device nas:/data mounted on /data with fstype nfs4 statvers=1.1
\topts:\trw,vers=4.2,rsize=1048576,wsize=1048576,namlen=255,hard,proto=tcp,timeo=600,retrans=2
\tage:\t7831
\timpl_id:\tname='',domain='',date='0,0'
\tcaps:\tcaps=0x3ffbffff,wtmult=512,dtsize=1048576,bsize=0,namlen=255
\tnfsv4:\tbm0=0xfdffbfff,bm1=0xf9be3e,bm2=0x68800,acl=0x3,sessions,pnfs=not configured
\tsec:\tflavor=1,pseudoflavor=1
\tevents:\t41 1203 5 88 30 22 1310 2201 0 20 0 40 11 3 40 2 0 9 0 0 2188 0 0 0 0 0 0
\tbytes:\t9127 4501 4096 8192 1048576 2097152 257 513
\tRPC iostats version: 1.1  p/v: 100003/4 (nfs)
\txprt:\ttcp 0 0 1 0 24 2200 2200 0 2200 0 2 0 0
\tper-op statistics
\t        NULL: 1 1 0 44 24 0 0 0 0
\t        READ: 1298 1300 1 207680 1600000 120 2650 2900 0
\t       WRITE: 75 75 0 29342464 13200 281 4010 4301 0
\t     GETATTR: 2640 2641 0 0 0 7 990 1020 0
\t      COMMIT: 0 0 0 0 0 0 0 0 0

device srv:/home\\040dir mounted on /my\\040home with fstype nfs statvers=1.1
\tbytes:\t10 20 0 0 0 0 0 0
\tper-op statistics
\t        READ: 3 3 0 0 0 1 2 3

"""


def parsed(content: str | bytes) -> tuple[dict, list[str]]:
    bad: list[str] = []
    return parse_mountstats(content.encode() if isinstance(content, str) else content, bad.append), bad


def test_bytes_are_those_of_programs_direct_ones_included() -> None:
    found, bad = parsed(STATS)
    assert bad == []
    assert found.keys() == {b"/data", b"/my home"}
    assert (found[b"/data"].read_bytes, found[b"/data"].write_bytes) == (9127 + 4096, 4501 + 8192)


def test_operations_have_their_number_and_time() -> None:
    found, _ = parsed(STATS)
    read = found[b"/data"].operations["read"]
    assert (read.count, read.transmissions, read.timeouts, read.seconds) == (1298, 1300, 1, 2.9)
    assert found[b"/my home"].operations["read"].count == 3, "kernels before 5.3 have no column of errors"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("READ: 1298 1300 1 207680 1600000 120 2650 2900 0", "READ: 1298 1300"),
        ("bytes:\t9127 4501 4096 8192", "bytes:\t9127 x 4096 8192"),
        ("bytes:\t9127 4501 4096 8192 1048576 2097152 257 513", "bytes:"),
        ("READ: 1298", "READ: -1298"),
    ],
)
def test_a_bad_line_loses_itself_only(old: str, new: str) -> None:
    assert old in STATS
    found, bad = parsed(STATS.replace(old, new, 1))
    assert bad == ["garbage"]
    assert found[b"/data"].operations["write"].count == 75
    assert found[b"/my home"].read_bytes == 10
    if old.startswith("bytes"):
        assert found[b"/data"].read_bytes is None
    else:
        assert "read" not in found[b"/data"].operations


def test_a_file_that_is_cut_off_keeps_what_was_whole() -> None:
    found, bad = parsed(STATS[: STATS.index("WRITE: 75") + 8])
    assert bad == ["truncated"]
    assert found[b"/data"].operations.keys() == {"null", "read"}


@given(st.binary())
def test_any_bytes_are_survived(content: bytes) -> None:
    parsed(content)


def test_series_of_a_mount(tree, put, watching, eventually, value, series) -> None:
    tree.mounts(MOUNT)
    put(tree.proc / "1/mountstats", STATS)
    source = watching()
    labels = {"filesystem": "nas:/data", "mountpoint": "/data"}
    eventually(lambda: value(source.samples(), "filesystem_read_bytes_total", **labels) == 13223, "the bytes")
    samples = source.samples()
    assert value(samples, "filesystem_write_bytes_total", **labels) == 12693
    assert value(samples, "filesystem_operations_total", **labels, operation="getattr") == 2640
    assert value(samples, "filesystem_operations_total", operation="commit") is None, "what never occurred is absent"
    assert value(samples, "filesystem_operation_seconds_total", **labels, operation="write") == 4.301
    assert value(samples, "filesystem_retransmissions_total", **labels) == 3
    assert value(samples, "filesystem_timeouts_total", **labels) == 1


def test_counters_of_one_export_are_told_once(tree, put, watching, eventually, value, series) -> None:
    from gpuscope.filesystems.selection import Selection

    tree.mounts(MOUNT, "62 27 0:61 / /again rw - nfs4 nas:/data rw,hard\n")
    again = STATS.replace("mounted on /my\\040home with fstype nfs ", "mounted on /again with fstype nfs4 ")
    put(tree.proc / "1/mountstats", again)
    source = watching(Selection(expected=frozenset({b"/data", b"/again"})))
    eventually(lambda: len(series(source.samples(), "filesystem_up")) == 2, "both mounts")
    eventually(lambda: value(source.samples(), "collector_success") == 1, "all of them")
    assert len(series(source.samples(), "filesystem_read_bytes_total")) == 1


def test_counters_of_two_exports_on_one_superblock_are_told_once(
    tree, put, watching, eventually, value, series
) -> None:
    tree.mounts(MOUNT, "62 27 0:61 / /again rw - nfs4 nas:/again rw,hard\n")
    again = STATS.replace("mounted on /my\\040home with fstype nfs ", "mounted on /again with fstype nfs4 ")
    assert again != STATS
    put(tree.proc / "1/mountstats", again)
    source = watching()
    eventually(lambda: len(series(source.samples(), "filesystem_up")) == 2, "both mounts")
    eventually(lambda: value(source.samples(), "collector_success") == 1, "all of them")
    assert [labels[1] for labels in series(source.samples(), "filesystem_read_bytes_total")] == ["/data"]


def test_statistics_that_cannot_be_read_cost_themselves_only(tree, put, watching, eventually, value) -> None:
    tree.mounts(MOUNT)
    source = watching()
    failures = {"param": "mountstats", "reason": "missing"}
    eventually(lambda: value(source.samples(), "filesystem_source_failures_total", **failures), "the failure")
    eventually(lambda: value(source.samples(), "filesystem_up") == 1, "the mount")
    assert value(source.samples(), "filesystem_read_bytes_total") is None


def test_another_process_stands_in_for_the_first(tree, put, watching, eventually, value) -> None:
    tree.mounts(MOUNT)
    put(tree.proc / "self/mountinfo", (tree.proc / "1/mountinfo").read_bytes())
    put(tree.proc / "self/mountstats", STATS)
    (tree.proc / "1/mountinfo").unlink()
    source = watching()
    eventually(lambda: value(source.samples(), "filesystem_read_bytes_total") == 13223, "the bytes")

import re

import pytest

from gpuscope.filesystems.mountinfo import parse_mountinfo
from gpuscope.filesystems.selection import Selection


def picked(selection: Selection, *lines: str) -> list[str]:
    content = "".join(f"{number} 1 {line}\n" for number, line in enumerate(lines)).encode()
    bad: list[str] = []
    mounts = parse_mountinfo(content, bad.append)
    assert bad == []
    return [mount.mountpoint.decode() for mount in selection.pick(mounts)]


@pytest.mark.parametrize(
    ("line", "watched"),
    [
        ("0:50 / /lustre01 rw - lustre m@tcp:/lustre01 rw", True),
        ("0:51 / /data rw - nfs4 nas:/data rw", True),
        ("0:51 / /data rw - nfs nas:/data rw", True),
        ("0:52 / /mnt/weka rw - wekafs host/default rw", True),
        ("0:53 / /gpfs rw - gpfs gpfs0 rw", True),
        ("0:54 / /beegfs rw - beegfs beegfs_nodev rw", True),
        ("0:55 / /s3 rw - fuse.mount-s3 mountpoint-s3 rw", True),
        ("9:0 / /scratch rw - xfs /dev/md0 rw", True),
        ("9:0 / /local-scratch/a rw - ext4 /dev/md0 rw", True),
        ("259:1 / /nvme0 rw - xfs /dev/nvme0n1 rw", True),
        ("259:1 / /opt/dlami/nvme rw - xfs /dev/nvme0n1 rw", True),
        ("9:0 / /raid rw - ext4 /dev/md0 rw", True),
        ("8:1 / / rw - ext4 /dev/sda1 rw", False),
        ("8:1 / /boot rw - ext4 /dev/sda1 rw", False),
        ("8:2 / /var/lib/kubelet rw - xfs /dev/sda2 rw", False),
        ("0:20 / /scratch rw - tmpfs tmpfs rw", False),
        ("0:21 / /proc rw - proc proc rw", False),
        ("0:22 / /mnt/x rw - overlay overlay rw", False),
        ("0:23 / /x rw - fuse.lxcfs lxcfs rw", False),
        ("0:24 / /x rw - nfsd nfsd rw", False),
    ],
)
def test_what_is_watched_by_default(line: str, watched: bool) -> None:
    assert bool(picked(Selection(), line)) is watched


def test_pseudo_file_systems_are_watched_by_no_pattern() -> None:
    everything = Selection(types=re.compile(".*"), scratch=re.compile(".*"))
    lines = ["0:1 / /proc rw - proc proc rw", "0:2 / /run rw - tmpfs tmpfs rw", "0:3 / /x rw - odd odd rw"]
    assert picked(everything, *lines) == ["/x"]


def test_what_another_mount_covers_is_left_out() -> None:
    assert picked(Selection(), "0:50 / /data rw - nfs4 old:/data rw", "0:51 / /data rw - tmpfs tmpfs rw") == []
    assert picked(Selection(), "0:49 / /data rw - autofs auto rw", "0:50 / /data rw - nfs4 n:/data rw") == ["/data"]


def test_what_a_mount_above_covers_is_left_out() -> None:
    table = (
        "20 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
        "21 20 0:50 / /data rw - nfs4 n:/data rw\n"
        "22 21 0:51 / /data/sub rw - nfs4 n:/sub rw\n"
        "23 22 0:52 / /data/sub/deep rw - nfs4 n:/deep rw\n"
        "24 21 0:53 / /data rw - tmpfs tmpfs rw\n"
        "25 20 0:54 / /database rw - nfs4 n:/base rw\n"
        "26 24 0:55 / /data/again rw - nfs4 n:/again rw\n"
        "27 20 0:56 / /mnt/a rw - nfs4 n:/a rw\n"
    )

    def watched(more: str = "") -> list[bytes]:
        return [mount.mountpoint for mount in Selection().pick(parse_mountinfo((table + more).encode(), print))]

    assert watched() == [b"/database", b"/data/again", b"/mnt/a"]
    assert watched("28 20 0:57 / /mnt rw - tmpfs tmpfs rw\n") == [b"/database", b"/data/again"]
    assert watched("28 20 0:58 / / rw - tmpfs tmpfs rw\n") == []


def test_mounts_whose_parents_go_round_in_circles_are_survived() -> None:
    lines = "21 22 0:50 / /a rw - nfs4 n:/a rw\n22 21 0:51 / /b rw - nfs4 n:/b rw\n23 23 0:52 / /c rw - nfs4 n:/c rw\n"
    found = Selection().pick(parse_mountinfo(lines.encode(), print))
    assert [mount.mountpoint for mount in found] == [b"/a", b"/b", b"/c"]


def test_expected_mounts_come_first_so_that_no_limit_leaves_them_out() -> None:
    lines = [f"0:{number} / /m{number} rw - nfs4 n:/{number} rw" for number in range(4)]
    assert picked(Selection(expected=frozenset({b"/m3", b"/m2"})), *lines) == ["/m2", "/m3", "/m0", "/m1"]


def test_bind_mounts_are_one_file_system_under_the_path_that_users_know() -> None:
    lines = [
        "0:50 /sub /var/lib/kubelet/pods/1/volumes/a rw - lustre m@tcp:/fs rw",
        "0:50 / /var/lib/kubelet/pods/2/volumes/b rw - lustre m@tcp:/fs rw",
        "0:50 / /lustre01 rw - lustre m@tcp:/fs rw",
        "0:50 /sub /l rw - lustre m@tcp:/fs rw",
    ]
    assert picked(Selection(), *lines) == ["/lustre01"]
    assert picked(Selection(), *reversed(lines)) == ["/lustre01"]


def test_a_bind_mount_of_a_folder_on_nfs_is_known_although_its_source_is_another() -> None:
    lines = [
        "0:50 / /data rw - nfs4 nas:/data rw",
        "0:50 /a/b /var/lib/kubelet/pods/1/volume-subpaths/x rw - nfs4 nas:/data/a/b rw",
        "0:51 / /all rw - nfs4 nas:/ rw",
        "0:51 /c /c rw - nfs4 nas:/c rw",
        "0:50 /other /home rw - nfs4 nas:/home rw",
        "0:52 /a/b /elsewhere rw - nfs4 nas:/data/a/b rw",
        "0:53 /d /only rw - nfs4 nas:/d rw",
    ]
    assert picked(Selection(), *lines) == ["/data", "/all", "/home", "/elsewhere", "/only"]


def test_two_mounts_of_one_file_system_are_two() -> None:
    assert picked(Selection(), "0:50 / /a rw - lustre m@tcp:/fs rw", "0:51 / /b rw - lustre m@tcp:/fs rw") == [
        "/a",
        "/b",
    ]


def test_expected_mounts_are_watched_whatever_they_are() -> None:
    selection = Selection(exclude=re.compile("/x"), expected=frozenset({b"/x", b"/dev/shm"}))
    assert picked(selection, "0:1 / /x rw - nfs4 n:/x rw", "0:2 / /dev/shm rw - tmpfs shm rw") == ["/x", "/dev/shm"]


def test_patterns_are_for_the_whole_word() -> None:
    selection = Selection(types=re.compile("nfs"), scratch=re.compile("/fast"), exclude=re.compile("/no.*"))
    lines = [
        "0:1 / /a rw - nfs n:/a rw",
        "0:2 / /b rw - nfs4 n:/b rw",
        "0:3 / /nope rw - nfs n:/c rw",
        "8:1 / /fast rw - xfs /dev/a rw",
        "8:2 / /faster rw - xfs /dev/b rw",
    ]
    assert picked(selection, *lines) == ["/a", "/fast"]

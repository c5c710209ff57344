import os

from hypothesis import given
from hypothesis import strategies as st

from gpuscope.filesystems.mountinfo import parse_mountinfo, text, unescape

LINE = b"36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue\n"


def parsed(content: bytes) -> tuple[list, list[str]]:
    bad: list[str] = []
    return list(parse_mountinfo(content, bad.append)), bad


def test_a_line_is_taken_apart() -> None:
    (mount,), bad = parsed(LINE)
    assert (mount.device, mount.root, mount.mountpoint, mount.type) == ("98:0", b"/mnt1", b"/mnt2", "ext3")
    assert mount.source == b"/dev/root"
    assert mount.options == ("rw", "noatime", "errors=continue")
    assert not mount.read_only
    assert bad == []


def test_optional_fields_may_be_none_or_many() -> None:
    (none, many), bad = parsed(
        b"36 35 98:0 / /a ro - ext3 /dev/root rw\n"
        b"37 35 98:1 / /b rw shared:1 master:2 propagate_from:3 unbindable - xfs /dev/b ro\n"
    )
    assert (none.mountpoint, none.read_only) == (b"/a", True)
    assert (many.mountpoint, many.read_only) == (b"/b", True)
    assert bad == []


def test_escapes_are_undone() -> None:
    (mount,), _ = parsed(rb"36 35 0:9 / /my\040data\011x\134040\012 rw - nfs srv:/my\040export rw" + b"\n")
    assert mount.mountpoint == b"/my data\tx\\040\n"
    assert mount.source == b"srv:/my export"


def test_a_path_that_is_not_utf8_becomes_a_label_that_is() -> None:
    (mount,), _ = parsed(b"36 35 0:9 / /caf\xe9 rw - nfs srv:/caf\xe9 rw,x=\xff\n")
    assert mount.mountpoint == b"/caf\xe9"
    assert text(mount.mountpoint) == "/caf\\xe9"
    assert mount.options[-1] == "x=\\xff"


def test_an_empty_source_is_no_missing_field() -> None:
    (mount,), bad = parsed(b"36 35 0:9 / /x rw - wekafs  rw\n")
    assert (mount.type, mount.source, bad) == ("wekafs", b"", [])


def test_bad_lines_are_told_and_the_others_kept() -> None:
    lines = [
        b"nonsense",
        b"36 35 98:0 / /no-separator rw ext3 /dev/root rw",
        b"36 35 device / /x rw - ext3 /dev/root rw",
        b"36 35 98:0 / relative rw - ext3 /dev/root rw",
        b"36 35 98:0 / /x rw - ext3",
        LINE.strip(),
        b"\xff\x00\xfe",
    ]
    mounts, bad = parsed(b"\n".join(lines) + b"\n")
    assert [mount.mountpoint for mount in mounts] == [b"/mnt2"]
    assert bad == ["garbage"] * 6


def test_a_line_that_was_cut_off_is_no_mount_even_if_it_looks_like_one() -> None:
    mounts, bad = parsed(LINE + LINE.replace(b"/mnt2", b"/mnt3").strip())
    assert [mount.mountpoint for mount in mounts] == [b"/mnt2"]
    assert bad == ["truncated"]


@given(st.binary())
def test_any_bytes_are_survived_and_labels_can_be_sent(content: bytes) -> None:
    for mount in parse_mountinfo(content, lambda _: None):
        ",".join([text(mount.mountpoint), text(mount.source), mount.type, *mount.options]).encode("utf-8")


@given(st.binary(min_size=1).map(lambda raw: b"/" + raw.replace(b"\0", b"")))
def test_every_path_that_the_kernel_escapes_comes_back(path: bytes) -> None:
    escaped = b"".join(b"\\%03o" % byte if byte in b" \t\n\\" else bytes((byte,)) for byte in path)
    assert unescape(escaped) == path
    (mount,), bad = parsed(b"36 35 0:9 / " + escaped + b" rw - nfs s:/x rw\n")
    assert (mount.mountpoint, bad) == (path, [])


def test_the_table_of_this_machine_can_be_read() -> None:
    with open("/proc/self/mountinfo", "rb") as file:
        mounts, bad = parsed(file.read())
    assert bad == []
    assert b"/" in {mount.mountpoint for mount in mounts}
    assert all(os.path.isabs(mount.mountpoint) for mount in mounts)

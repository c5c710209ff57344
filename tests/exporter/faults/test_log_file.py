"""The file reader step by step, where the order of steps matters."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from gpuscope.faults.log_file import LogFile


@pytest.fixture
def path(tmp_path: Path) -> Path:
    one = tmp_path / "kern.log"
    one.write_text("before\n")
    return one


@pytest.fixture
def file(path: Path) -> Iterator[LogFile]:
    one = LogFile(path, None)
    yield one
    one.close()


def add(path: Path, text: str) -> None:
    with path.open("a") as writer:
        writer.write(text)


def test_what_a_daemon_writes_into_the_old_file_after_its_rotation_is_read(path: Path, file: LogFile) -> None:
    old = path.with_name("kern.log.1")
    path.rename(old)
    path.write_text("new\n")
    assert file.read() == []
    add(old, "late\nlast")
    assert file.read() == ["late"]
    assert file.read() == []
    assert file.read() == ["last"]
    assert file.read() == ["new"]


def test_a_cursor_stands_before_half_a_line(path: Path, file: LogFile) -> None:
    add(path, "one\ntw")
    assert file.read() == ["one"]
    cursor = file.cursor
    add(path, "o\n")
    again = LogFile(path, cursor)
    assert again.read() == ["two"]
    again.close()
    assert file.read() == ["two"]


def test_a_line_without_end_takes_bounded_memory(path: Path, file: LogFile) -> None:
    add(path, "x" * 3_000_000)
    for _ in range(20):
        assert file.read() == []
    add(path, "end\nnext\n")
    (rest, following) = file.read()
    assert rest.endswith("end")
    assert len(rest) < 400_000
    assert following == "next"


def test_a_file_that_is_gone_is_an_error(path: Path, file: LogFile) -> None:
    path.unlink()
    with pytest.raises(FileNotFoundError):
        file.read()

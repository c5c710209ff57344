"""Writing and comparing generated files."""

from pathlib import Path

import pytest

from gpuscope_generator.artefact import difference, write


def test_file_is_made_with_the_text_and_nothing_beside_it(tmp_path: Path) -> None:
    assert write(tmp_path / "page.md", "é\n")
    assert (tmp_path / "page.md").read_bytes() == "é\n".encode()
    assert [path.name for path in tmp_path.iterdir()] == ["page.md"]
    assert (tmp_path / "page.md").stat().st_mode & 0o777 == 0o644


def test_current_file_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text("same\n", encoding="utf-8")
    before = path.stat()
    assert not write(path, "same\n")
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_replaced_file_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text("old\n", encoding="utf-8")
    path.chmod(0o600)
    assert write(path, "new\n")
    assert path.stat().st_mode & 0o777 == 0o600


def test_missing_folder_is_an_error_that_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        write(tmp_path / "none" / "page.md", "x")
    assert list(tmp_path.iterdir()) == []


def test_failed_write_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text("old\n", encoding="utf-8")
    with pytest.raises(UnicodeEncodeError):
        write(path, "\ud800")
    assert path.read_text(encoding="utf-8") == "old\n"
    assert [one.name for one in tmp_path.iterdir()] == ["page.md"]


def test_difference_counts_and_shows_the_first_lines(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    assert difference(path, "x") == "the file is missing"
    path.write_text("a\nb\n", encoding="utf-8")
    assert difference(path, "a\nb\n") is None
    assert difference(path, "a\nc\nd\n") == "2 lines to add, 1 to remove\n-b\n+c\n+d"
    long = difference(path, "a\nb\n" + "new\n" * 50)
    assert long is not None
    assert long.splitlines()[0] == "50 lines to add, 0 to remove"
    assert long.splitlines()[-1] == "… and 30 more"


def test_difference_in_the_last_line_break_or_in_bytes_that_are_no_text_counts(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_bytes(b"a\r\n")
    assert difference(path, "a\n") is not None
    path.write_bytes(b"a")
    assert difference(path, "a\n") is not None
    path.write_bytes(b"\xff\n")
    assert difference(path, "a\n") == "1 lines to add, 1 to remove\n-\ufffd\n+a"

"""The lock beside the state file: one for all of its names, and of no use once it was taken away."""

import os
from pathlib import Path

import pytest

from gpuscope.collector.election import FileLock, Together
from gpuscope.errors import ConfigError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    one = tmp_path / "state"
    one.mkdir()
    return one


def test_a_file_has_one_lock_under_all_of_its_names(folder: Path, tmp_path: Path) -> None:
    (folder / "jobs").touch()
    (tmp_path / "link").symlink_to(folder / "jobs")
    (tmp_path / "other").symlink_to(folder)
    names = [folder / "jobs", tmp_path / "link", tmp_path / "other" / "jobs", folder / ".." / "state" / "jobs"]
    first, *others = [FileLock(name) for name in names]
    assert first.hold() == ""
    for other in others:
        assert f"process {os.getpid()}" in other.hold()
    first.release()
    assert others[0].hold() == ""
    assert [bool(one.hold()) for one in (first, *others[1:])] == [True, True, True]


def test_a_link_to_a_file_that_is_not_there_yet_leads_to_its_lock(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(folder / "jobs")
    first, other = FileLock(tmp_path / "link"), FileLock(folder / "jobs")
    assert first.hold() == ""
    assert other.hold() != ""


def test_a_lock_that_was_removed_is_wanted_anew(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    first = FileLock(folder / "jobs")
    assert first.hold() == ""
    (folder / "jobs.lock").unlink()
    second = FileLock(folder / "jobs")
    assert second.hold() == ""
    assert "which leads" in first.hold(), "it steps down"
    assert "removed or replaced" in caplog.text
    second.release()
    assert first.hold() == ""
    assert second.hold() != ""


def test_a_lock_that_was_removed_and_that_nobody_took_is_kept(folder: Path) -> None:
    first = FileLock(folder / "jobs")
    assert first.hold() == ""
    (folder / "jobs.lock").unlink()
    assert first.hold() == ""
    assert FileLock(folder / "jobs").hold() != ""
    (folder / "jobs.lock").unlink()
    (folder / "jobs.lock").write_text("of somebody else\n")
    assert first.hold() == ""
    assert first.hold() == ""


def test_a_folder_that_was_removed_is_a_reason_to_wait(folder: Path) -> None:
    first = FileLock(folder / "jobs")
    together = Together([first])
    assert together.hold() == ""
    (folder / "jobs.lock").unlink()
    folder.rmdir()
    assert "No such file" in together.hold()
    folder.mkdir()
    assert together.hold() == ""


def test_links_in_a_circle_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(ConfigError, match="--state-file"):
        FileLock(tmp_path / "a")

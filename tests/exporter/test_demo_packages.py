"""Packages of the distribution, unpacked into a folder. The package is a real one, small and needed by nobody."""

import subprocess
from pathlib import Path

import pytest

from gpuscope.demo.packages import unpack
from gpuscope.errors import SourceError


def _installed(*names: str) -> str:
    kind = subprocess.run(["dpkg", "--print-architecture"], capture_output=True, text=True, check=True, timeout=60)
    return "\n".join(
        f"Package: {name}\nStatus: install ok installed\nArchitecture: {kind.stdout.strip()}\nVersion: 9999\n"
        f"Maintainer: -\nDescription: there\n"
        for name in names
    )


def test_what_a_package_depends_on_comes_with_it_and_the_folder_is_finished_before_it_moves(tmp_path: Path) -> None:
    target = tmp_path / "place"

    def finish(root: Path) -> None:
        assert not target.exists()
        (root / "note").write_text("done", encoding="utf-8")

    packages = unpack(["hello"], tmp_path / "cache", target, installed=_installed("debconf"), finish=finish)
    assert {"hello", "libc6"} <= set(packages)
    assert "debconf" not in packages
    assert (target / "usr/bin/hello").exists()
    assert list(target.rglob("libc.so.6"))
    assert (target / "note").read_text(encoding="utf-8") == "done"


def test_a_package_that_does_not_exist_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"no-such-thing cannot be downloaded: E: .*; try: sudo apt-get install"):
        unpack(["no-such-thing"], tmp_path / "cache", tmp_path / "place", installed=_installed("libc6"))
    assert not (tmp_path / "place").exists()
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["apt"]

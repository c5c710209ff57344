"""The commands that write boards, rules, the mixin and pages."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from gpuscope_generator.cli import main

ROOT = Path(__file__).parents[2]
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*arguments: str | Path) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main([str(word) for word in arguments])
        assert isinstance(ended.value.code, int)
        return (ended.value.code, *capsys.readouterr())

    return call


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all that the generator writes."""
    folder = tmp_path_factory.mktemp("all")
    with pytest.raises(SystemExit) as ended:
        main(["all", "--out", str(folder)])
    assert ended.value.code == 0
    return folder


@pytest.fixture
def copy(everything: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(everything, tmp_path / "copy"))


def test_all_is_boards_rules_mixin_and_pages(everything: Path) -> None:
    names = {str(path.relative_to(everything)) for path in everything.rglob("*") if path.is_file()}
    assert {"dashboards/cluster.json", "mixin/mixin.libsonnet", "docs/dashboards.md", "docs/metrics.md"} <= names
    assert "alert_rules/recording/level-node.yaml" in names
    assert not any(path.name.startswith(".") for path in everything.rglob("*"))


def test_a_second_run_changes_nothing_and_check_is_clean(copy: Path, run: Run) -> None:
    before = {path: path.stat().st_mtime_ns for path in copy.rglob("*") if path.is_file()}
    code, out, err = run("dashboards", "--out", copy)
    assert (code, out, err) == (0, f"{len(list((copy / 'dashboards').iterdir()))} files were current\n", "")
    code, out, err = run("all", "--out", copy, "--check")
    assert (code, out, err) == (0, f"{len(before)} files are current\n", "")
    assert {path: path.stat().st_mtime_ns for path in copy.rglob("*") if path.is_file()} == before


def test_check_finds_what_is_stale_missing_or_left_over(copy: Path, run: Run) -> None:
    board = copy / "dashboards/cluster.json"
    board.write_text(board.read_text().replace('"editable": false', '"editable": true'))
    (copy / "docs/dashboards.md").unlink()
    (copy / "dashboards/old.json").write_text('{"uid": "gpuscope-old"}')
    code, out, err = run("all", "--out", copy, "--check")
    assert (code, out) == (1, "")
    assert f"{board} is stale; run gpuscope-generator all\n1 lines to add, 1 to remove\n" in err
    assert f"{copy / 'docs/dashboards.md'} is stale; run gpuscope-generator all\nthe file is missing" in err
    assert f"{copy / 'dashboards/old.json'} is stale; run gpuscope-generator all\nno longer generated" in err
    code, out, err = run("dashboards", "--out", copy)
    assert (code, err) == (0, "")
    assert out.splitlines()[:2] == [f"{board} written", f"{copy / 'dashboards/old.json'} removed"]
    assert not (copy / "docs/dashboards.md").exists()
    assert run("docs", "--out", copy)[1].startswith(f"{copy / 'docs/dashboards.md'} written\n")


@pytest.mark.parametrize(
    ("name", "folders"), [("rules", {"alert_rules"}), ("mixin", {"alert_rules", "dashboards", "mixin"})]
)
def test_a_part_writes_what_it_needs(tmp_path: Path, run: Run, name: str, folders: set[str]) -> None:
    assert run(name, "--out", tmp_path / "new")[0] == 0
    assert {path.name for path in (tmp_path / "new").iterdir()} == folders


@pytest.mark.parametrize(
    ("text", "message"),
    [("x: 1\n", "my.yaml:1: x: no such setting"), (None, "--settings my.yaml: No such file or directory")],
)
def test_bad_settings_write_nothing(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch, text: str | None, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    if text:
        Path("my.yaml").write_text(text)
    code, out, err = run("all", "--settings", "my.yaml", "--out", "new")
    assert (code, out, err) == (2, "", f"gpuscope-generator: error: {message}\n")
    assert not Path("new").exists()


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path, run: Run) -> None:
    (tmp_path / "dashboards").write_text("a file")
    code, _, err = run("dashboards", "--out", tmp_path)
    assert code == 2
    assert err.startswith(f"gpuscope-generator: error: --out {tmp_path / 'dashboards'}")
    assert len(err.splitlines()) == 1


def test_a_page_without_its_table_is_named(tmp_path: Path, run: Run) -> None:
    (tmp_path / "README.md").write_text("no table")
    code, _, err = run("docs", "--out", tmp_path)
    assert code == 2
    assert "README.md: no table in it" in err
    assert not (tmp_path / "docs").exists()

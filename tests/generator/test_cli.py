"""The command line: each kind of answer once from the real command, as make calls it, the rest in this process."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from gpuscope import __version__
from gpuscope_generator.cli import generator, main

ROOT = Path(__file__).parents[2]
PROGRAM = Path(sys.executable).with_name("gpuscope-generator")


Run = Callable[..., "subprocess.CompletedProcess[str]"]


def process(*arguments: str | Path, cwd: Path = ROOT) -> "subprocess.CompletedProcess[str]":
    """Runs the real command."""
    return subprocess.run([PROGRAM, *arguments], cwd=cwd, capture_output=True, text=True, check=False, timeout=120)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs the entry point of the command in this process."""

    def call(*arguments: str | Path, cwd: Path = ROOT) -> "subprocess.CompletedProcess[str]":
        monkeypatch.chdir(cwd)
        words = [str(word) for word in arguments]
        with pytest.raises(SystemExit) as ended:
            main(words)
        code = ended.value.code
        assert isinstance(code, int)
        return subprocess.CompletedProcess(words, code, *capsys.readouterr())

    return call


def test_committed_reference_is_current() -> None:
    done = process("reference", "--check")
    assert (done.returncode, done.stdout, done.stderr) == (0, "docs/metrics.md is current\n", "")


def test_committed_tables_are_current(run: Run) -> None:
    done = run("tables", "--check")
    assert (done.returncode, done.stdout, done.stderr) == (0, "README.md is current\n", "")


def test_stale_reference_is_found_and_says_what_differs(run: Run, tmp_path: Path) -> None:
    page = (ROOT / "docs/metrics.md").read_text(encoding="utf-8")
    stale = tmp_path / "metrics.md"
    stale.write_text(page.replace("Power drawn by the board.", "Power."), encoding="utf-8")
    before = stale.read_bytes()
    done = run("reference", "--check", "--output", stale)
    assert done.returncode == 1
    assert done.stderr.startswith(f"{stale} is stale; run gpuscope-generator reference\n1 lines to add, 1 to remove\n")
    assert "Power drawn by the board." in done.stderr
    assert "Traceback" not in done.stderr
    assert stale.read_bytes() == before


def test_missing_reference_is_stale(run: Run, tmp_path: Path) -> None:
    done = run("reference", "--check", "--output", tmp_path / "none.md")
    assert done.returncode == 1
    assert "the file is missing" in done.stderr


def test_reference_is_written_once_and_then_left(run: Run, tmp_path: Path) -> None:
    target = tmp_path / "metrics.md"
    first = run("reference", "--output", target)
    assert (first.returncode, first.stdout) == (0, f"{target} written\n")
    assert target.read_text(encoding="utf-8") == (ROOT / "docs/metrics.md").read_text(encoding="utf-8")
    assert run("reference", "--output", target).stdout == f"{target} was current\n"


def test_reference_is_printed_on_request(run: Run) -> None:
    done = run("reference", "--output", "-")
    assert done.returncode == 0
    assert done.stdout == (ROOT / "docs/metrics.md").read_text(encoding="utf-8")


def test_tables_of_a_page_are_filled_and_checked(run: Run, tmp_path: Path) -> None:
    page = tmp_path / "README.md"
    page.write_text("# x\n\n<!-- table: collectors -->\n<!-- end of table -->\n", encoding="utf-8")
    assert run("tables", "--check", cwd=tmp_path).returncode == 1
    assert run("tables", cwd=tmp_path).stdout == "README.md written\n"
    assert "`--collector.power`" in page.read_text(encoding="utf-8")
    done = run("tables", "--check", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "README.md is current\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["reference", "--nothing"], "No such option"),
        (["nothing"], "No such command 'nothing'"),
        (["reference", "--output", "none/metrics.md"], "--output none/metrics.md: No such file or directory"),
        (["reference", "--output", "folder"], "'folder' is a directory"),
        (["reference", "--check", "--output", "-"], "--check needs a file, not -"),
        (["tables", "--page", "none.md"], "--page none.md: No such file or directory"),
        (["tables", "--page", "plain.md"], "--page plain.md: no table in it"),
        (["tables", "--page", "binary.md"], "--page binary.md: "),
    ],
)
def test_mistake_is_one_line_that_names_it(run: Run, tmp_path: Path, arguments: list[str], message: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "plain.md").write_text("text\n", encoding="utf-8")
    (tmp_path / "binary.md").write_bytes(b"\xff\xfe")
    before = sorted(path.name for path in tmp_path.iterdir())
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.startswith("gpuscope-generator: error: ")
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_a_mistake_ends_the_process_with_2(tmp_path: Path) -> None:
    done = process("reference", "--output", "none/metrics.md", cwd=tmp_path)
    message = "gpuscope-generator: error: --output none/metrics.md: No such file or directory\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", message)


def test_no_command_shows_help(run: Run) -> None:
    done = run()
    assert done.returncode == 0
    assert "reference" in done.stdout


def test_version_is_that_of_the_distribution() -> None:
    assert process("--version").stdout == f"gpuscope-generator, version {__version__}\n"


@pytest.mark.parametrize("name", sorted(generator.commands))
def test_every_command_and_option_has_help(run: Run, name: str) -> None:
    command = generator.commands[name]
    assert command.help
    assert all(option.help for option in command.params if isinstance(option, click.Option))
    assert name in run(name, "--help").stdout


def test_help_loads_no_metric_and_no_driver() -> None:
    program = (
        "import sys\nfrom gpuscope_generator.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "print([name for name in sys.modules if name.startswith(('gpuscope.catalogue', 'pynvml', 'gpuscope.nvml'))])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env={**os.environ}, cwd=ROOT
    )
    assert done.stdout.splitlines()[-1] == "[]"

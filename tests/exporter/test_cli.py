import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from gpuscope import __version__
from gpuscope.cli import COMMANDS, main, root
from gpuscope.config import OPTIONS, load
from gpuscope.simulate import scenarios

ROOT = Path(__file__).parents[2]
PROGRAM = [sys.executable, "-m", "gpuscope"]


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [*os.environ]:
        if name.startswith("GPUSCOPE_") or name in {"NODE_NAME", "STATE_DIRECTORY"}:
            monkeypatch.delenv(name)


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Runs the command line in this process: exit code, stdout, stderr."""

    def run(*words: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as caught:
            main(words)
        captured = capsys.readouterr()
        assert isinstance(caught.value.code, int)
        return caught.value.code, captured.out, captured.err

    return run


Cli = Callable[..., tuple[int, str, str]]


def error(result: tuple[int, str, str]) -> str:
    """The one line of a user's mistake."""
    code, out, err = result
    assert (code, out) == (2, "")
    assert err.startswith("gpuscope: error: ")
    assert err.count("\n") == 1
    assert err.endswith("\n")
    return err.removeprefix("gpuscope: error: ").rstrip("\n")


def commands(group: click.Group = root, path: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], click.Command]]:
    found = []
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        found.append(((*path, name), command))
        if isinstance(command, click.Group):
            found += commands(command, (*path, name))
    return found


def test_version(cli: Cli) -> None:
    assert cli("--version") == (0, f"gpuscope, version {__version__}\n", "")


def test_no_command_prints_help(cli: Cli) -> None:
    code, out, err = cli()
    assert (code, err) == (0, "")
    assert all(name in out for name in COMMANDS)


def test_every_command_has_help_with_an_example(cli: Cli) -> None:
    for path, command in commands():
        code, out, _ = cli(*path, "--help")
        assert code == 0, path
        assert out.startswith(f"Usage: gpuscope {' '.join(path)}"), path
        assert "gpuscope" in (command.help or "").partition("\n")[2], f"{path}: no example"


def test_every_command_is_documented() -> None:
    pages = "\n".join(page.read_text(encoding="utf-8") for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
    missing = [" ".join(path) for path, _ in commands() if f"gpuscope {' '.join(path)}" not in pages]
    assert missing == []


def test_the_command_line_is_light() -> None:
    program = (
        "import sys; import gpuscope.cli; "
        "print([m for m in ('tornado', 'pynvml', 'prometheus_client', 'requests', 'rich', 'yaml') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["agnt"], "agnt: no such command; did you mean agent? (see gpuscope --help)"),
        (["zzz"], f"zzz: no such command; known are {', '.join(COMMANDS)} (see gpuscope --help)"),
        (["agent", "more"], "Got unexpected extra argument (more) (see gpuscope agent --help)"),
        (["agent", "--interval.fast", "soon"], "--interval.fast: 'soon' is not a duration like 500ms, 5s or 1m30s"),
        (["agent", "--log.level", "loud"], "--log.level: 'loud' is not one of debug, info, warning, error"),
        (["agent", "--config", "/nowhere"], "--config /nowhere: cannot be read: No such file or directory"),
        (["agent", "--simulate", "h100x9"], "--simulate: scenario 'h100x9': neither a shipped scenario nor a file"),
        (["agent", "--web.listen-address", "9836"], "--web.listen-address '9836': expected HOST:PORT"),
        (["agent", "--web.telemetry-path", "metrics"], "--web.telemetry-path 'metrics': must begin with '/'"),
        (["agent", "--web.config.file", "/nowhere"], "--web.config.file: /nowhere: cannot be read: No such file"),
        (["agent", "--xid-catalogue", "/nowhere"], "--xid-catalogue: /nowhere: cannot be read"),
        (["agent", "--path.procfs", "/nowhere"], "--path.procfs: /nowhere: not a folder"),
        (["agent", "--state-dir", "/nowhere"], "--state-dir: /nowhere: not a folder that can be written to"),
        (["agent", "--kernel-log", "/proc"], "--kernel-log: /proc: is a folder"),
        (["agent", "--xid-catalogue", "/dev/zero"], "--xid-catalogue: /dev/zero: cannot be read: Is not a"),
        (["agent", "--kernel-log", "/nowhere"], "--kernel-log: /nowhere: cannot be read: No such file or directory"),
        (["simulate", "show", "h100x9"], "scenario 'h100x9': neither a shipped scenario nor a file; did you mean"),
        (["simulate", "run", "h100x9", "--", "true"], "scenario 'h100x9': neither a shipped scenario nor a file"),
        (["simulate", "run", "h100x8", "--", "/nowhere"], "/nowhere: cannot be run: No such file or directory"),
        (["simulate", "run", "h100x8", "--speed", "0", "--", "true"], "Invalid value for '--speed'"),
        (["xids", "--override", "/nowhere"], "/nowhere: cannot be read"),
        (["settings", "--update", "/nowhere/x.md"], "--update /nowhere/x.md: No such file or directory"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_line_and_exit_code_2(cli: Cli, words: list[str], message: str) -> None:
    # The check alone, so that a mistake that passes unseen does not leave an agent running in this process.
    check = ["--check-config"] if words[0] == "agent" else []
    assert error(cli(*words, *check)).startswith(message)


def test_an_unknown_flag_is_told_its_neighbour(cli: Cli) -> None:
    message = error(cli("agent", "--interval.fats", "1s"))
    assert "--interval.fats" in message
    assert "--interval.fast" in message
    assert message.endswith("(see gpuscope agent --help)")
    message = error(cli("agent", "--interval.fast"))
    assert message == "Option '--interval.fast' requires an argument. (see gpuscope agent --help)"


def test_a_mistake_in_a_variable_is_named(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUSCOPE_COLLECTOR_PIPES", "perhaps")
    assert error(cli("agent", "--check-config")) == "GPUSCOPE_COLLECTOR_PIPES: 'perhaps' is neither true nor false"


def test_a_mistake_in_the_file_is_named_with_line_and_key(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    file.write_text("log:\n  format: xml\n")
    assert (
        error(cli("agent", "--config", str(file), "--check-config"))
        == f"{file}:2: log.format: 'xml' is not one of logfmt, json"
    )


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("web: {telemetry-path: x}", "--web.telemetry-path 'x': must begin with '/'"),
        ("web: {listen-address: x}", "--web.listen-address 'x': expected HOST:PORT"),
        ("web: {config: {file: x.yml}}", "web.config.file: {folder}/x.yml: cannot be read: No such file or directory"),
        ("xid-catalogue: x.csv", "xid-catalogue: {folder}/x.csv: cannot be read"),
        ("simulate: h100x9", "simulate: scenario 'h100x9': neither a shipped scenario nor a file"),
    ],
)
def test_a_mistake_found_on_a_second_look_still_names_the_line(
    cli: Cli, tmp_path: Path, line: str, message: str
) -> None:
    file = tmp_path / "c.yaml"
    file.write_text(f"# gpuscope\n{line}\n")
    found = error(cli("agent", "--config", str(file), "--check-config"))
    assert found.startswith(f"{file}:2: {message.replace('{folder}', str(tmp_path))}")


def test_a_bad_certificate_is_named_by_file_and_key(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "bad.pem").write_text("no certificate")
    web = tmp_path / "web.yml"
    web.write_text("tls_server_config:\n  cert_file: bad.pem\n  key_file: bad.pem\n")
    message = error(cli("agent", "--web.config.file", str(web), "--check-config"))
    assert message.startswith(f"--web.config.file: {web}:")
    assert "bad.pem" in message


def test_a_bad_row_of_the_xid_catalogue_is_named(cli: Cli, tmp_path: Path) -> None:
    override = tmp_path / "xids.csv"
    override.write_text("code,action\n79,explode\n")
    message = error(cli("agent", "--xid-catalogue", str(override), "--check-config"))
    assert message.startswith(f"--xid-catalogue: {override}:2: action: 'explode' is not one of")


def test_a_bad_scenario_file_is_named_by_line(cli: Cli, tmp_path: Path) -> None:
    scenario = tmp_path / "mine.yaml"
    scenario.write_text("extends: h100x8\nevents:\n  - {at: 1, do: explode}\n")
    message = error(cli("agent", "--simulate", str(scenario), "--check-config"))
    assert message.startswith(f"--simulate: {scenario}:3:")


def test_check_config_prints_a_file_with_origins_and_opens_nothing(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "c.yaml"
    file.write_text("interval:\n  slow: 2m\n")
    monkeypatch.setenv("GPUSCOPE_CONFIG", str(file))
    monkeypatch.setenv("GPUSCOPE_EXPECTED_GPUS", "8")
    words = ["--simulate", "h100-mig", "--collector.pipes", "--no-collector.xid", "--web.listen-address", "127.0.0.1:1"]
    code, out, err = cli("agent", "--check-config", *words)
    assert (code, err) == (0, "")
    assert out.startswith(f"# the configuration is valid; 6 of {len(OPTIONS)} settings are not defaults\n")
    for line in (
        f"  slow: 2m  # {file}:2",
        "expected-gpus: 8  # GPUSCOPE_EXPECTED_GPUS",
        "  pipes: true  # --collector.pipes",
        "  xid: false  # --collector.xid",
        '  listen-address: ["127.0.0.1:1"]  # --web.listen-address',
        '  scenario: "h100-mig"  # --simulate',
    ):
        assert f"\n{line}\n" in out
    again = tmp_path / "again.yaml"
    again.write_text(out)
    assert load({}, again, {}).settings["interval.slow"] == 120.0


def test_check_config_answers_in_the_exit_code_of_the_process(tmp_path: Path) -> None:
    good = subprocess.run([*PROGRAM, "agent", "--check-config"], capture_output=True, text=True, check=False)
    assert (good.returncode, good.stderr) == (0, "")
    bad = subprocess.run(
        [*PROGRAM, "agent", "--check-config", "--interval.fast=0"], capture_output=True, text=True, check=False
    )
    assert (bad.returncode, bad.stdout) == (2, "")
    assert bad.stderr == "gpuscope: error: --interval.fast: '0' is out of range: 100ms to 1h\n"


def test_a_missing_extra_says_how_to_install_it() -> None:
    # A module that is None in sys.modules cannot be imported: as if the extra were not installed.
    program = "import sys; sys.modules['rich'] = None; from gpuscope.cli import main; main(['top'])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    message = error((done.returncode, done.stdout, done.stderr))
    assert "rich" in message
    assert message.endswith("pip install 'gpuscope[top]'")


def test_a_reader_that_has_seen_enough_is_no_traceback() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([*PROGRAM, "settings"], stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (1, "")


def test_ctrl_c_is_no_traceback() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(60)
        words = [*PROGRAM, "top", "--once", f"127.0.0.1:{silent.getsockname()[1]}"]
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        connection, _ = silent.accept()  # the program waits for an answer now
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        connection.close()
    assert (process.returncode, out, err.strip()) == (130, "", "")


SWALLOWED = """
import sys, threading, time, weakref
import click
from gpuscope import cli

class Thing: ...

@click.command()
def command():
    thing = Thing()
    watched = weakref.ref(thing, interrupted)
    del thing
    time.sleep(60)

def interrupted(_):
    raise KeyboardInterrupt

sys.modules["swallowing"] = sys.modules[__name__]
cli.COMMANDS["top"] = ("swallowing", "")
sys.argv = ["gpuscope", "top"]
cli.main()
"""


def test_ctrl_c_during_a_callback_that_swallows_exceptions_is_not_lost() -> None:
    done = subprocess.run([sys.executable, "-c", SWALLOWED], capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stdout, done.stderr.strip()) == (130, "", "")


def test_settings_are_printed_as_table_and_as_json(cli: Cli) -> None:
    code, out, _ = cli("settings")
    assert code == 0
    assert out.startswith("| Flag and key |")
    rows = json.loads(cli("settings", "--json")[1])
    assert [row["flag"] for row in rows] == [option.flag for option in OPTIONS]
    assert rows[0] | {"help": ""} == {
        "key": "web.listen-address",
        "flag": "--web.listen-address",
        "variable": "GPUSCOPE_WEB_LISTEN_ADDRESS",
        "type": "list",
        "default": ":9836",
        "reload": False,
        "help": "",
    }


def test_a_stale_document_fails_the_check_and_is_updated(cli: Cli, tmp_path: Path) -> None:
    document = tmp_path / "configuration.md"
    current = (ROOT / "docs/configuration.md").read_text(encoding="utf-8")
    stale = current.replace("| `5s` |", "| `6s` |")
    document.write_text(stale, encoding="utf-8")
    code, _, err = cli("settings", "--update", str(document), "--check")
    assert (code, err.count("\n")) == (1, 1)
    assert document.read_text(encoding="utf-8") == stale
    assert cli("settings", "--update", str(document))[0] == 0
    assert document.read_text(encoding="utf-8") == current
    assert cli("settings", "--update", str(document), "--check")[0] == 0


def test_scenarios_are_listed(cli: Cli) -> None:
    code, out, _ = cli("simulate", "scenarios")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == [one.name for one in scenarios()]
    found = json.loads(cli("simulate", "scenarios", "--json")[1])
    assert {"name": "h100x8", "kind": "node"}.items() <= next(one for one in found if one["name"] == "h100x8").items()


def test_a_shown_scenario_is_a_scenario(cli: Cli, tmp_path: Path) -> None:
    mine = tmp_path / "mine.yaml"
    mine.write_text(cli("simulate", "show", "gb200")[1])
    assert cli("agent", "--simulate", str(mine), "--check-config")[0] == 0


def test_another_program_runs_on_the_simulated_driver() -> None:
    program = "import pynvml; pynvml.nvmlInit(); print(pynvml.nvmlDeviceGetCount())"
    done = subprocess.run(
        [*PROGRAM, "simulate", "run", "gb200", "--", sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "4\n", "")


def test_xids_are_printed_with_overrides(cli: Cli, tmp_path: Path) -> None:
    override = tmp_path / "xids.csv"
    override.write_text("code,meaning\n79,the bus again\n")
    code, out, _ = cli("xids", "79", "--override", str(override))
    assert code == 0
    assert "the bus again" in out
    rows = json.loads(cli("xids", "--json")[1])
    assert {"code": 79, "fault_class": "off_bus", "critical": True}.items() <= next(
        row for row in rows if row["code"] == 79
    ).items()

"""The demo and top, run as a user runs them."""

import contextlib
import io
import json
import os
import pty
import re
import shutil
import signal
import socket
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import requests
import yaml
from rich.console import Console

from gpuscope.cli import main
from gpuscope.demo.checks import run_checks
from gpuscope.demo.children import Children
from gpuscope.demo.jobs import DemoJobs
from gpuscope.demo.output import Fleet, show_live
from gpuscope.demo.programs import _PACKAGES, find
from gpuscope.demo.prometheus import Prometheus, configuration
from gpuscope.errors import SourceError
from gpuscope.table.rows import GpuRow, NodeRows, Point

ROOT = Path(__file__).parents[2]
GPUSCOPE = [sys.executable, "-m", "gpuscope"]
MARK = f"TESTED_BY={os.getpid()}-{time.time_ns()}"
ENVIRONMENT = {**os.environ, "COLUMNS": "130", "NO_COLOR": "1", **dict([MARK.split("=")])}


def _run(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*GPUSCOPE, *arguments], capture_output=True, text=True, cwd=ROOT, env=ENVIRONMENT, check=False
    )


@pytest.fixture
def refused(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Runs the command line in this process, as what it refuses starts nothing; gives the error."""

    def run(*arguments: str) -> str:
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        assert ended.value.code == 2
        return capsys.readouterr().err

    return run


def _left() -> list[str]:
    """Programs of demos of this run that are still there; told by their environment, as others may run demos too."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if MARK.encode() in (folder / "environ").read_bytes().split(b"\0"):
                found.append((folder / "cmdline").read_text().replace("\0", " "))
    return found


def _get(url: str) -> str:
    with requests.Session() as session:
        session.trust_env = False
        return session.get(url, timeout=30).text


@pytest.fixture(scope="module")
def agent_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    command = [*GPUSCOPE, "agent", "--simulate", "h100-mig", "--web.listen-address", "127.0.0.1:0"]
    command += ["--node-name", "tested", "--interval.activity", "500ms", "--log.format", "json"]
    log = tmp_path_factory.mktemp("agent") / "log"
    with log.open("w") as stderr:
        process = subprocess.Popen(command, stderr=stderr, cwd=ROOT)
    end = time.monotonic() + 60
    while not (found := re.search(r"http://127\.0\.0\.1:\d+", log.read_text())):
        assert process.poll() is None, log.read_text()
        assert time.monotonic() < end, log.read_text()
        time.sleep(0.1)
    url = found[0]
    while _get(f"{url}/metrics").count("_sm_active_ratio{") < 4:
        assert time.monotonic() < end, "no activity"
        time.sleep(0.1)
    yield url
    process.terminate()
    process.communicate(timeout=10)


def test_once_shows_a_fleet_through_prometheus_and_leaves_nothing_behind() -> None:
    result = _run("demo", "--once")
    assert result.returncode == 0, result.stdout + result.stderr
    gpus, nodes = re.search(r"(\d+) GPUs in (\d+) nodes", result.stdout).groups()
    assert int(gpus) >= 16
    assert int(nodes) >= 2
    assert "└ 3g.40gb" in result.stdout
    assert re.search(r"collector +http://127\.0\.0\.1:\d+/api/v1/jobs  on a simulated Slurm", result.stdout)
    # Jobs come and go in minutes; at any moment one trains, waits or recovers.
    assert re.search(r"(training|queued|recovering) +[a-z][a-z0-9-]+ +\S", result.stdout)
    assert re.search(r"✓ the exporters around them are scraped: (\d+) of \1\b", result.stdout)
    assert re.search(r"✓ they know the agents' pods: [1-9]\d* of [1-9]\d* allocations", result.stdout)
    assert re.search(r"✓ jobs are counted: [1-9]\d* live, [1-9]\d* ended", result.stdout)
    assert re.search(r"✓ the sign of life of the alerts arrives: [1-9]\d* times", result.stdout)
    assert "✓ the alerts of faults arrive: GpuFellOffBus on h100-c" in result.stdout
    assert re.search(r"critical +GpuFellOffBus +node h100-c, GPU 3", result.stdout)
    assert "✗" not in result.stdout
    assert _left() == []


def test_prometheus_is_told_of_files_of_rules_and_of_others() -> None:
    others = [{"job_name": "kube-state", "honor_labels": True, "static_configs": []}]
    told = yaml.safe_load(configuration({"a": "127.0.0.1:1"}, None, others=others, rules=["rules/*.yaml"]))
    assert told["rule_files"] == ["rules/*.yaml"]
    assert [job["job_name"] for job in told["scrape_configs"]] == ["gpuscope", "kube-state"]
    assert told["scrape_configs"][0]["static_configs"][0]["labels"] == {"cluster": "demo", "node": "a"}
    assert "rule_files" not in yaml.safe_load(configuration({}, "127.0.0.1:1"))


def test_a_program_of_the_fleet_that_ends_ends_the_demo_with_its_last_lines() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        result = _run("demo", "--once", "--scenario", "taken=h100x8", "--prometheus-port", port)
    assert result.returncode == 1
    *log, last = result.stderr.splitlines()
    assert last == "gpuscope: error: prometheus ended with code 1"
    assert "address already in use" in "".join(log)
    assert "Traceback" not in result.stderr
    assert _left() == []


@pytest.mark.parametrize("entry", ["only", "=h100x8", "a="])
def test_a_malformed_scenario_is_named(refused: Callable[..., str], entry: str) -> None:
    error = refused("demo", "--once", "--scenario", entry)
    assert error == f"gpuscope: error: --scenario {entry!r}: must be NODE=SCENARIO\n"


@pytest.mark.parametrize(
    "flags",
    [
        ("demo", "--after=nan"),
        ("demo", "--duration=inf"),
        ("top", "--interval=nan"),
        ("simulate", "cluster", "--pace=nan"),
        ("simulate", "cluster", "--speed=-inf"),
    ],
)
def test_a_number_that_is_none_is_refused(refused: Callable[..., str], flags: tuple[str, ...]) -> None:
    error = refused(*flags)
    name, _, value = flags[-1].partition("=")
    assert error.startswith(f"gpuscope: error: Invalid value for '{name}': {value} is not ")


def test_a_node_has_one_scenario(refused: Callable[..., str]) -> None:
    error = refused("demo", "--once", "--scenario", "a=h100x8", "--scenario", "a=l40s")
    assert error == "gpuscope: error: --scenario 'a=l40s': there is a node a already\n"


class _Answers:
    """A Prometheus with ``series`` for every query, but none that is NaN."""

    def __init__(self, series: int) -> None:
        self.points = [Point("up", {}, 1.0)] * series

    def query(self, text: str) -> list[Point]:
        return self.points


def test_a_fleet_that_somebody_chose_may_be_small_and_without_mig() -> None:
    gpus = {f"GPU-{number}": GpuRow(number, f"GPU-{number}", up=True) for number in range(4)}
    nodes = [NodeRows("rack-1", gpus)]
    chosen = run_checks(nodes, 1, _Answers(1), story=False)
    assert [check.text for check in chosen if not check.passed] == []
    failed = [check.text for check in run_checks(nodes, 1, _Answers(1), story=True) if not check.passed]
    assert {"at least 16 GPUs in 2 nodes", "MIG instances among them"} < set(failed)


def test_a_prometheus_that_is_silent_for_a_while_ends_nothing(tmp_path: Path, free_port: Callable[[], int]) -> None:
    """A busy machine answers late; the table comes back with the answer."""
    paper = io.StringIO()
    screen = Console(file=paper, width=100)
    nobody = f"127.0.0.1:{free_port()}"
    fleet = Fleet(prometheus=Prometheus(nobody), agents={}, jobs=DemoJobs(nobody), story=False)
    with Children(tmp_path) as children:
        show_live(screen, children, fleet, 0.1)
    assert "Prometheus does not answer: connection refused" in paper.getvalue()


def test_interrupt_stops_everything() -> None:
    process = subprocess.Popen(
        [*GPUSCOPE, "demo", "--scenario", "interrupted=h100x8"],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=ENVIRONMENT,
    )
    assert process.stdout is not None
    for line in process.stdout:
        if "Prometheus is ready" in line:
            break
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=30)
    assert "stopped everything" in rest
    assert _left() == []


def test_ended_from_outside_it_stops_everything_and_leaves_no_folder(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [*GPUSCOPE, "demo", "--scenario", "ended=h100x8"],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**ENVIRONMENT, "TMPDIR": str(tmp_path)},
    )
    assert process.stdout is not None
    for line in process.stdout:
        if "Prometheus is ready" in line:
            break
    assert list(tmp_path.iterdir()) != []
    process.send_signal(signal.SIGTERM)
    rest, _ = process.communicate(timeout=30)
    assert "stopped everything" in rest
    assert list(tmp_path.iterdir()) == []
    assert _left() == []


def test_without_a_terminal_the_demo_prints_plain_tables() -> None:
    result = _run("demo", "--scenario", "plain=l40s", "--duration", "1")
    assert result.returncode == 0, result.stderr
    assert "1 node, 6 GPUs, 0 MIG instances" in result.stdout
    assert "running on" in result.stdout
    assert "\x1b" not in result.stdout


def test_a_machine_without_a_driver_is_shown_as_such() -> None:
    result = _run("demo", "--duration", "3", "--scenario", "bare=no-driver")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "no driver" in result.stdout
    assert _left() == []


def test_on_a_terminal_top_turns_pages_until_interrupted(agent_url: str) -> None:
    outer, inner = pty.openpty()
    termios.tcsetwinsize(inner, (20, 100))
    environment = {name: value for name, value in os.environ.items() if name not in {"COLUMNS", "LINES"}}
    process = subprocess.Popen(
        [*GPUSCOPE, "top", "--interval", "0.2", agent_url],
        stdin=inner,
        stdout=inner,
        stderr=inner,
        env={**environment, "TERM": "xterm"},
    )
    os.close(inner)
    shown = ""
    while "page 2 of" not in shown:
        shown += os.read(outer, 65536).decode(errors="replace")
    process.send_signal(signal.SIGINT)
    with contextlib.suppress(OSError):  # The end of a terminal is an error on Linux.
        while part := os.read(outer, 65536):
            shown += part.decode(errors="replace")
    os.close(outer)
    assert process.wait(30) == 130
    assert "page 1 of" in shown
    assert "Traceback" not in shown
    assert shown.rstrip().endswith("\x1b[?25h\x1b[?1049l"), "cursor and screen are not back"


def test_top_shows_a_running_agent(agent_url: str) -> None:
    result = _run("top", "--once", agent_url)
    assert result.returncode == 0, result.stderr
    assert "tested" in result.stdout
    assert "8 GPUs, 15 MIG instances" in result.stdout


def test_the_password_of_top_in_the_environment_does_not_trouble_the_agent() -> None:
    result = subprocess.run(
        [*GPUSCOPE, "agent", "--simulate", "h100x8", "--check-config"],
        capture_output=True,
        text=True,
        env={**ENVIRONMENT, "GPUSCOPE_TOP_USER": "name:secret"},
        check=False,
    )
    assert (result.returncode, result.stderr) == (0, "")


def test_top_gives_rows_as_json(agent_url: str) -> None:
    (node,) = json.loads(_run("top", "--json", agent_url).stdout)
    assert node["node"] == "tested"
    assert len(node["gpus"]) == 8
    assert all(gpu["up"] for gpu in node["gpus"].values())


def test_top_says_who_does_not_answer_and_shows_the_others(agent_url: str, free_port) -> None:
    dead = f"127.0.0.1:{free_port()}"
    result = _run("top", "--once", agent_url, dead)
    assert result.returncode == 0
    assert "unreachable: connection refused" in result.stdout
    assert "8 GPUs" in result.stdout
    alone = _run("top", "--once", dead)
    assert alone.returncode == 1
    assert alone.stderr == f"gpuscope: error: no agent answers at http://{dead}\n"


def test_top_names_an_address_that_is_none(refused: Callable[..., str]) -> None:
    error = refused("top", "--once", "ftp://host")
    assert error == "gpuscope: error: 'ftp://host': is not an address like http://host:9836\n"


def test_a_child_that_ends_is_reported_with_its_last_lines(tmp_path: Path) -> None:
    with Children(tmp_path) as children:
        child = children.start("short", [sys.executable, "-c", "print('the reason'); raise SystemExit(3)"])
        child.process.wait(10)
        with pytest.raises(SourceError, match=r"short ended with code 3\nthe reason"):
            children.check()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_while_a_program_is_started_forgets_it_not(tmp_path: Path, monkeypatch, number) -> None:
    """Ctrl-C in the moment between fork and the note that there is a child."""
    begun: list[subprocess.Popen[bytes]] = []
    ordinary = subprocess.Popen

    def interrupted(*arguments: object, **named: object) -> "subprocess.Popen[bytes]":
        begun.append(ordinary(*arguments, **named))  # type: ignore[call-overload]
        signal.raise_signal(number)
        return begun[0]

    monkeypatch.setattr(subprocess, "Popen", interrupted)
    before = signal.signal(number, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt), Children(tmp_path) as children:
            children.start("sleeping", ["sleep", "60"])
        assert signal.getsignal(number) is signal.default_int_handler
    finally:
        signal.signal(number, before)
    assert [process.returncode for process in begun] == [-signal.SIGTERM]


def test_a_program_that_cannot_be_had_says_how_to_install_it(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SourceError, match="without apt-get it cannot be fetched; install prometheus"):
        find("prometheus", tmp_path / "cache")


def test_a_cache_that_cannot_be_made_is_named(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setitem(_PACKAGES, "no-such-program", ("no-such-program",))
    (tmp_path / "file").touch()
    with pytest.raises(SourceError, match=r"file/cache: cannot be made: Not a directory; give another --cache-dir"):
        find("no-such-program", tmp_path / "file/cache")


def test_a_program_is_fetched_into_a_relative_cache(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    tools = tmp_path / "tools"
    tools.mkdir()
    for tool in ("apt-get", "dpkg-deb"):
        found = shutil.which(tool)
        assert found is not None
        (tools / tool).symlink_to(found)
    monkeypatch.setenv("PATH", f"{tools}:/usr/sbin:/usr/bin:/sbin:/bin")
    assert shutil.which("hello") is None
    monkeypatch.setitem(_PACKAGES, "hello", ("hello",))
    told: list[str] = []
    program = find("hello", Path("cache"), told.append)
    assert program == tmp_path / "cache/programs/usr/bin/hello"
    assert "Hello, world!" in subprocess.run([program], capture_output=True, text=True, check=True).stdout
    assert len(told) == 1
    assert [path.name for path in (tmp_path / "cache").iterdir() if path.name.startswith("tmp")] == []

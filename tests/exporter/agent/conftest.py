"""A running agent: the real command in a process of its own, on the simulated driver and a free loopback port."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import requests


def wait_for(condition: Callable[[], object], what: str) -> None:
    """Waits for an event with a generous deadline."""
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, f"waited in vain: {what}"
        time.sleep(0.05)


@dataclass
class Running:
    """An agent process, and ways to ask it."""

    process: subprocess.Popen[bytes]
    log_file: Path
    session: requests.Session = field(default_factory=requests.Session)

    def __post_init__(self) -> None:
        self.session.trust_env = False

    @property
    def log(self) -> str:
        return self.log_file.read_text(encoding="utf-8")

    @property
    def url(self) -> str:
        return self.log.partition("listening on ")[2].partition('"')[0].split(",")[0].strip()

    def get(self, path: str) -> requests.Response:
        return self.session.get(self.url + path, timeout=30)

    def metrics(self) -> dict[str, float]:
        """Value of each series, by its text with labels."""
        answer = self.get("/metrics")
        assert answer.status_code == 200
        lines = [line.rpartition(" ") for line in answer.text.splitlines() if not line.startswith("#")]
        return {series: float(value) for series, _, value in lines}

    def value(self, series: str) -> float | None:
        return self.metrics().get(series)

    def gpus_up(self) -> list[float]:
        return [value for series, value in self.metrics().items() if series.startswith("gpuscope_gpu_up{")]

    def ready(self) -> bool:
        return self.get("/-/ready").status_code == 200

    def send(self, number: int) -> None:
        self.process.send_signal(number)

    def logged(self, text: str) -> None:
        wait_for(lambda: text in self.log, text)

    def stop(self, number: int = signal.SIGTERM) -> int:
        self.send(number)
        return self.process.wait(timeout=60)


Start = Callable[..., Running]


def _command(folder: Path, flags: Sequence[str], variables: Mapping[str, str]) -> "subprocess.Popen[bytes]":
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GPUSCOPE_")}
    kept.pop("NODE_NAME", None)
    kept.pop("STATE_DIRECTORY", None)
    temporary = folder / "tmp"
    temporary.mkdir(exist_ok=True)
    with (folder / "stderr").open("ab") as stderr:
        return subprocess.Popen(
            [sys.executable, "-m", "gpuscope", "agent", *flags],
            env={**kept, "TMPDIR": str(temporary), **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
        )


@contextmanager
def _agents(folder: Path) -> Iterator[Start]:
    started: list[Running] = []

    def start(*flags: str, simulate: str = "h100-mig", **variables: str) -> Running:
        words = ["--web.listen-address", "127.0.0.1:0", "--interval.fast", "500ms", *flags]
        if simulate:
            words += ["--simulate", simulate]
        (folder / "stderr").write_bytes(b"")
        one = Running(_command(folder, words, variables), folder / "stderr")
        started.append(one)
        wait_for(lambda: one.url or one.process.poll() is not None, "an address")
        assert one.process.poll() is None, one.log
        return one

    yield start
    for one in started:
        one.session.close()
        if one.process.poll() is None:
            one.process.terminate()
        try:
            one.process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            one.process.kill()
            one.process.wait(timeout=30)
            raise
        assert "Traceback" not in one.log


@pytest.fixture
def command(tmp_path: Path) -> Callable[..., subprocess.Popen[bytes]]:
    """Starts ``gpuscope agent`` with flags; variables go over a clean environment; stderr goes to a file."""
    return lambda *flags, **variables: _command(tmp_path, flags, variables)


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[Start]:
    """Starts an agent that listens on a free port and waits until it answers; ends it with the test."""
    with _agents(tmp_path) as start:
        yield start


@pytest.fixture(scope="module")
def _shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Running, Path]]:
    folder = tmp_path_factory.mktemp("shared")
    file = folder / "c.yaml"
    file.write_text("")
    with _agents(folder) as start:
        yield start("--config", str(file)), file


@pytest.fixture
def shared(_shared: tuple[Running, Path]) -> tuple[Running, Path]:
    """A ready agent and its file of settings, which is empty.

    It serves a whole module, as a start is what costs; each test finds it as the first one did, or fails.
    """
    running, file = _shared
    if file.read_text():
        file.write_text("")
        running.send(signal.SIGHUP)
    wait_for(
        lambda: running.ready() and running.value("gpuscope_config_last_reload_successful") == 1, "settings as at first"
    )
    return running, file


@pytest.fixture(name="wait_for")
def wait_for_fixture() -> Callable[[Callable[[], object], str], None]:
    return wait_for

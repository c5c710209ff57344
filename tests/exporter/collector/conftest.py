"""A running collector: the real command in a process of its own, beside a recorded Slurm or a test API server."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import requests
from tests.exporter.workloads.kubernetes.api_server import ApiServer
from tests.exporter.workloads.kubernetes.conftest import KUBECONFIG, NODE, PLURALS, WORKLOADS
from tests.exporter.workloads.slurm.conftest import DATA, slurm

__all__ = ["slurm"]

RECORDED = 1796035206
"""Unix time at which the later record was made."""


def wait_for(condition: Callable[[], object], what: str) -> None:
    """Waits for an event with a generous deadline."""
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, f"waited in vain: {what}"
        time.sleep(0.05)


@dataclass
class Running:
    """A collector process, and ways to ask it."""

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
        return self.log.partition("listening on ")[2].partition('"')[0].strip()

    def get(self, path: str, **headers: str) -> requests.Response:
        return self.session.get(self.url + path, headers=headers, timeout=30)

    def metrics(self) -> dict[str, float]:
        """Value of each series, by its text with labels."""
        answer = self.get("/metrics")
        assert answer.status_code == 200
        lines = [line.rpartition(" ") for line in answer.text.splitlines() if not line.startswith("#")]
        return {series: float(value) for series, _, value in lines}

    def value(self, series: str) -> float | None:
        return self.metrics().get(series)

    def total(self, name: str, *labels: str) -> float:
        """Sum over all series of a metric that carry these labels."""
        series = self.metrics().items()
        return sum(
            value for text, value in series if text.startswith(name + "{") and all(one in text for one in labels)
        )

    def jobs(self, query: str = "") -> list[dict]:
        return self.get(f"/api/v1/jobs{query}").json()["jobs"]

    def ready(self) -> bool:
        return self.get("/-/ready").status_code == 200

    def wait(self, condition: Callable[["Running"], object], what: str) -> None:
        wait_for(lambda: condition(self), f"{what}\n{self.log}")

    def end(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(timeout=60)


@pytest.fixture
def command(tmp_path: Path) -> Callable[..., subprocess.Popen[bytes]]:
    """Starts ``gpuscope collector`` with flags; stderr goes to a file."""

    def start(log: str, *flags: str) -> subprocess.Popen[bytes]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("GPUSCOPE_", "KUBE"))}
        with (tmp_path / log).open("wb") as stderr:
            return subprocess.Popen(
                [sys.executable, "-m", "gpuscope", "collector", *flags],
                env={**kept, "HOME": str(tmp_path)},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=stderr,
            )

    return start


@pytest.fixture
def collector(command: Callable[..., subprocess.Popen[bytes]], tmp_path: Path) -> Iterator[Callable[..., Running]]:
    """Starts a collector on a free port and waits until it answers; ends it with the test."""
    started: list[Running] = []

    def start(*flags: str) -> Running:
        log = f"log-{len(started)}"
        words = ["--web.listen-address", "127.0.0.1:0", "--interval", "1s", "--counter-hold", "0s", *flags]
        one = Running(command(log, *words), tmp_path / log)
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
        assert "Traceback" not in one.log, one.log


@pytest.fixture
def server() -> Iterator[ApiServer]:
    api = ApiServer()
    for kind, plural in PLURALS.items():
        api.install(kind, WORKLOADS[kind]["apiVersion"], plural)
    api.put(NODE)
    yield api
    if api.running:
        api.away()


@pytest.fixture
def kubeconfig(server: ApiServer, tmp_path: Path) -> str:
    file = tmp_path / "kubeconfig"
    file.write_text(KUBECONFIG % server.url)
    return str(file)


class RecordedSlurm:
    """Slurm 22.05 at two moments, moved to the present: jobs that end are forgotten a day later.

    Attributes:
        commands: folder of its programs.
    """

    def __init__(self, commands: Path) -> None:
        self.commands = commands
        self._shift = int(time.time()) - RECORDED
        self._take(commands)

    def go_on(self) -> None:
        """Two minutes later: a node died, a job ran out of time, others ended or were requeued."""
        self._take(DATA / "22.05-nodedead")

    def away(self) -> None:
        """No daemon answers."""
        for name in ("scontrol", "squeue", "sinfo", "sacct"):
            (self.commands / f"{name}.fail").write_text("slurm_load_jobs error: Unable to contact slurm controller\n")

    def back(self) -> None:
        for file in self.commands.glob("*.fail"):
            file.unlink()

    def replace(self, name: str, old: str, new: str) -> None:
        text = (self.commands / name).read_text()
        assert old in text
        self._write(name, text.replace(old, new))

    def _take(self, record: Path) -> None:
        """All of it at one moment: no look sees what jobs do now beside what nodes did before."""
        busy = self.commands / "busy"
        busy.touch()
        for file in record.iterdir():
            if file.suffix in {".txt", ".json"}:
                text = re.sub(r"\b17960\d{5}\b", lambda found: str(int(found[0]) + self._shift), file.read_text())
                self._write(file.name, text)
        busy.unlink()

    def _write(self, name: str, text: str, mode: int = 0o644) -> None:
        """Whole or not at all: a command may read it at any time."""
        new = self.commands / f"{name}.new"
        new.write_text(text)
        new.chmod(mode)
        new.replace(self.commands / name)


@pytest.fixture
def recorded(slurm: Callable[[str], Path]) -> RecordedSlurm:
    return RecordedSlurm(slurm("22.05-requeued"))

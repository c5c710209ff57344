"""The real Alertmanager on a configuration that was generated, in each version that is here."""

from __future__ import annotations

import datetime
import socket
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests
import yaml
from tests.generator.alertmanager.sinks import wait_for

from gpuscope.demo.programs import find
from gpuscope.demo.relocation import folder_of
from gpuscope_generator.loading import load_settings
from gpuscope_generator.output import alertmanager_texts

CACHE = Path(__file__).parents[3] / ".cache"
NEWEST = CACHE / "alertmanager/usr/bin"
TIMEOUT_S = 60


@dataclass(frozen=True)
class Programs:
    """One version of Alertmanager and of its tool."""

    server: Path
    tool: Path

    def amtool(self, *arguments: str | Path) -> str:
        """Runs amtool; what it complains about is the failure."""
        done = subprocess.run([self.tool, *arguments], capture_output=True, text=True, timeout=TIMEOUT_S)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


def versions() -> list[str]:
    """Names of the versions that are here: that of the distribution, and the newest where it could be had."""
    return ["distribution", *(["newest"] if (NEWEST / "amtool").exists() else [])]


def programs(version: str) -> Programs:
    """The programs of a version."""
    if version == "newest":
        return Programs(NEWEST / "prometheus-alertmanager", NEWEST / "amtool")
    return Programs(find("alertmanager", CACHE), find("amtool", CACHE))


def generated(folder: Path, settings: Mapping[str, Any]) -> Path:
    """Writes what the generator makes of settings; gives the configuration."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "settings.yaml"
    file.write_text(yaml.safe_dump(dict(settings), sort_keys=False), encoding="utf-8")
    for path, text in alertmanager_texts(load_settings(file)).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return folder / "alert_rules/alertmanager/alertmanager.yaml"


@dataclass(frozen=True)
class Running:
    """An Alertmanager that answers."""

    url: str

    def _ask(self, method: str, path: str, **how: Any) -> requests.Response:
        with requests.Session() as session:
            session.trust_env = False
            answer = session.request(method, f"{self.url}{path}", timeout=30, **how)
        assert answer.ok, answer.text
        return answer

    def post(self, alerts: Sequence[Mapping[str, Any]]) -> None:
        """Tells it of alerts, as Prometheus does."""
        self._ask("POST", "/api/v2/alerts", json=list(alerts))

    def alerts(self) -> list[dict[str, Any]]:
        """What it knows, with what it holds back."""
        found: list[dict[str, Any]] = self._ask("GET", "/api/v2/alerts").json()
        return found


@contextmanager
def running(version: str, configuration: Path, folder: Path) -> Iterator[Running]:
    """Starts it and ends it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{probe.getsockname()[1]}"
    program = programs(version).server
    command = [program, f"--config.file={configuration}", f"--storage.path={folder / 'data'}"]
    command += [f"--web.listen-address={address}", "--cluster.listen-address=", "--web.external-url=http://am.example"]
    log = folder / "alertmanager.log"
    with log.open("wb") as output:
        process = subprocess.Popen(command, cwd=folder_of(program), stdout=output, stderr=output)

    def ready() -> bool:
        assert process.poll() is None, log.read_text()
        try:
            with requests.Session() as session:
                session.trust_env = False
                return session.get(f"http://{address}/-/ready", timeout=5).ok
        except requests.RequestException:
            return False

    try:
        wait_for(ready, "Alertmanager")
        yield Running(f"http://{address}")
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(20)


def alert(
    name: str, annotations: Mapping[str, str] | None = None, *, over: bool = False, **labels: str
) -> dict[str, Any]:
    """An alert as Prometheus posts it: firing from now on, or over since a second ago."""
    now = datetime.datetime.now(datetime.UTC)
    found: dict[str, Any] = {
        "labels": {"alertname": name, **labels},
        "annotations": dict(annotations or {}),
        "startsAt": (now - datetime.timedelta(minutes=10 if over else 0)).isoformat(),
        "generatorURL": "http://prometheus.example/graph",
    }
    if over:
        found["endsAt"] = (now - datetime.timedelta(seconds=1)).isoformat()
    return found

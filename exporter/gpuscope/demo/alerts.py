"""Alerts in the demo: rules that are evaluated often, Alertmanager, and a receiver in this process."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import requests
import yaml

from gpuscope.demo.checks import Check
from gpuscope.demo.children import Children
from gpuscope.demo.relocation import folder_of
from gpuscope.errors import SourceError
from gpuscope.table.alerts import AlertRow

__all__ = ["DemoAlerts", "alert_checks", "make_rules", "open_receiver", "start_alertmanager"]

_GENERATOR = "import sys; from gpuscope_generator.cli import main; sys.exit(main())"
_MAKE_S = 120.0
_TIMEOUT_S = 5.0
_INTERVALS = {"normalize": 10, "aggregate": 10, "slow": 60}
_SOON = {"group_wait": "1s", "group_interval": "5s", "repeat_interval": "1h"}
_TOLD = ("critical", "warnings", "owners")
_EXPECTED = {"gpu-lost": "GpuFellOffBus"}
"""The alert that a scenario brings within a minute."""


class DemoAlerts:
    """What Alertmanager told the receiver of the demo.

    Attributes:
        url: of Alertmanager, once it was started.
        receiver: address of the receiver.
    """

    def __init__(self, receiver: str) -> None:
        self.receiver = receiver
        self.url = ""
        self._lock = threading.Lock()
        self._told: dict[tuple[str, str], AlertRow] = {}
        self._beats = 0

    def take(self, route: str, message: Mapping[str, Any]) -> None:
        """Keeps what a message of Alertmanager says."""
        rows = {(route, alert["fingerprint"]): _row(route, alert) for alert in message["alerts"]}
        with self._lock:
            if route == "heartbeat":
                self._beats += 1
            else:
                self._told |= rows

    @property
    def beats(self) -> int:
        """How often the sign of life came."""
        with self._lock:
            return self._beats

    def rows(self) -> list[AlertRow]:
        """Every alert that was told, with how it stands now."""
        with self._lock:
            return list(self._told.values())

    def ready(self) -> bool:
        """Whether Alertmanager answers."""
        session = requests.Session()
        session.trust_env = False
        try:
            return bool(session.get(f"{self.url}/-/ready", timeout=_TIMEOUT_S).ok)
        except requests.RequestException:
            return False


def _row(route: str, alert: Mapping[str, Any]) -> AlertRow:
    labels, texts = alert["labels"], alert["annotations"]
    where = texts.get("location") or ", ".join(
        f"{name} {labels[name]}" for name in ("node", "namespace", "workload") if name in labels
    )
    return AlertRow(
        name=labels.get("alertname", ""),
        severity=labels.get("severity", ""),
        where=where or f"cluster {labels.get('cluster', '')}",
        told=route,
        began=datetime.fromisoformat(alert["startsAt"]).timestamp(),
        over=alert["status"] == "resolved",
        measured=texts.get("measured", ""),
    )


@contextmanager
def open_receiver() -> Iterator[DemoAlerts]:
    """A receiver on a free port of the loopback, which takes what Alertmanager sends to ``/<route>``."""

    class Answer(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            try:
                alerts.take(self.path.strip("/"), json.loads(body))
            except (ValueError, KeyError, TypeError):
                self.send_response(400)
            else:
                self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Says nothing: the screen belongs to the table."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    server.daemon_threads = True
    alerts = DemoAlerts(f"http://127.0.0.1:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever, args=(0.1,), name="alerts", daemon=True)
    thread.start()
    try:
        yield alerts
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def make_rules(folder: Path) -> tuple[str, ...]:
    """Writes the rules as the generator makes them, evaluated every few seconds.

    Args:
        folder: gets them.

    Returns:
        Patterns for Prometheus.

    Raises:
        SourceError: they cannot be written.
    """
    _generate("rules", {"intervals": _INTERVALS, "scrape_interval": "5s"}, folder)
    return tuple(f"{folder}/alert_rules/{kind}/*.yaml" for kind in ("recording", "alerts"))


def start_alertmanager(
    children: Children, folder: Path, program: Path, address: str, alerts: DemoAlerts, grafana: str = ""
) -> None:
    """Starts Alertmanager on a configuration of the generator that tells the receiver of this process.

    Args:
        children: gets it.
        folder: gets its files.
        program: Alertmanager.
        address: ``host:port`` to listen on.
        alerts: the receiver; learns where Alertmanager is.
        grafana: where the boards are shown, for the links to them.

    Raises:
        SourceError: the configuration cannot be written.
    """
    receivers = {route: {"type": "webhook", "url": f"{alerts.receiver}/{route}"} for route in (*_TOLD, "heartbeat")}
    chosen: dict[str, Any] = {
        "receivers": receivers,
        "routes": {route: [route] for route in receivers},
        "grouping": dict.fromkeys(("recovery", "incidents", *_TOLD), _SOON)
        | {"heartbeat": {"group_wait": "0s", "group_interval": "5s", "repeat_interval": "5s"}},
    }
    if grafana:
        chosen["grafana_url"] = grafana
    _generate("alertmanager", {"alertmanager": chosen}, folder)
    alerts.url = f"http://{address}"
    children.start(
        "alertmanager",
        [
            str(program),
            f"--config.file={folder}/alert_rules/alertmanager/alertmanager.yaml",
            f"--storage.path={folder}/alertmanager",
            f"--web.listen-address={address}",
            "--cluster.listen-address=",
            "--log.level=warn",
        ],
        folder=folder_of(program),
    )


def alert_checks(alerts: DemoAlerts, fleet: Mapping[str, str]) -> list[Check]:
    """Checks that the sign of life comes, and the alert of each fault that the scenarios bring within a minute.

    Args:
        alerts: the receiver.
        fleet: scenario by node.
    """
    expected = {
        (name, node)
        for node, scenario in fleet.items()
        for part in scenario.split("+")
        if (name := _EXPECTED.get(part))
    }
    told = alerts.rows()
    there = {pair for pair in expected if any(row.name == pair[0] and f"node {pair[1]}," in row.where for row in told)}
    checks = [Check("the sign of life of the alerts arrives", alerts.beats > 0, f"{alerts.beats} times")]
    if expected:
        missing = ", ".join(f"{name} on {node}" for name, node in sorted(expected - there))
        seen = f"no {missing}" if missing else ", ".join(f"{name} on {node}" for name, node in sorted(there))
        checks.append(Check("the alerts of faults arrive", not missing, seen))
    return checks


def _generate(part: str, settings: Mapping[str, Any], folder: Path) -> None:
    file = folder / f"{part}-settings.yaml"
    folder.mkdir(parents=True, exist_ok=True)
    file.write_text(yaml.safe_dump(dict(settings)), encoding="utf-8")
    command = [sys.executable, "-c", _GENERATOR, part, "--settings", str(file), "--out", str(folder)]
    made = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_MAKE_S)  # noqa: S603
    if made.returncode != 0:
        reason = made.stderr.strip().splitlines()[-1:] or [f"code {made.returncode}"]
        raise SourceError(f"{part}: could not be generated: {reason[0].strip()}")

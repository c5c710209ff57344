"""A real Prometheus that tells a running Alertmanager."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import requests
import yaml
from tests.generator.alertmanager.running import CACHE
from tests.generator.alertmanager.sinks import wait_for

from gpuscope.demo.programs import find


@contextmanager
def prometheus(folder: Path, document: Mapping[str, Any]) -> Iterator[str]:
    """Starts it, and ends it.

    Args:
        folder: gets its files.
        document: its configuration; files of rules lie below the folder.

    Yields:
        Its address, once an alert fires there.
    """
    (folder / "prometheus.yaml").write_text(yaml.safe_dump(dict(document)), encoding="utf-8")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{probe.getsockname()[1]}"
    command = [find("prometheus", CACHE), f"--config.file={folder}/prometheus.yaml"]
    command += [f"--storage.tsdb.path={folder}/data", f"--web.listen-address={address}"]
    # It finds its Alertmanager seconds after its first alert, and would tell it a minute later.
    command += ["--rules.alert.resend-delay=1s"]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)

    def fires() -> bool:
        assert process.poll() is None, (folder / "log").read_text()
        try:
            with requests.Session() as session:
                session.trust_env = False
                return bool(session.get(f"http://{address}/api/v1/alerts", timeout=30).json()["data"]["alerts"])
        except requests.RequestException:
            return False

    try:
        wait_for(fires, "alert of Prometheus")
        yield f"http://{address}"
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(30)

"""`gpuscope-generator preview`, as it is started."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable

import pytest
import requests
from tests.generator.preview.conftest import Upstream

COMMAND = [sys.executable, "-c", "from gpuscope_generator.cli import main; main()", "preview"]


def failed(*arguments: str) -> str:
    done = subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, timeout=120)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    return done.stderr


def test_it_serves_until_it_is_told_to_end(upstream: Upstream) -> None:
    upstream.content = {
        "status": "success",
        "data": {"resultType": "vector", "result": [{"metric": {}, "value": [1, "1"]}]},
    }
    command = [*COMMAND, "--prometheus", upstream.url, "--listen-address", "127.0.0.1:0", "--scrape-interval", "1m"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=os.environ | {"PYTHONUNBUFFERED": "1"}
    ) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            url = re.search(r"at (http://127\.0\.0\.1:\d+)/", line)
            assert url, line
            assert requests.get(f"{url[1]}/api/boards", timeout=30).json()["scrape_s"] == 60
        finally:
            process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 0


@pytest.mark.parametrize(
    ("flags", "reason"),
    [
        (["--listen-address", "somewhere"], "not like 127.0.0.1:9850"),
        (["--scrape-interval", "soon"], "not a duration"),
        (["--dashboards", "/nonexistent"], "--dashboards /nonexistent: no such folder"),
        (["--settings", "/nonexistent"], "--settings"),
    ],
)
def test_a_bad_flag_is_named(upstream: Upstream, flags: list[str], reason: str) -> None:
    assert reason in failed("--prometheus", upstream.url, *flags)


def test_a_prometheus_that_cannot_be_reached_ends_it(free_port: Callable[[], int]) -> None:
    url = f"http://127.0.0.1:{free_port()}"
    assert f"Prometheus at {url}: " in failed("--prometheus", url)


def test_a_port_that_is_taken_is_named(upstream: Upstream) -> None:
    upstream.content = {
        "status": "success",
        "data": {"resultType": "vector", "result": [{"metric": {}, "value": [1, "1"]}]},
    }
    taken = upstream.url.removeprefix("http://")
    assert f"--listen-address {taken}: Address already in use" in failed(
        "--prometheus", upstream.url, "--listen-address", taken
    )

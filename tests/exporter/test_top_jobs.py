"""``gpuscope top --jobs`` on a real collector that follows the simulated Slurm."""

import contextlib
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from gpuscope.demo.children import free_port
from gpuscope.simulate.slurm import SimulatedSlurm

GPUSCOPE = [sys.executable, "-m", "gpuscope"]
ENVIRONMENT = {**os.environ, "COLUMNS": "130", "NO_COLOR": "1"}
LIMIT_S = 90


def _run(*arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*GPUSCOPE, "top", "--jobs", *arguments],
        capture_output=True, text=True, env={**ENVIRONMENT, **environment}, check=False, timeout=LIMIT_S,
    )  # fmt: skip


@dataclass
class _Running:
    url: str
    process: "subprocess.Popen[str]"
    folder: Path


@contextlib.contextmanager
def _collector(folder: Path, port: int) -> Iterator[_Running]:
    SimulatedSlurm(folder / "slurm")  # its clock stands still
    command = [*GPUSCOPE, "collector", "--slurm", "--slurm.commands", str(folder / "slurm"), "--interval", "1s"]
    log = folder / "log"
    with log.open("w") as stderr:
        process = subprocess.Popen([*command, "--web.listen-address", f"127.0.0.1:{port}"], stderr=stderr, text=True)
    url = f"http://127.0.0.1:{port}"
    try:
        end = time.monotonic() + LIMIT_S
        while '"job_id"' not in _run("--json", url).stdout:
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < end, log.read_text()
            time.sleep(0.2)
        yield _Running(url, process, folder)
    finally:
        process.terminate()
        process.wait(20)


@pytest.fixture(scope="module")
def collector(tmp_path_factory: pytest.TempPathFactory) -> Iterator[_Running]:
    with _collector(tmp_path_factory.mktemp("collector"), free_port()) as running:
        yield running


def test_once_shows_jobs_that_live_and_that_ended(collector: _Running) -> None:
    result = _run("--once", collector.url)
    assert (result.returncode, result.stderr) == (0, "")
    assert re.search(r"^ training +llama-70b-pretrain +\d+ +foundation +train +mei +32 ", result.stdout, re.MULTILINE)
    assert re.search(r"^ (succeeded|failed) .* ago ", result.stdout, re.MULTILINE)
    assert re.search(r"\d+ running on \d+ GPUs, \d+ queued.*; in 24 h \d+ succeeded, \d+ failed", result.stdout)
    assert "\x1b" not in result.stdout


@pytest.mark.parametrize("columns", ["80", "100", "140"])
def test_it_fits_the_terminal(collector: _Running, columns: str) -> None:
    text = _run("--once", collector.url, COLUMNS=columns).stdout
    assert max(len(line) for line in text.splitlines()) <= int(columns)
    assert "llama-70b-pretrain" in text


def test_rows_as_json(collector: _Running) -> None:
    result = _run("--json", collector.url)
    look = json.loads(result.stdout)
    assert (result.returncode, look["answered"], look["problem"]) == (0, True, "")
    big = next(job for job in look["jobs"] if job["workload"] == "llama-70b-pretrain" and not job["outcome"])
    assert (big["team"], big["queue"], big["gpus"], big["scheduler"]) == ("foundation", "train", 32, "slurm")


def test_a_scheduler_that_does_not_answer_is_said_and_the_last_jobs_are_shown(tmp_path: Path) -> None:
    with _collector(tmp_path, free_port()) as running:
        # Not written over: it may be running just now.
        broken = tmp_path / "broken"
        broken.write_text("#!/bin/sh\nexit 1\n")
        broken.replace(tmp_path / "slurm/scontrol")
        end = time.monotonic() + LIMIT_S
        while not (result := _run("--once", running.url)).stderr:
            assert time.monotonic() < end
            time.sleep(0.2)
        assert result.returncode == 0
        assert result.stderr.startswith("slurm: ")
        assert "llama-70b-pretrain" in result.stdout


def test_who_does_not_answer_and_what_is_no_collector() -> None:
    dead = f"127.0.0.1:{free_port()}"
    alone = _run("--once", dead)
    assert (alone.returncode, alone.stderr) == (
        1,
        f"gpuscope: error: no collector answers at http://{dead}: unreachable: connection refused\n",
    )
    with _page(b"<html>") as url:
        for form in ("--once", "--json"):
            other = _run(form, url)
            assert other.returncode == 1
            assert "not a collector" in other.stderr
        agents = subprocess.run(
            [*GPUSCOPE, "top", "--once", url], capture_output=True, text=True, env=ENVIRONMENT, check=False, timeout=60
        )
        assert "not an agent" in agents.stdout
    for text in (b'{"jobs": []}', b"[" * 100_000):
        with _page(text) as url:
            assert "not a collector" in _run("--once", url).stderr


def test_more_than_one_collector_is_refused() -> None:
    result = _run("--once", "a:1", "b:2")
    assert (result.returncode, result.stderr) == (2, "gpuscope: error: --jobs takes the address of one collector\n")


def test_on_a_terminal_it_goes_on_while_the_collector_is_away(tmp_path: Path) -> None:
    with _collector(tmp_path, free_port()) as running:
        outer, inner = pty.openpty()
        termios.tcsetwinsize(inner, (60, 100))
        environment = {name: value for name, value in os.environ.items() if name not in {"COLUMNS", "LINES"}}
        process = subprocess.Popen(
            [*GPUSCOPE, "top", "--jobs", "--interval", "0.2", running.url],
            stdin=inner, stdout=inner, stderr=inner, env={**environment, "TERM": "xterm"},
        )  # fmt: skip
        os.close(inner)
        shown = _read_until(outer, "llama-70b-pretrain")
        running.process.terminate()
        shown += _read_until(outer, "unreachable: connection refused")
        process.send_signal(signal.SIGINT)
        rest = _read_until(outer, None)
        os.close(outer)
        assert process.wait(30) == 130
        assert "Traceback" not in shown + rest
        last = shown[shown.rindex("unreachable") - 8000 :]
        assert "llama-70b-pretrain" in last, "the last table stays"


def _read_until(terminal: int, words: str | None) -> str:
    """What the terminal shows until some words, or until it is closed."""
    shown = ""
    end = time.monotonic() + LIMIT_S
    while words is None or words not in shown:
        assert time.monotonic() < end, shown
        if select.select([terminal], [], [], 1.0)[0]:
            try:
                part = os.read(terminal, 65536)
            except OSError:  # the end of a terminal is an error on Linux
                part = b""
            if not part:
                assert words is None, shown
                break
            shown += part.decode(errors="replace")
    return shown


@contextlib.contextmanager
def _page(body: bytes) -> Iterator[str]:
    """A server that answers everything with one page."""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Page) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join(10)

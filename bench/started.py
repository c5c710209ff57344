"""Programs that a benchmark starts: where they listen, when they answer, and that they end."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import requests

__all__ = ["free_port", "running", "wait_for"]

ROOT = Path(__file__).parent.parent
START_S = 120
"""For a program to come up on a busy machine."""


def free_port() -> int:
    """A port of the loopback that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def running(command: Sequence[object], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A program that writes into a file, for as long as the context lasts."""
    with log.open("wb") as file:
        process = subprocess.Popen(
            [str(part) for part in command], stdout=file, stderr=file, stdin=subprocess.DEVNULL, cwd=ROOT
        )
    try:
        yield process
    finally:
        # Not an interrupt: where `make` runs in the background those are ignored.
        process.terminate()
        try:
            process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def wait_for(url: str | Path, process: subprocess.Popen[bytes], log: Path) -> None:
    """Returns once the address answers, or the file is there; ends the benchmark with the program's last words if not."""
    end = time.monotonic() + START_S
    while time.monotonic() < end and process.poll() is None:
        with contextlib.suppress(requests.ConnectionError, requests.Timeout):
            if url.exists() if isinstance(url, Path) else requests.get(url, timeout=5).ok:
                return
        time.sleep(0.2)
    last = log.read_text(errors="replace").strip().splitlines()[-5:]
    raise SystemExit("\n".join([f"{url} does not answer", *last]))

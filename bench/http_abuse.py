"""Scrapes while other clients misbehave: do they succeed, and what do they cost?

An agent runs on a simulated machine of 8 GPUs with 7 MIG instances each, with basic authentication. Other processes,
on loopback only and bounded in number and time, abuse it one way after the other and then all ways at once, while it is
scraped ten times a second on new connections. Printed for each phase: scrapes, failures, p50 and p99 and their ratios
to the quiet phases of the same run. Ends with 1 when a scrape failed.

    python bench/http_abuse.py [--seconds 6]
"""

import argparse
import base64
import contextlib
import http.client
import multiprocessing
import os
import resource
import secrets
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import bcrypt

SCENARIO = Path(__file__).parent / "dense-mig.yaml"
USER, PASSWORD = "prometheus", "correct horse battery staple"
LOGIN = "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
KNOWN = f"Host: node\r\nAuthorization: {LOGIN}\r\n".encode()
EVERY_S = 0.1
Address = tuple[str, int]


def connect(address: Address, timeout: float = 5.0) -> socket.socket:
    return socket.create_connection(address, timeout=timeout)


def hold(address: Address, count: int, first: bytes, then: bytes, end: float) -> None:
    """Keeps connections open that send ``first`` and then trickle; opens new ones for those that were closed."""
    held: list[socket.socket] = []
    while time.monotonic() < end:
        alive = []
        for connection in held:
            try:
                connection.send(then)
                alive.append(connection)
            except OSError:
                connection.close()
        held = alive
        for _ in range(min(60, count - len(held))):
            with contextlib.suppress(OSError):
                connection = connect(address)
                connection.setblocking(False)
                connection.send(first)
                held.append(connection)
        time.sleep(0.2)


def repeat(
    address: Address, make: Callable[[], bytes], end: float, *, read: bool = True, pause_s: float = 0.01
) -> None:
    """Sends something on a new connection, again and again."""
    while time.monotonic() < end:
        with contextlib.suppress(OSError), connect(address, 2.0) as connection:
            connection.sendall(make())
            if read:
                while connection.recv(1 << 16):
                    pass
        time.sleep(pause_s)


def slow_loris(address: Address, end: float) -> None:
    hold(address, 300, b"GET /metrics HTTP/1.1\r\nX-Slow: ", b"a", end)


def more_than_the_limit(address: Address, end: float) -> None:
    hold(address, 700, b"", b"", end)


def never_reading(address: Address, end: float) -> None:
    hold(address, 100, (b"GET /metrics HTTP/1.1\r\n" + KNOWN + b"\r\n") * 8, b"", end)


def oversized_heads(address: Address, end: float) -> None:
    repeat(address, lambda: b"GET /metrics HTTP/1.1\r\nX-Big: " + b"a" * (64 << 10), end)


def garbage(address: Address, end: float) -> None:
    repeat(address, lambda: secrets.token_bytes(4096) + b"\r\n\r\n", end)


def bad_paths(address: Address, end: float) -> None:
    paths = [
        b"/../../etc/passwd",
        b"/%00%ff",
        b"//",
        b"/api/v1/gpus/%ff",
        b"/api/v1/gpus?state=%00",
        b"/" + b"a/" * 2000,
    ]

    def some() -> bytes:
        path = secrets.choice(paths)
        return b"GET " + path + b" HTTP/1.1\r\n" + KNOWN + b"Connection: close\r\n\r\n"

    repeat(address, some, end, pause_s=0.002)


def pipelining(address: Address, end: float) -> None:
    paths = (b"/-/healthy", b"/api/v1/gpus", b"/", b"/metrics")
    burst = b"".join(b"GET " + path + b" HTTP/1.1\r\n" + KNOWN + b"\r\n" for path in paths * 10)
    repeat(address, lambda: burst + b"GET / HTTP/1.1\r\n" + KNOWN + b"Connection: close\r\n\r\n", end, pause_s=0.1)


def wrong_passwords(address: Address, end: float) -> None:
    def guess() -> bytes:
        login = base64.b64encode(f"{USER}:{secrets.token_hex(8)}".encode())
        return b"GET /metrics HTTP/1.1\r\nHost: n\r\nAuthorization: Basic " + login + b"\r\nConnection: close\r\n\r\n"

    repeat(address, guess, end, read=False, pause_s=0.005)


ABUSES = (
    slow_loris,
    more_than_the_limit,
    never_reading,
    oversized_heads,
    garbage,
    bad_paths,
    pipelining,
    wrong_passwords,
)


@dataclass
class Phase:
    """Scrapes of one phase."""

    name: str
    seconds: list[float] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def quantile(self, share: float) -> float:
        ordered = sorted(self.seconds)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def scrape(address: Address) -> str:
    """One scrape on a new connection; gives what was wrong with it."""
    connection = http.client.HTTPConnection(*address, timeout=10)
    try:
        connection.request("GET", "/metrics", headers={"Authorization": LOGIN, "Connection": "close"})
        answer = connection.getresponse()
        body = answer.read()
    except (OSError, http.client.HTTPException) as error:
        return repr(error)
    finally:
        connection.close()
    if answer.status != 200 or b"\ngpuscope_gpu_up{" not in body or not body.endswith(b"\n"):
        return f"status {answer.status}, {len(body)} bytes"
    return ""


def measure(name: str, address: Address, seconds: float, abuses: tuple[Callable[..., None], ...]) -> Phase:
    """Scrapes for a while, with abuse by other processes meanwhile."""
    phase = Phase(name)
    spawn = multiprocessing.get_context("spawn")
    # Two seconds more for the processes to start, in which scrapes are made too but do not count.
    end = time.monotonic() + seconds + (2.0 if abuses else 0.0)
    processes = [spawn.Process(target=abuse, args=(address, end)) for abuse in abuses]
    for process in processes:
        process.start()
    try:
        if abuses:
            time.sleep(2.0)
        due = time.monotonic()
        while due < end:
            started = time.perf_counter()
            wrong = scrape(address)
            if wrong:
                phase.failures.append(wrong)
            phase.seconds.append(time.perf_counter() - started)
            due += EVERY_S
            time.sleep(max(0.0, due - time.monotonic()))
    finally:
        for process in processes:
            process.join(timeout=15)
            if process.is_alive():
                process.kill()
                process.join()
    return phase


def start_agent(folder: Path, port: int) -> "subprocess.Popen[bytes]":
    web = folder / "web.yml"
    web.write_text(f"basic_auth_users:\n  {USER}: {bcrypt.hashpw(PASSWORD.encode(), bcrypt.gensalt(10)).decode()}\n")
    command = [sys.executable, "-m", "gpuscope", "agent", "--simulate", str(SCENARIO), "--log.level", "warning"]
    command += ["--web.listen-address", f"127.0.0.1:{port}", "--web.config.file", str(web)]
    return subprocess.Popen(command, env={**os.environ, "GPUSCOPE_STATE_DIR": str(folder)})


def rss_mib(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * resource.getpagesize() / (1 << 20)


def run(seconds: float) -> int:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with socket.create_server(("127.0.0.1", 0)) as probe:
        address = ("127.0.0.1", probe.getsockname()[1])
    with tempfile.TemporaryDirectory() as folder:
        agent = start_agent(Path(folder), address[1])
        try:
            deadline = time.monotonic() + 60
            while wrong := scrape(address):
                if agent.poll() is not None or time.monotonic() > deadline:
                    print(f"the agent does not answer: {wrong}", file=sys.stderr)
                    return 1
                time.sleep(0.1)
            before = rss_mib(agent.pid)
            plan = [("quiet", ()), *((abuse.__name__.replace("_", " "), (abuse,)) for abuse in ABUSES)]
            plan += [("all at once", ABUSES), ("quiet again", ())]
            phases = []
            for number, (name, abuses) in enumerate(plan, start=1):
                print(f"[{number}/{len(plan)}] {name} …", file=sys.stderr, flush=True)
                phases.append(measure(name, address, seconds, abuses))
            after = rss_mib(agent.pid)
        finally:
            agent.terminate()
            agent.wait(timeout=30)
    report(phases, before, after)
    return int(any(phase.failures for phase in phases))


def report(phases: list[Phase], before: float, after: float) -> None:
    quiet = Phase("quiet", phases[0].seconds + phases[-1].seconds)
    p50, p99 = statistics.median(quiet.seconds), quiet.quantile(0.99)
    print(f"{'phase':<22}{'scrapes':>8}{'failed':>8}{'p50 ms':>9}{'p99 ms':>9}{'p50 ×':>8}{'p99 ×':>8}")
    for phase in phases:
        median, tail = statistics.median(phase.seconds), phase.quantile(0.99)
        print(
            f"{phase.name:<22}{len(phase.seconds):>8}{len(phase.failures):>8}{median * 1e3:>9.1f}{tail * 1e3:>9.1f}"
            f"{median / p50:>8.1f}{tail / p99:>8.1f}"
        )
    print(f"agent's memory: {before:.0f} MiB before, {after:.0f} MiB after")
    for phase in phases:
        for wrong in phase.failures[:5]:
            print(f"failed during {phase.name}: {wrong}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=6.0, help="length of each of the 11 phases")
    return run(parser.parse_args().seconds)


if __name__ == "__main__":
    sys.exit(main())

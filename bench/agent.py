"""What the agent costs: memory, CPU, scrape times, series and bytes, beside nvitop-exporter on the same driver.

Both run at the same time on the same simulated machine: 8 GPUs with 7 MIG instances each. The agent's own CPU is what
its process used, less what the simulated driver used inside it; nvitop-exporter's is given with the driver's share,
and so is the ratio.

    python bench/agent.py [--seconds 60] [--scrapes 200]
"""

import argparse
import json
import os
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path

from gpuscope.simulate.launch import environment

SCENARIO = Path(__file__).parent / "dense-mig.yaml"
BUDGET = {
    "RSS MiB": 60.0,
    "scrape p99 ms": 20.0,
    "own CPU %": 1.0,
    "series per GPU": 160.0,
    "series per MIG instance": 40.0,
}
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass
class Exporter:
    """A running exporter."""

    name: str
    process: "subprocess.Popen[str]"
    url: str

    def cpu_seconds(self) -> float:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def rss_mib(self) -> float:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024

    def scrape(self) -> tuple[float, bytes]:
        started = time.perf_counter()
        body = OPENER.open(self.url, timeout=30).read()
        return time.perf_counter() - started, body


OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start_agent() -> Exporter:
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, __file__, "--child", str(port)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    return Exporter("gpuscope", process, f"http://127.0.0.1:{port}/metrics")


def start_nvitop() -> Exporter:
    port = free_port()
    program = Path(sys.executable).parent / "nvitop-exporter"
    process = subprocess.Popen(
        [str(program), "--port", str(port), "--bind-address", "127.0.0.1"],
        env=environment(str(SCENARIO)),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    return Exporter("nvitop-exporter", process, f"http://127.0.0.1:{port}/metrics")


def child(port: int) -> None:
    """The agent in this process, which tells on request what the simulated driver cost in it."""
    from gpuscope.agent import Agent
    from gpuscope.config import load

    with tempfile.TemporaryDirectory():
        flags = {"web.listen-address": [f"127.0.0.1:{port}"], "simulate": str(SCENARIO), "log.level": "warning"}
        loaded = load(flags)
        agent = Agent(loaded, lambda: loaded)
        agent.start()
        for _ in sys.stdin:
            print(json.dumps({"simulator": agent._machine.driver.cost_seconds}), flush=True)
        agent.stop()


def simulator_cost(agent: Exporter) -> float:
    agent.process.stdin.write("cost\n")
    agent.process.stdin.flush()
    return float(json.loads(agent.process.stdout.readline())["simulator"])


def wait_ready(exporter: Exporter, token: bytes) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            if token in exporter.scrape()[1]:
                return
        except OSError:
            pass
        time.sleep(0.5)
    raise SystemExit(f"{exporter.name} did not become ready")


def percentile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def measure(arguments: argparse.Namespace) -> int:
    agent, nvitop = start_agent(), start_nvitop()
    try:
        wait_ready(agent, b"gpuscope_mig_sm_active_seconds_total{")
        wait_ready(nvitop, b"memory")
        print(f"both ready; measuring CPU for {arguments.seconds} s, with a scrape every 15 s", flush=True)
        time.sleep(5)
        started, cost = time.monotonic(), simulator_cost(agent)
        cpu = {one.name: one.cpu_seconds() for one in (agent, nvitop)}
        while (left := started + arguments.seconds - time.monotonic()) > 0:
            for one in (agent, nvitop):
                one.scrape()
            time.sleep(min(15, left))
        elapsed = time.monotonic() - started
        cost = simulator_cost(agent) - cost
        cpu = {one.name: (one.cpu_seconds() - cpu[one.name]) / elapsed for one in (agent, nvitop)}
        print(f"scraping each {arguments.scrapes} times, in turn", flush=True)
        times: dict[str, list[float]] = {agent.name: [], nvitop.name: []}
        bodies = {}
        for _ in range(arguments.scrapes):
            for one in (agent, nvitop):
                seconds, bodies[one.name] = one.scrape()
                times[one.name].append(seconds)
            time.sleep(0.05)
        rss = {one.name: one.rss_mib() for one in (agent, nvitop)}
    finally:
        for one in (agent, nvitop):
            one.process.terminate()
            one.process.wait(10)
    return report(cpu, cost / elapsed, times, bodies, rss)


def report(
    cpu: dict[str, float],
    simulator: float,
    times: dict[str, list[float]],
    bodies: dict[str, bytes],
    rss: dict[str, float],
) -> int:
    ours, other = "gpuscope", "nvitop-exporter"
    lines = {name: [line for line in body.decode().splitlines() if line[:1] != "#"] for name, body in bodies.items()}
    gpus = {
        f'gpu="{n}"': sum(f'gpu="{n}"' in line and "mig_uuid" not in line for line in lines[ours]) for n in range(8)
    }
    instances: dict[str, int] = {}
    for line in lines[ours]:
        found = re.search(r'mig_uuid="([^"]+)"', line)
        if found:
            instances[found[1]] = instances.get(found[1], 0) + 1
    rows = [
        ("RSS MiB", rss[ours], rss[other]),
        ("CPU s/min, driver included", 60 * cpu[ours], 60 * cpu[other]),
        ("scrape p50 ms", 1000 * statistics.median(times[ours]), 1000 * statistics.median(times[other])),
        ("scrape p99 ms", 1000 * percentile(times[ours], 0.99), 1000 * percentile(times[other], 0.99)),
        ("series", len(lines[ours]), len(lines[other])),
        ("bytes", len(bodies[ours]), len(bodies[other])),
    ]
    print(f"\n{'':<28}{ours:>14}{other:>18}{'ratio':>9}")
    for name, mine, theirs in rows:
        print(f"{name:<28}{mine:>14.1f}{theirs:>18.1f}{mine / theirs:>9.2f}")
    found = {
        "RSS MiB": rss[ours],
        "scrape p99 ms": rows[3][1],
        "own CPU %": 100 * (cpu[ours] - simulator),
        "series per GPU": max(gpus.values()),
        "series per MIG instance": max(instances.values()),
    }
    print(f"\nsimulated driver inside the agent: {60 * simulator:.2f} CPU s/min")
    print(f"{len(instances)} MIG instances on {len(gpus)} GPUs")
    load, cores = os.getloadavg()[0], os.cpu_count() or 1
    print(f"load average {load:.1f} on {cores} cores" + ("; scrape times of a busy machine" if load > cores else ""))
    print("\nbudget")
    for name, limit in BUDGET.items():
        print(
            f"{name:<28}{found[name]:>14.2f}{'≤ ' + format(limit, 'g'):>18}{'ok' if found[name] <= limit else 'OVER':>9}"
        )
    return sum(found[name] > limit for name, limit in BUDGET.items())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--scrapes", type=int, default=200)
    parser.add_argument("--child", type=int, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.child:
        child(chosen.child)
    else:
        sys.exit(min(1, measure(chosen)))

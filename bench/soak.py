"""Endurance: hours compressed into minutes, with faults injected all the time; memory and open files must stay flat.

The agent runs in a child process on a simulated machine whose clock runs fast and whose cycles come often, so that
every path runs thousands of times: cycles, lost GPUs, hanging calls, MIG changes, driver reloads, XID bursts, config
reloads, releases, scrapes. Growth is the slope of a least-squares line over the second half of the run.

    python bench/soak.py [--minutes 3] [--speed 120]
"""

import argparse
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))
GROWTH_MIB, GROWTH_FILES = 1.0, 2.0
"""What the second half of a run may add: noise, and in runs of more than two minutes so much a minute."""
INSTANCES = (
    [{"profile": "1g.10gb", "job": "inference"}] * 7,
    [{"profile": "3g.40gb", "job": "training"}, {"profile": "4g.40gb", "job": "batch"}],
    [],
)


def child(port: int, speed: float, seed: int) -> None:
    """The agent, and a thread that makes things go wrong."""
    from gpuscope import logs
    from gpuscope.agent import Agent
    from gpuscope.config import load

    logs.setup("error")
    flags = {
        "web.listen-address": [f"127.0.0.1:{port}"],
        "simulate": "h100-mig",
        "simulate.speed": str(speed),
        "interval.fast": "200ms",
        "interval.activity": "300ms",
        "interval.processes": "500ms",
        "interval.slow": "1s",
        "nvml.deadline": "500ms",
        "log.level": "error",
    }
    loaded = load(flags)
    agent = Agent(loaded, lambda: loaded)
    agent.take_signals()
    agent.start()
    threading.Thread(target=trouble, args=(agent._machine.driver, random.Random(seed)), daemon=True).start()
    agent.wait()
    agent.stop()


def trouble(driver: object, dice: random.Random) -> None:
    """One fault after the other, each mended again."""
    while True:
        time.sleep(dice.uniform(0.2, 1.0))
        gpu = dice.randrange(8)
        match dice.randrange(7):
            case 0:
                driver.inject("lost", gpu=gpu)
                time.sleep(0.5)
                driver.inject("recovered", gpu=gpu)
            case 1:
                driver.inject("wedge", gpu=gpu)
                time.sleep(dice.uniform(0.1, 1.5))
                driver.inject("unwedge", gpu=gpu)
            case 2:
                driver.inject(
                    "xid", gpu=gpu, code=dice.choice((13, 31, 79, 94)), times=dice.choice((1, 500)), message="soak"
                )
            case 3:
                driver.inject("mig", gpu=4 + gpu % 4, instances=dice.choice(INSTANCES))
            case 4 if dice.random() < 0.3:
                driver.inject("driver_unloaded")
                time.sleep(0.5)
                driver.inject("driver_loaded", version=dice.choice(("590.48.01", "595.45.04", "580.65.06")))
            case 5:
                driver.inject("ecc", gpu=gpu, corrected=3, uncorrected=1)
            case _:
                driver.inject("heat", gpu=gpu, celsius=dice.choice((0, 45)))


def sample(pid: int) -> tuple[float, int, int]:
    """RSS in MiB, open files, threads."""
    status = Path(f"/proc/{pid}/status").read_text()
    rss = int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024
    return rss, len(os.listdir(f"/proc/{pid}/fd")), int(re.search(r"Threads:\s+(\d+)", status)[1])


def slope(points: list[tuple[float, float]]) -> float:
    """Growth per minute of a least-squares line through (seconds, value)."""
    count = len(points)
    mean_x = sum(x for x, _ in points) / count
    mean_y = sum(y for _, y in points) / count
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    return 60 * sum((x - mean_x) * (y - mean_y) for x, y in points) / spread


def scrape(port: int) -> int:
    try:
        return len(OPENER.open(f"http://127.0.0.1:{port}/metrics", timeout=10).read())
    except (OSError, urllib.error.URLError):
        return 0


def soak(arguments: argparse.Namespace) -> int:
    command = [sys.executable, __file__, "--child", str(arguments.port), "--speed", str(arguments.speed)]
    process = subprocess.Popen([*command, "--seed", str(arguments.seed)])
    rows: list[tuple[float, float, int, int]] = []
    started = time.monotonic()
    scrapes = failed = 0
    print(f"{'minute':>7}{'hours simulated':>17}{'RSS MiB':>10}{'files':>7}{'threads':>9}{'scrapes':>9}{'failed':>8}")
    try:
        while (elapsed := time.monotonic() - started) < 60 * arguments.minutes:
            time.sleep(0.5)
            if process.poll() is not None:
                print(f"the agent ended with code {process.returncode}")
                return 1
            if elapsed > 5:
                scrapes += 1
                failed += not scrape(arguments.port)
                rows.append((elapsed, *sample(process.pid)))
                if scrapes % 60 == 30:
                    process.send_signal(signal.SIGHUP)
                if scrapes % 20 == 0:
                    rss, files, threads = rows[-1][1:]
                    hours = elapsed * arguments.speed / 3600
                    print(
                        f"{elapsed / 60:>7.1f}{hours:>17.1f}{rss:>10.1f}{files:>7}{threads:>9}{scrapes:>9}{failed:>8}",
                        flush=True,
                    )
    finally:
        process.terminate()
        process.wait(10)
    half = rows[len(rows) // 2 :]
    memory = slope([(row[0], row[1]) for row in half])
    files = slope([(row[0], float(row[2])) for row in half])
    print(f"\ngrowth in the second half: {memory:+.2f} MiB a minute of RSS, {files:+.2f} open files a minute")
    print(f"open files: at first {rows[0][2]}, most {max(row[2] for row in rows)}, at last {rows[-1][2]}")
    print(f"{failed} of {scrapes} scrapes failed; exit code on SIGTERM {process.returncode}")
    minutes = (half[-1][0] - half[0][0]) / 60
    allowed = max(1.0, minutes) / minutes
    bad = memory > GROWTH_MIB * allowed or files > GROWTH_FILES * allowed or failed or process.returncode
    print("NOT FLAT" if bad else "flat")
    return int(bool(bad))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=3)
    parser.add_argument("--speed", type=float, default=120)
    parser.add_argument("--port", type=int, default=19836)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--child", type=int, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.child:
        child(chosen.child, chosen.speed, chosen.seed)
    else:
        sys.exit(soak(chosen))

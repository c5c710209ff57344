"""What the recording rules cost on a large cluster: how long each group takes, of its interval, and what it adds.

A real Prometheus scrapes the expositions of a simulated cluster, agents, kube-state-metrics, cAdvisor, node-exporter, model
servers and all, and evaluates the generated rules. Only series that a rule reads are served. What rules read over hours
and days is then written into the past, so that it is there to be read, and the groups are measured.

    python bench/rules.py [--nodes 1250] [--profile native] [--warm 8] [--minutes 12] [--at-rest]

With ``--at-rest`` rules are evaluated seldom while all is gathered, and then each is asked alone: see ``at_rest.py``.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import at_rest
import requests
import yaml
from expositions import Exposition, agents, others, serving
from started import free_port, running, wait_for

from gpuscope.simulate.cluster.endpoints import scrape_configs
from gpuscope_generator.output import rule_texts
from gpuscope_generator.rules.files import rule_files
from gpuscope_generator.settings import Settings

PROGRAMS = Path(__file__).parent.parent / ".cache/programs/usr/bin"
SHARE = 1 / 3
"""Of its interval that a group may take."""
MEMORY_LIMIT = 18e9
SELDOM_S = 150
"""Between two evaluations while a store is filled that is asked at rest."""
ROOM = 20e9
SCRAPE_S = 30
SHOWN_S = 0.25
"""Rules that are faster are not printed."""
_NAMES = '{__name__=~".+:.+:.+"}'
_BY_LEVEL = f'sort_desc(count by (level) (label_replace({_NAMES}, "level", "$1", "__name__", "([^:]+):.*")))'
_WORD = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
_LONG = re.compile(r"([a-zA-Z_:][\w:]*(?:\{[^}]*\})?)\[(1h|1d)[:\]]")


@dataclass
class Measured:
    """One group of rules.

    Attributes:
        interval_s: between two evaluations.
        times: how long each that was seen took, by the moment it began.
        rules: each rule's longest time in seconds, by its name and place.
    """

    interval_s: float
    times: dict[str, float] = field(default_factory=dict)
    rules: dict[str, float] = field(default_factory=dict)


def read_names() -> frozenset[str]:
    """Every word of every expression, the names of series among them."""
    found = (rule.expression.text for file in rule_files(Settings()) for group in file.groups for rule in group.rules)
    return frozenset(word for text in found for word in _WORD.findall(text))


def read_over_hours() -> dict[str, int]:
    """What rules read over an hour or a day, with the seconds."""
    found: dict[str, int] = {}
    for file in rule_files(Settings()):
        for group in file.groups:
            for rule in group.rules:
                for selector, window in _LONG.findall(rule.expression.text):
                    found[selector] = max(found.get(selector, 0), 3600 if window == "1h" else 86_400)
    return found


@contextlib.contextmanager
def prometheus(folder: Path, data: Path) -> Iterator[tuple[str, int]]:
    """One with the configuration of a folder, which keeps its memory within the limit if it can; address and pid."""
    port = free_port()
    log = folder / "prometheus.log"
    command: list[object] = ["env", f"GOMEMLIMIT={int(MEMORY_LIMIT * 0.8)}", PROGRAMS / "prometheus"]
    command += [f"--config.file={folder / 'prometheus.yml'}", f"--storage.tsdb.path={data}"]
    command += [f"--web.listen-address=127.0.0.1:{port}", "--log.level=warn", "--storage.tsdb.retention.time=40d"]
    command += ["--web.enable-admin-api", "--query.timeout=10m", "--query.max-samples=500000000"]
    with running(command, log) as process:
        wait_for(f"http://127.0.0.1:{port}/-/ready", process, log)
        yield f"http://127.0.0.1:{port}", process.pid
    lines = [line for line in log.read_text().splitlines() if "level=error" in line or "level=warn" in line]
    if lines:
        print(f"Prometheus says, {len(lines)} times: {lines[0][:400]}")


def memory(pid: int) -> float:
    """Resident bytes of a process."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * float(os.sysconf("SC_PAGE_SIZE"))


def scheduled(pid: int) -> tuple[int, int]:
    """How long the threads of a process ran, and how long they waited for a core, in nanoseconds."""
    found = (0, 0)
    for file in Path(f"/proc/{pid}/task").glob("*/schedstat"):
        with contextlib.suppress(FileNotFoundError):
            ran, waited, _ = file.read_text().split()
            found = found[0] + int(ran), found[1] + int(waited)
    return found


def observe(url: str, pid: int, seconds: float) -> dict[str, Measured]:
    """Watches the groups for a while; ends the benchmark when Prometheus outgrows its limit."""
    found: dict[str, Measured] = {}
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        if memory(pid) > MEMORY_LIMIT:
            raise SystemExit(f"Prometheus takes more than {MEMORY_LIMIT / 1e9:.0f} GB")
        for group in requests.get(f"{url}/api/v1/rules", timeout=60).json()["data"]["groups"]:
            one = found.setdefault(group["name"], Measured(group["interval"]))
            if not group["lastEvaluation"].startswith("0001"):
                one.times[group["lastEvaluation"]] = group["evaluationTime"]
            for number, rule in enumerate(group["rules"]):
                key = f"{number} {rule['name']}"
                one.rules[key] = max(one.rules.get(key, 0.0), rule["evaluationTime"])
                if rule.get("lastError"):
                    raise SystemExit(f"{group['name']}: {rule['name']}: {rule['lastError']}")
        time.sleep(min(5, left))
    return found


def ask(url: str, query: str, at: float | None = None) -> list[dict[str, Any]]:
    """The result of an instant query, of now or of a moment."""
    told = {"query": query} | ({} if at is None else {"time": str(at)})
    answer = requests.post(f"{url}/api/v1/query", data=told, timeout=600).json()
    if answer["status"] != "success":
        raise SystemExit(f"{query}: {answer['error']}")
    result: list[dict[str, Any]] = answer["data"]["result"]
    return result


def write_past(url: str, data: Path, step_s: int, at: float | None = None) -> int:
    """Writes blocks with what rules read over hours and days, as if it had always been so; how many samples."""
    now = int(at or time.time()) // 7200 * 7200
    written = 0
    # A series may be read by several selectors, and must stand in a block once.
    series: dict[str, tuple[int, str, str]] = {}
    for selector, seconds in read_over_hours().items():
        for row in ask(url, selector, at):
            metric = dict(row["metric"])
            name = metric.pop("__name__")
            inner = ",".join(f'{key}="{value}"' for key, value in sorted(metric.items()))
            head = f"{name}{{{inner}}}"
            known = series.get(head, (0, "", ""))[0]
            series[head] = (max(seconds, known), name, row["value"][1])
    for begin in range(now - 86_400, now, 7200):
        text = data.parent / "past.om"
        with text.open("w") as out:
            kinds: set[str] = set()
            for head, (seconds, name, value) in sorted(series.items(), key=lambda item: item[1][1]):
                if begin < now - max(seconds, 7200):
                    continue
                if name not in kinds:
                    out.write(f"# TYPE {name} unknown\n")
                    kinds.add(name)
                out.writelines([f"{head} {value} {t}\n" for t in range(begin, begin + 7200, step_s)])
                written += 7200 // step_s
            out.write("# EOF\n")
        command = [PROGRAMS / "promtool", "tsdb", "create-blocks-from", "openmetrics", "-q", text, data]
        subprocess.run(command, check=True, timeout=1800)
        text.unlink()
    return written


def report(found: Mapping[str, Measured], had_core: float, rules: int) -> int:
    """Prints the groups, the slowest first; how many take too long.

    Args:
        found: what was seen.
        had_core: part of the time in which Prometheus had work that it had a core for it.
        rules: slowest rules of each group to print.
    """
    over = 0
    print(f"{'group':40} {'interval':>8} {'longest':>9} {'median':>9} {'share':>7} {'alone':>7} {'seen':>5}")
    for name, one in sorted(found.items(), key=lambda item: -max(item[1].times.values(), default=0)):
        times = sorted(one.times.values())
        if not times:
            print(f"{name:40} {one.interval_s:6.0f} s  not evaluated yet")
            continue
        share = times[-1] / one.interval_s
        over += share > SHARE
        print(
            f"{name:40} {one.interval_s:6.0f} s {times[-1]:7.2f} s {times[len(times) // 2]:7.2f} s {share:7.3f} "
            f"{share * had_core:7.3f} {len(times):5}{'  OVER' if share > SHARE else ''}"
        )
        for rule, took in sorted(one.rules.items(), key=lambda item: -item[1])[:rules]:
            if took > SHOWN_S:
                print(f"    {took:7.3f} s  {rule}")
    return over


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=1250, help="nodes of the simulated cluster, of eight GPUs each")
    parser.add_argument("--profile", default="native", help="profile of gpuscope simulate cluster")
    parser.add_argument("--warm", type=float, default=8, help="minutes until the past is written")
    parser.add_argument("--minutes", type=float, default=12, help="minutes in which the groups are watched")
    parser.add_argument("--scrape-interval", type=int, default=SCRAPE_S, help="seconds between two scrapes")
    parser.add_argument("--rules", type=int, default=3, help="slowest rules of each group to print")
    parser.add_argument("--at-rest", action="store_true", help="ask each rule alone, with nothing else going on")
    parser.add_argument("--folder", type=Path, help="where to put the store, in place of a temporary folder")
    return parser.parse_args()


def main() -> int:
    """Runs it all; 1 when a group takes too much of its interval."""
    options = _options()
    began = time.monotonic()
    told, jobs = prepared(options.nodes, options.profile, options.scrape_interval)
    print(f"made after {time.monotonic() - began:.0f} s", flush=True)
    return measured(told, jobs, options)


def prepared(nodes: int, profile: str, scrape_s: int) -> tuple[dict[str, Exposition], list[dict[str, Any]]]:
    """What each path says, and the ``scrape_configs`` to fetch it with, for the address ``ADDRESS``."""
    keep = read_names()
    found, told, world = others(nodes, profile, keep)
    jobs = scrape_configs(found, "ADDRESS", scrape_s)
    for job in jobs:
        job |= {"scrape_interval": f"{scrape_s}s", "scrape_timeout": "25s"}
    if profile == "native":
        of_agents = agents(world, keep)
        told |= {f"/agent/{name}/metrics": one for name, one in of_agents.items()}
        fixed = {"cluster": world.name}
        targets = [
            {"__metrics_path__": f"/agent/{name}/metrics", "node": name, "instance": f"{name}:9400"}
            for name in of_agents
        ]
        static = [{"targets": ["ADDRESS"], "labels": fixed | labels} for labels in targets]
        jobs.append({"job_name": "gpuscope", "static_configs": static})
    return told, jobs


def measured(told: Mapping[str, Exposition], jobs: Sequence[Mapping[str, Any]], options: argparse.Namespace) -> int:
    """Serves, scrapes, evaluates and prints; 1 when a group takes too much of its interval."""
    raw = sum(one.series for one in told.values())
    print(f"{len(told):,} targets with {raw:,} series that rules read", flush=True)
    with contextlib.ExitStack() as stack:
        folder = options.folder or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="gpuscope-rules-")))
        if shutil.disk_usage(folder).free < ROOM:
            raise SystemExit(f"{folder}: {ROOM / 1e9:.0f} GB of room are needed")
        settings = _seldom() if options.at_rest else Settings()
        _configure(folder, stack.enter_context(serving(told)), jobs, options.scrape_interval, settings)
        data = folder / "data"
        with prometheus(folder, data) as (url, pid):
            observe(url, pid, options.warm * 60)
            if not options.at_rest:
                print(f"the past: {write_past(url, data, options.scrape_interval):,} samples", flush=True)
        if options.at_rest:
            return asked_at_rest(folder, time.time() - options.scrape_interval, options)
        with prometheus(folder, data) as (url, pid):
            observe(url, pid, 90)
            before = scheduled(pid)
            found = observe(url, pid, options.minutes * 60)
            ran, waited = (after - then for after, then in zip(scheduled(pid), before, strict=True))
            print(f"of the time in which it had work, Prometheus had a core for {ran / max(ran + waited, 1):.2f}")
            up, all_up = (ask(url, f"{how}(up)")[0]["value"][1] for how in ("sum", "count"))
            print(f"{up} of {all_up} targets up, {memory(pid) / 1e9:.1f} GB resident; recorded series by level:")
            for row in ask(url, _BY_LEVEL):
                print(f"    {row['metric']['level']:12} {int(row['value'][1]):8,}")
    return 1 if report(found, ran / max(ran + waited, 1), options.rules) else 0


def asked_at_rest(folder: Path, at: float, options: argparse.Namespace) -> int:
    """Asks each rule for what it gave at a moment, of a store that nothing writes to; 1 when a group takes too much."""
    (folder / "prometheus.yml").write_text("global: {}\n")
    with prometheus(folder, folder / "data") as (url, _):
        blocks = at_rest.snapshot(url, folder / "data")
        print(f"the past: {write_past(url, blocks, options.scrape_interval, at):,} samples", flush=True)
    with prometheus(folder, blocks) as (url, _):
        found = at_rest.ask_alone(url, at)
    return 1 if at_rest.report(found, SHARE, options.rules) else 0


def _seldom() -> Settings:
    rare = dataclasses.replace(Settings().intervals, normalize=SELDOM_S, aggregate=SELDOM_S, slow=SELDOM_S)
    return dataclasses.replace(Settings(), intervals=rare)


def _configure(
    folder: Path, address: str, jobs: Sequence[Mapping[str, Any]], scrape_s: int, settings: Settings
) -> None:
    for path, text in rule_texts(settings).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    config = {
        "global": {"scrape_interval": f"{scrape_s}s", "scrape_timeout": "25s", "evaluation_interval": f"{SCRAPE_S}s"},
        "rule_files": [str(folder / f"alert_rules/{kind}/*.yaml") for kind in ("recording", "alerts")],
        "scrape_configs": jobs,
    }
    text = yaml.safe_dump(config, sort_keys=False).replace("ADDRESS", address)
    (folder / "prometheus.yml").write_text(text)


if __name__ == "__main__":
    sys.exit(main())

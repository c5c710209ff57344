"""Every board on every kind of cluster: which panels carry data, and whether each store answers each query alike.

For each profile `gpuscope simulate cluster` serves what the exporters of such a cluster would say, agents of the product
run where the profile has any, a Prometheus scrapes all of it with the generated rules, and every query of every board is
asked. ``bench/profiles.yaml`` names the panels that may be empty in a profile, with the reason.

    python bench/profiles.py [--profile native ...] [--wait 240] [--prometheus PROGRAM] [--victoria-metrics PROGRAM]

``--prometheus`` takes another release; ``--victoria-metrics`` starts one beside it, fed by remote write, and asks that.
Exit code 1: an error, an empty panel that may not be, or nothing but NaN.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from started import free_port, running, wait_for

ROOT = Path(__file__).parent.parent
TOOLS = Path(sys.executable).parent
PROMETHEUS = ROOT / ".cache/programs/usr/bin/prometheus"
ALLOWED = ROOT / "bench/profiles.yaml"
PROFILES: Mapping[str, Sequence[str]] = {
    "native": ("native",),
    "dcgm-classic": ("dcgm-classic",),
    "dcgm-modern": ("dcgm-modern",),
    "mig": ("mig",),
    "no-mig": ("no-mig",),
    "slurm": ("slurm",),
    "no-inference": ("no-inference",),
    "kube-state-pair": ("kube-state-pair",),
    "two-clusters": ("two-clusters",),
}
"""What each profile starts the simulated cluster with."""
WITH_AGENTS = ("native",)
SCRAPE_S = 5
SPEED = 10


def main() -> int:
    """Runs the profiles one after the other; 1 when any has findings."""
    options = _options()
    failed = []
    for profile in options.profile or PROFILES:
        with tempfile.TemporaryDirectory(prefix="gpuscope-profile-") as name, contextlib.ExitStack() as stack:
            url = stack.enter_context(_cluster(profile, Path(name), options))
            report = _check(url, profile, options)
        if not _told(profile, report):
            failed.append(profile)
    print(f"{len(options.profile or PROFILES)} profiles, with findings: {', '.join(failed) or 'none'}")
    return 1 if failed else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--profile", action="append", choices=tuple(PROFILES), help="only this one; may be repeated")
    parser.add_argument("--wait", type=float, default=240, help="seconds for the story and the rules to make data")
    parser.add_argument("--nodes", type=int, default=4, help="nodes of the simulated cluster")
    parser.add_argument("--prometheus", type=Path, default=PROMETHEUS, help="program to scrape and evaluate with")
    parser.add_argument("--victoria-metrics", type=Path, help="program to ask in its place, fed by remote write")
    parser.add_argument("--keep", type=Path, help="folder for the reports as JSON")
    return parser.parse_args()


@contextlib.contextmanager
def _cluster(profile: str, folder: Path, options: argparse.Namespace) -> Iterator[str]:
    """The simulated cluster with its Prometheus, after it had time to make data; gives the address to ask."""
    subprocess.run(
        [TOOLS / "gpuscope-generator", "rules", "--out", folder], check=True, stdout=subprocess.DEVNULL, timeout=300
    )
    with contextlib.ExitStack() as stack:
        agents = {f"gpu-{n:03}": free_port() for n in range(1, options.nodes + 1)} if profile in WITH_AGENTS else {}
        story = free_port()
        told = [part for node, port in agents.items() for part in ("--agent", f"{node}=127.0.0.1:{port}")]
        flags = [part for name in PROFILES[profile] for part in ("--profile", name)]
        command = [
            *(TOOLS / "gpuscope", "simulate", "cluster", "--nodes", options.nodes, "--speed", SPEED),
            *("--listen-address", f"127.0.0.1:{story}", "--write-scrape-config", folder / "prometheus.yml"),
            *("--scrape-interval", f"{SCRAPE_S}s", "--rules", folder / "alert_rules/recording/*.yaml"),
            *("--write-scenarios", folder / "nodes", *flags, *told),
        ]
        cluster = stack.enter_context(running(command, folder / "cluster.log"))
        wait_for(f"http://127.0.0.1:{story}/", cluster, folder / "cluster.log")
        for node, port in agents.items():
            start = [TOOLS / "gpuscope", "agent", "--simulate", folder / f"nodes/{node}.yaml", "--simulate.seed", node]
            start += ["--web.listen-address", f"127.0.0.1:{port}", "--node-name", node]
            stack.enter_context(running(start, folder / f"{node}.log"))
        store = None
        if options.victoria_metrics:
            store = free_port()
            stack.enter_context(_victoria(options.victoria_metrics, folder, store))
        port = free_port()
        scrape = [
            options.prometheus,
            f"--config.file={folder / 'prometheus.yml'}",
            f"--storage.tsdb.path={folder}/tsdb",
        ]
        scrape += [f"--web.listen-address=127.0.0.1:{port}", "--log.level=warn"]
        process = stack.enter_context(running(scrape, folder / "prometheus.log"))
        wait_for(f"http://127.0.0.1:{port}/-/ready", process, folder / "prometheus.log")
        _wait(profile, options.wait)
        yield f"http://127.0.0.1:{store or port}"
        broken = [
            line
            for line in (folder / "prometheus.log").read_text().splitlines()
            if "level=error" in line or "Error on" in line
        ]
        if broken:
            print(f"{profile}: Prometheus says: {broken[0][:300]} ({len(broken)} lines)")


@contextlib.contextmanager
def _victoria(program: Path, folder: Path, port: int) -> Iterator[None]:
    config = folder / "prometheus.yml"
    content = yaml.safe_load(config.read_text())
    content["remote_write"] = [{"url": f"http://127.0.0.1:{port}/api/v1/write"}]
    config.write_text(yaml.safe_dump(content))
    command = [
        program,
        f"-httpListenAddr=127.0.0.1:{port}",
        f"-storageDataPath={folder}/vm",
        "-search.latencyOffset=0s",
    ]
    with running(command, folder / "victoria.log") as process:
        wait_for(f"http://127.0.0.1:{port}/health", process, folder / "victoria.log")
        yield


def _wait(profile: str, seconds: float) -> None:
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        print(f"\r{profile}: data in {left:.0f} s ", end="", file=sys.stderr, flush=True)
        time.sleep(min(5, left))
    print(file=sys.stderr)


def _check(url: str, profile: str, options: argparse.Namespace) -> dict[str, Any]:
    command = [
        *(TOOLS / "gpuscope-generator", "check", "--prometheus", url, "--json", "--range", f"{int(options.wait)}s"),
        *("--scrape-interval", f"{SCRAPE_S}s", "--slow", "30s", "--timeout", "60"),
        *("--allow-empty", ALLOWED, "--profile", profile),
    ]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=900)
    if done.returncode not in (0, 1):
        raise SystemExit(done.stderr)
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
        (options.keep / f"{profile}.json").write_text(done.stdout)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _told(profile: str, report: Mapping[str, Any]) -> bool:
    """Prints what was found; whether nothing is wrong."""
    clean = True
    for board in report["boards"]:
        results = [*board["variables"], *board["panels"], *board["annotations"]]
        counts = {
            state: sum(one["status"] == state for one in results) for state in ("ok", "empty", "NaN only", "error")
        }
        excused = sum(one["status"] == "empty" and bool(one["allowed"]) for one in results)
        print(
            f"{profile:16} {board['board']:12} {counts['ok']:3} ok {counts['empty']:3} empty ({excused} with a reason) "
            f"{counts['NaN only']:2} NaN {counts['error']:2} errors"
        )
        for one in results:
            if one["status"] in ("error", "NaN only") or (one["status"] == "empty" and not one["allowed"]):
                clean = False
                print(f"    {one['status']:8} {board['board']}/{one['key']}")
    return clean


if __name__ == "__main__":
    sys.exit(main())

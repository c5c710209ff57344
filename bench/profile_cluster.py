"""All that runs on one kind of cluster while ``bench/profiles.py`` looks at it: exporters, agents, collector, stores."""

from __future__ import annotations

import contextlib
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from started import free_port, running, wait_for

__all__ = ["PROFILES", "SCRAPE_S", "Profile", "Store", "cluster", "reader", "write_rules"]

TOOLS = Path(sys.executable).parent
SCRAPE_S = 30
PACE = 4
"""So many times sooner than in the demo jobs end and nodes break, so that ten minutes have seen everything."""
NODES = 8
INTERVALS = {"normalize": 60, "aggregate": 60, "slow": 120}
_RELEASE = re.compile(r"\d+\.\d+\.\d+")


@dataclass(frozen=True, slots=True)
class Profile:
    """A kind of cluster.

    Attributes:
        flags: profiles of ``gpuscope simulate cluster``.
        agents: whether an agent runs on each node of the first cluster.
        collector: what the collector follows: ``kubernetes``, ``slurm``, or nothing.
    """

    flags: tuple[str, ...]
    agents: bool
    collector: str = "kubernetes"


PROFILES: Mapping[str, Profile] = {
    "native": Profile(("native",), agents=True),
    "dcgm-classic": Profile(("dcgm-classic",), agents=False),
    "dcgm-modern": Profile(("dcgm-modern",), agents=False),
    "mig": Profile(("mig",), agents=True),
    "no-mig": Profile(("dcgm-modern", "no-mig"), agents=False),
    "slurm": Profile(("slurm",), agents=True, collector="slurm"),
    "no-inference": Profile(("dcgm-modern", "no-inference"), agents=False),
    "kube-state-pair": Profile(("dcgm-classic", "kube-state-pair"), agents=False),
    "two-clusters": Profile(("two-clusters",), agents=False),
}
"""Where agents run beside dcgm-exporter, both tell of the same GPUs."""


@dataclass(frozen=True, slots=True)
class Store:
    """What is asked.

    Attributes:
        name: and release.
        scrapes: whether it scrapes and evaluates rules itself; else it has the samples of the first one that does.
        folder: of its data.
    """

    name: str
    url: str
    scrapes: bool
    folder: Path


def write_rules(folder: Path) -> None:
    """Writes all recording rules below a folder, evaluated so often that minutes do for hours, and so seldom that two cores do."""
    settings = folder / "settings.yaml"
    settings.write_text(yaml.safe_dump({"intervals": INTERVALS}))
    command = [TOOLS / "gpuscope-generator", "rules", "--out", folder, "--settings", settings]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=600)


@contextlib.contextmanager
def cluster(
    profile: Profile, folder: Path, rules: Path, prometheus: Sequence[Path], victoria: Sequence[Path]
) -> Iterator[list[Store]]:
    """Starts it, and ends all of it.

    Args:
        profile: its kind.
        folder: gets configurations, data and logs.
        rules: folder of ``write_rules``.
        prometheus: programs that scrape and evaluate, each for itself; the first one feeds the others' kind.
        victoria: programs of VictoriaMetrics.
    """
    with contextlib.ExitStack() as stack:
        agents = {f"gpu-{n:03}": f"127.0.0.1:{free_port()}" for n in range(1, NODES + 1)} if profile.agents else {}
        collector = f"127.0.0.1:{free_port()}" if profile.collector else ""
        story = f"127.0.0.1:{free_port()}"
        config = folder / "prometheus.yml"
        command: list[object] = [TOOLS / "gpuscope", "simulate", "cluster", "--nodes", NODES, "--pace", PACE]
        command += ["--listen-address", story, "--write-scrape-config", config, "--scrape-interval", f"{SCRAPE_S}s"]
        command += ["--rules", rules / "alert_rules/recording/*.yaml", "--write-scenarios", folder / "nodes"]
        command += [part for name in profile.flags for part in ("--profile", name)]
        command += ["--write-slurm", folder / "slurm"] if profile.collector == "slurm" else []
        command += [part for node, address in agents.items() for part in ("--agent", f"{node}={address}")]
        simulation = stack.enter_context(running(command, folder / "cluster.log"))
        wait_for(f"http://{story}/", simulation, folder / "cluster.log")
        for node, address in agents.items():
            start = [TOOLS / "gpuscope", "agent", "--simulate", folder / f"nodes/{node}.yaml", "--simulate.seed", node]
            start += ["--web.listen-address", address, "--node-name", node]
            start += [part for tier in ("fast", "activity") for part in (f"--interval.{tier}", f"{SCRAPE_S}s")]
            stack.enter_context(running(start, folder / f"{node}.log"))
        if collector:
            _collector(stack, profile, folder, collector, list(agents.values()))
        content = yaml.safe_load(config.read_text())
        if collector:
            target = {"targets": [collector], "labels": {"cluster": "sim"}}
            content["scrape_configs"].append({"job_name": "gpuscope-collector", "static_configs": [target]})
        fed = [_victoria(stack, program, folder / f"victoria-{n}") for n, program in enumerate(victoria)]
        found = []
        for number, program in enumerate(prometheus):
            write = [{"url": f"{store.url}/api/v1/write"} for store in fed] if number == 0 else []
            own = {**content, "remote_write": write} if write else content
            found.append(_prometheus(stack, program, folder / f"prometheus-{number}", own))
        yield [*found, *fed]


def _collector(
    stack: contextlib.ExitStack, profile: Profile, folder: Path, address: str, agents: Sequence[str]
) -> None:
    if profile.collector == "slurm":
        # The simulation writes its commands, so that both tell one story.
        source: list[object] = ["--slurm", "--slurm.commands", folder / "slurm"]
    else:
        kubeconfig, log = folder / "kubeconfig", folder / "api.log"
        flags = [part for name in profile.flags for part in ("--profile", name)]
        api = [sys.executable, "-m", "bench.cluster_api", "--kubeconfig", kubeconfig, "--nodes", NODES, "--pace", PACE]
        process = stack.enter_context(running([*api, *flags], log))
        wait_for(kubeconfig, process, log)
        source = ["--kubernetes", "--kubernetes.config", kubeconfig]
    command = [TOOLS / "gpuscope", "collector", *source, "--web.listen-address", address]
    command += ["--interval", f"{SCRAPE_S / 2:g}s", "--counter-hold", f"{2 * SCRAPE_S}s"]
    command += [part for agent in agents for part in ("--agents", f"http://{agent}")]
    stack.enter_context(running(command, folder / "collector.log"))


@contextlib.contextmanager
def reader(program: Path, of: Store) -> Iterator[Store]:
    """Another Prometheus on a copy of the data of one, which scrapes and evaluates nothing.

    Args:
        program: a release that reads what the other one wrote: the same or a newer one.
        of: whose data.
    """
    folder = of.folder.with_name(f"reader-{_release(program)}")
    folder.mkdir()
    # The head is in the log of writes, which is read anew; the lock and what is written meanwhile are left out.
    shutil.copytree(of.folder / "tsdb", folder / "tsdb", ignore=shutil.ignore_patterns("lock", "queries.active"))
    with contextlib.ExitStack() as stack:
        found = _prometheus(stack, program, folder, {"global": {"scrape_interval": f"{SCRAPE_S}s"}})
        yield Store(found.name, found.url, scrapes=False, folder=folder)


def _prometheus(stack: contextlib.ExitStack, program: Path, folder: Path, content: Mapping[str, Any]) -> Store:
    folder.mkdir(exist_ok=True)
    (folder / "prometheus.yml").write_text(yaml.safe_dump(dict(content)))
    url = f"127.0.0.1:{free_port()}"
    command = [program, f"--config.file={folder / 'prometheus.yml'}", f"--storage.tsdb.path={folder}/tsdb"]
    # Rules and boards ask at the same time, on a machine where each answer takes long.
    command += [f"--web.listen-address={url}", "--log.level=warn", "--query.max-concurrency=200"]
    process = stack.enter_context(running(command, folder / "log"))
    wait_for(f"http://{url}/-/ready", process, folder / "log")
    return Store(f"Prometheus {_release(program)}", f"http://{url}", scrapes=True, folder=folder)


def _victoria(stack: contextlib.ExitStack, program: Path, folder: Path) -> Store:
    folder.mkdir()
    url = f"127.0.0.1:{free_port()}"
    command = [program, f"-httpListenAddr={url}", f"-storageDataPath={folder}/data", "-search.latencyOffset=0s"]
    process = stack.enter_context(running(command, folder / "log"))
    wait_for(f"http://{url}/health", process, folder / "log")
    return Store(f"VictoriaMetrics {_release(program)}".strip(), f"http://{url}", scrapes=False, folder=folder)


def _release(program: Path) -> str:
    told = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=60)
    found = _RELEASE.search(told.stdout + told.stderr)
    return found[0] if found else ""

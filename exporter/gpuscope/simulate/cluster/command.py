"""``gpuscope simulate cluster``."""

import asyncio
import os
import signal
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click
import yaml

from gpuscope.errors import ConfigError, SourceError
from gpuscope.finite import Finite

if TYPE_CHECKING:
    from gpuscope.simulate.cluster.endpoints import Endpoint
    from gpuscope.simulate.cluster.world import World
    from gpuscope.simulate.slurm import SlurmPrograms

__all__ = ["command"]

_MAX_NODES = 1250
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


@click.command("cluster")
@click.option("--profile", "profiles", multiple=True, metavar="NAME", help="What there is; may be given several times.")
@click.option("--profiles", "list_profiles", is_flag=True, help="List the profiles and sources, and stop.")
@click.option("--source", "only", multiple=True, metavar="NAME", help="Serve these sources only.")
@click.option(
    "--nodes", default=8, show_default=True, type=click.IntRange(1, _MAX_NODES), help="Nodes of the default fleet."
)
@click.option(
    "--scenario", "scenarios", multiple=True, metavar="NODE=SCENARIO",
    help="A node of the fleet, as an agent simulates it; may be given several times. Replaces the default fleet.",
)  # fmt: skip
@click.option("--cluster", default="sim", show_default=True, help="Name of the cluster.")
@click.option("--seed", default="", help="Changes the UUIDs of the default fleet.")
@click.option("--ago", default="6h", show_default=True, metavar="DURATION", help="For how long counters have counted.")
@click.option(
    "--speed", default=1.0, show_default=True, type=Finite(min=0.01, max=3600),
    help="How many times faster the story runs.",
)  # fmt: skip
@click.option(
    "--pace", default=1.0, show_default=True, type=Finite(min=0.1, max=20),
    help="How many times sooner jobs of the default fleet end and its nodes break; clocks run as ever.",
)  # fmt: skip
@click.option(
    "--listen-address", default="127.0.0.1:9840", show_default=True, metavar="HOST:PORT", help="Where to serve."
)
@click.option("--write-scrape-config", type=click.Path(path_type=Path), help="Write a configuration of Prometheus.")
@click.option("--write-scenarios", type=click.Path(path_type=Path), help="Write a scenario for the agent of each node.")
@click.option(
    "--write-slurm", type=click.Path(path_type=Path), metavar="FOLDER",
    help="Write commands of a Slurm that tell of the first cluster's jobs, for the collector's --slurm.commands.",
)  # fmt: skip
@click.option("--scrape-interval", default="15s", show_default=True, metavar="DURATION", help="For that configuration.")
@click.option("--rules", multiple=True, metavar="FILES", help="Files of rules for that configuration, or a pattern.")
@click.option("--agent", "agents", multiple=True, metavar="NODE=HOST:PORT", help="An agent for that configuration.")
def command(
    profiles: tuple[str, ...], list_profiles: bool, only: tuple[str, ...], nodes: int, scenarios: tuple[str, ...],
    cluster: str, seed: str, ago: str, speed: float, pace: float, listen_address: str,
    write_scrape_config: Path | None, write_scenarios: Path | None, write_slurm: Path | None, scrape_interval: str,
    rules: tuple[str, ...], agents: tuple[str, ...],
) -> None:  # fmt: skip
    """Serve what other exporters would say in a cluster of simulated agents.

    One story moves all of them: jobs that queue, train, break and restart, model servers under changing load, a file
    system that fills, a team that holds idle GPUs, a node that is cordoned.

    \b
    Example: gpuscope simulate cluster --profile dcgm-modern --write-scrape-config prometheus.yml
    """
    from gpuscope.simulate.clock import RealClock
    from gpuscope.simulate.cluster.endpoints import endpoints, prometheus_config
    from gpuscope.simulate.cluster.plan import scenarios_of
    from gpuscope.simulate.cluster.profiles import PROFILES, Plan, planned
    from gpuscope.simulate.cluster.shape import Shape
    from gpuscope.simulate.cluster.sources.registry import SOURCES
    from gpuscope.simulate.cluster.world import World
    from gpuscope.simulate.document import nearest

    if list_profiles:
        for title, known in (("profiles", PROFILES), ("sources", SOURCES)):
            click.echo(f"{title}:")
            for name, one in known.items():
                click.echo(f"  {name:<20}{one.text}")
        return
    for flag, names, known in (("--profile", profiles, PROFILES), ("--source", only, SOURCES)):
        for name in names:
            if name not in known:
                raise ConfigError(f"{flag} {name!r}: there is no such{nearest(name, known)}")
    host, port = _address(listen_address)
    interval_s = _duration("--scrape-interval", scrape_interval)
    if not interval_s:
        raise ConfigError("--scrape-interval: must be longer than 0")
    fleet = _pairs("--scenario", scenarios, "NODE=SCENARIO")
    found_agents = _pairs("--agent", agents, "NODE=HOST:PORT")
    if not cluster.replace("-", "").replace("_", "").isalnum():
        raise ConfigError(f"--cluster {cluster!r}: must be made of letters, digits, - and _")
    shape = Shape(nodes, fleet, cluster, seed, _duration("--ago", ago), pace=pace)
    plan = planned(shape, profiles)
    if only:
        plan = Plan(plan.shapes, tuple(only))
    clock = RealClock(speed)
    try:
        worlds = [World(one, clock) for one in plan.shapes]
    except ConfigError as error:
        raise ConfigError(f"--scenario: {error}") from error
    if write_scenarios:
        if fleet:
            raise ConfigError("--write-scenarios: the fleet of --scenario has its scenarios already")
        for name, value in scenarios_of(plan.shapes[0]).items():
            value = {**value, "began": int(worlds[0].epoch)}
            _write("--write-scenarios", write_scenarios / f"{name}.yaml", yaml.safe_dump(value, sort_keys=False))
    slurm = _slurm(write_slurm, worlds[0]) if write_slurm else None
    served = endpoints(plan, worlds)

    def written(address: str) -> None:
        if write_scrape_config:
            text = prometheus_config(served, address, interval_s=interval_s, rules=rules, agents=found_agents)
            _write("--write-scrape-config", write_scrape_config, text)
        click.echo(f"{len(served)} expositions at http://{address}/", err=True)

    try:
        asyncio.run(_serve(served, host, port, written))
    finally:
        if slurm is not None:
            slurm.stop()


def _slurm(folder: Path, world: "World") -> "SlurmPrograms":
    from gpuscope.simulate.cluster.slurm import ClusterSlurm
    from gpuscope.simulate.slurm import SlurmPrograms

    if not world.slurm_jobs:
        raise ConfigError("--write-slurm: there is no Slurm in this cluster; give --profile slurm")
    try:
        programs = SlurmPrograms(folder, ClusterSlurm(world))
    except OSError as error:
        raise ConfigError(f"--write-slurm {folder}: cannot be written: {error.strerror}") from error
    programs.start()
    return programs


async def _serve(served: "list[Endpoint]", host: str, port: int, ready: "object") -> None:
    from gpuscope.simulate.cluster.server import start

    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(number, stop.set)
    try:
        server, port = start(served, host, port)
    except OSError as error:
        raise SourceError(f"--listen-address {host}:{port}: {error.strerror}") from error
    assert callable(ready)
    ready(f"{host}:{port}")
    await stop.wait()
    server.stop()


def _address(text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if not colon or not host or not port.isdigit() or int(port) > 65_535:
        raise ConfigError(f"--listen-address {text!r}: must be HOST:PORT")
    return host, int(port)


def _duration(flag: str, text: str) -> float:
    number, unit = text[:-1], text[-1:]
    if text.isdigit():
        number, unit = text, "s"
    if unit not in _UNITS or not number.isdigit():
        raise ConfigError(f"{flag} {text!r}: must be a duration like 90s, 30m, 6h or 2d")
    return float(number) * _UNITS[unit]


def _pairs(flag: str, entries: tuple[str, ...], form: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for entry in entries:
        name, sign, value = entry.partition("=")
        if not sign or not name or not value:
            raise ConfigError(f"{flag} {entry!r}: must be {form}")
        if name in found:
            raise ConfigError(f"{flag} {entry!r}: there is a node {name} already")
        found[name] = value
    return found


def _write(flag: str, path: Path, text: str) -> None:
    """Writes a file whole or not at all."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=f".{path.name}.", delete=False) as stream:
            stream.write(text)
        os.chmod(stream.name, 0o644)
        os.replace(stream.name, path)
    except OSError as error:
        raise ConfigError(f"{flag} {path}: cannot be written: {error.strerror}") from error

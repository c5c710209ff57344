"""``gpuscope demo``."""

import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import click

from gpuscope.demo.alerts import DemoAlerts, make_rules, open_receiver, start_alertmanager
from gpuscope.demo.boards import start_boards
from gpuscope.demo.children import Children, free_port
from gpuscope.demo.cluster import SCRAPE_INTERVAL, start_cluster
from gpuscope.demo.jobs import DemoJobs, start_collector
from gpuscope.demo.output import Fleet, show_live, show_once
from gpuscope.demo.programs import default_cache, find
from gpuscope.demo.prometheus import Prometheus, configuration, start_prometheus
from gpuscope.errors import ConfigError, SourceError
from gpuscope.finite import Finite
from gpuscope.simulate.scenario import load
from gpuscope.table.view import console

__all__ = ["command"]

_FLEET = {
    "h100-a": "h100x8",
    "h100-b": "h100-mig+xid-burst",
    "h100-c": "h100-pretrain+thermal+row-remap+gpu-lost",
    "a100-a": "a100-mig",
    "slurm-a": "l40s",
}
_READY_S = 60.0
_INTERVALS = {
    "fast": "1s",
    "activity": "2s",
    "processes": "5s",
    "slow": "10s",
    "attribution": "1s",
    "filesystem": "5s",
}


@click.command()
@click.option("--once", is_flag=True, help="Start, check that all carries data, print the table, stop.")
@click.option(
    "--scenario",
    "scenarios",
    multiple=True,
    metavar="NODE=SCENARIO",
    help="A node of the fleet; may be given several times. Replaces the default fleet.",
)
@click.option("--real", is_flag=True, help="One agent on this machine's own driver, and no simulated ones.")
@click.option(
    "--cluster/--no-cluster",
    default=True,
    help="What other exporters would say of a simulated fleet, beside the agents.  [on]",
)
@click.option(
    "--rules",
    multiple=True,
    metavar="FILES",
    help="Files of rules for Prometheus, or a pattern; may be given several times.  [those of the generator]",
)
@click.option(
    "--alerts/--no-alerts",
    default=True,
    help="Alertmanager, and a receiver that shows what it is told.  [on]",
)
@click.option(
    "--boards/--no-boards",
    default=True,
    help="The boards, in a Grafana of this machine, or drawn without one.  [on]",
)
@click.option("--duration", type=Finite(min=0), help="Stop after so many seconds.")
@click.option("--prometheus-port", type=click.IntRange(1, 65535), help="Port of Prometheus; by default a free one.")
@click.option("--cache-dir", type=click.Path(path_type=Path), help="Where downloaded programs are kept.")
@click.option(
    "--after",
    default=0.0,
    type=Finite(min=0),
    help="With --once: look after so many seconds, to see the faults of a scenario.",
)
@click.option("--picture", type=click.Path(path_type=Path), help="With --once: save the table as an SVG picture.")
@click.option("--no-color", is_flag=True, envvar="NO_COLOR", help="No colours.")
def command(
    once: bool, scenarios: tuple[str, ...], real: bool, cluster: bool, rules: tuple[str, ...], alerts: bool,
    boards: bool, duration: float | None, prometheus_port: int | None, cache_dir: Path | None, after: float,
    picture: Path | None, no_color: bool,
) -> None:  # fmt: skip
    """Run a GPU fleet and a Slurm cluster with Prometheus, and show them live.

    On a machine with an NVIDIA driver the fleet is this machine; elsewhere it is a simulated one of several nodes, in
    which some things go wrong, with the exporters that a cluster has beside the agents. The collector follows the jobs
    of a simulated Slurm cluster. Prometheus has the rules, which are evaluated every few seconds here; Alertmanager
    tells this program of alerts, and it shows them. The boards are put into a Grafana, where this machine has one, and
    are drawn without one elsewhere. All listens on the loopback only; Ctrl-C stops everything that was started.

    \b
    Example: gpuscope demo --scenario rack-1=gb200 --scenario rack-2=h100-mig+ecc-storm
    """
    screen = console(color=not no_color)
    fleet = _fleet(scenarios, real)

    def tell(text: str) -> None:
        screen.print(f"[dim]· {text}[/dim]" if not no_color else f"· {text}", soft_wrap=True)

    # Ended from outside, it tidies up as it does after Ctrl-C.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    try:
        programs = {
            name: find(name, cache_dir or default_cache(), tell)
            for name in ("prometheus", *(["alertmanager"] if alerts else []))
        }
        with (
            tempfile.TemporaryDirectory(prefix="gpuscope-demo-") as name,
            Children(Path(name)) as children,
            start_collector(children, Path(name)) as jobs,
            open_receiver() as receiver,
        ):
            running = _start(
                children, Path(name), fleet, jobs, programs, prometheus_port, tell,
                cluster=cluster, rules=rules, boards=boards, alerts=receiver,
            )  # fmt: skip
            if once:
                show_once(screen, children, running, tell, picture, after)
            else:
                show_live(screen, children, running, duration)
    except SourceError as error:
        reason, *log = str(error).splitlines()
        for line in log:
            click.echo(f"  {line}", err=True)
        raise SourceError(reason) from error
    except KeyboardInterrupt:
        screen.print("\nstopped everything")


def _fleet(scenarios: tuple[str, ...], real: bool) -> dict[str, str]:
    if real and scenarios:
        raise ConfigError("--real and --scenario exclude each other")
    if real or (not scenarios and _has_driver()):
        return {os.uname().nodename: ""}
    fleet = dict(_FLEET)
    if scenarios:
        fleet = {}
        for entry in scenarios:
            node, sign, scenario = entry.partition("=")
            if not sign or not node or not scenario:
                raise ConfigError(f"--scenario {entry!r}: must be NODE=SCENARIO")
            if node in fleet:
                raise ConfigError(f"--scenario {entry!r}: there is a node {node} already")
            fleet[node] = scenario
    for scenario in fleet.values():
        load(scenario)
    return fleet


def _has_driver() -> bool:
    from ctypes import CDLL

    try:
        CDLL("libnvidia-ml.so.1")
    except OSError:
        return False
    return Path("/proc/driver/nvidia/version").exists()


def _start(
    children: Children, folder: Path, fleet: dict[str, str], jobs: DemoJobs, programs: dict[str, Path],
    port: int | None, tell: Callable[[str], None], *, cluster: bool, rules: tuple[str, ...], boards: bool,
    alerts: DemoAlerts,
) -> Fleet:  # fmt: skip
    # Prometheus is there before the first fault: what it sees from the beginning it need not guess.
    agents = {node: f"127.0.0.1:{free_port()}" for node in fleet}
    files = [str(Path(one).absolute()) for one in rules] or make_rules(folder / "rules")
    around = start_cluster(children, folder, fleet) if cluster and all(fleet.values()) else None
    if around is not None:
        _wait(children, around.listens, _READY_S, "the exporters around the agents answer", tell)
        tell(f"cluster        {around.url}/  what other exporters would say")
    others = around.scrape_configs() if around else []
    address = f"127.0.0.1:{port or free_port()}"
    told = f"127.0.0.1:{free_port()}" if "alertmanager" in programs else ""
    text = configuration(agents, jobs.address, others=others, rules=files, alertmanager=told)
    start_prometheus(children, folder, programs["prometheus"], address, text)
    tell(f"prometheus     http://{address}/")
    running = Fleet(Prometheus(address), agents, jobs, fleet == _FLEET, around)
    _wait(children, running.prometheus.ready, _READY_S, "Prometheus is ready", tell)
    _start_agents(children, fleet, agents, tell)
    tell(f"collector      {jobs.url}/api/v1/jobs  on a simulated Slurm")
    if boards:
        running.boards = start_boards(children, folder, f"http://{address}", SCRAPE_INTERVAL, tell)
    if running.boards is not None:
        tell(f"boards         {running.boards.url}/  drawn by {running.boards.by}")
    if told:
        running.alerts, running.faults = alerts, {} if rules else fleet
        grafana = running.boards.url if running.boards else ""
        start_alertmanager(children, folder / "alerts", programs["alertmanager"], told, alerts, grafana)
        tell(f"alertmanager   {alerts.url}/")
        _wait(children, alerts.ready, _READY_S, "Alertmanager is ready", tell)
    _wait(children, lambda: _answering(running) == len(agents), _READY_S, "every agent answers", tell)
    return running


def _start_agents(
    children: Children, fleet: dict[str, str], agents: dict[str, str], tell: Callable[[str], None]
) -> None:
    for node, scenario in fleet.items():
        address = agents[node]
        arguments = [sys.executable, "-m", "gpuscope", "agent", "--web.listen-address", address, "--node-name", node]
        for tier, interval in _INTERVALS.items():
            arguments += [f"--interval.{tier}", interval]
        if scenario:
            arguments += ["--simulate", scenario, "--simulate.seed", node]
        children.start(f"agent-{node}", arguments)
        tell(f"agent {node:<8} http://{address}/  {scenario or 'on the real driver'}")


def _answering(running: Fleet) -> int:
    # Ready or not: without a driver there is something to see, too.
    return len(running.prometheus.query("gpuscope_ready"))


def _wait(
    children: Children, happened: Callable[[], bool], limit_s: float, what: str, tell: Callable[[str], None]
) -> None:
    end = time.monotonic() + limit_s
    while not happened():
        children.check()
        if time.monotonic() > end:
            raise SourceError(f"waited {limit_s:.0f} s in vain until {what}")
        time.sleep(0.3)
    tell(what)

"""``gpuscope top``: the GPUs of running agents, or the jobs of a collector, as a live table."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import click

from gpuscope.errors import ConfigError, SourceError
from gpuscope.finite import Finite
from gpuscope.table import NodeRows, Point, read_rows
from gpuscope.table.jobs import JobsLook
from gpuscope.table.jobs_view import job_table, jobs_screenful, jobs_summary, shown
from gpuscope.table.live import Screenful, gpu_screenful, show
from gpuscope.table.view import console, gpu_table, summary
from gpuscope.table.web import ask_jobs, failure_of, get, open_session

if TYPE_CHECKING:
    import requests
    from rich.console import Console

__all__ = ["command"]

_AT_ONCE = 32
_DEFAULT_URL = "http://127.0.0.1:9836"
_COLLECTOR_URL = "http://127.0.0.1:9837"
_FOOT = "Ctrl-C ends"


@click.command()
@click.argument("urls", nargs=-1, metavar="[URL]...")
@click.option("--interval", default=2.0, show_default=True, type=Finite(min=0.2), help="Seconds between looks.")
@click.option("--jobs", is_flag=True, help="Show the jobs of a collector in place of GPUs.")
@click.option("--once", is_flag=True, help="Print the table once.")
@click.option("--json", "as_json", is_flag=True, help="Print the rows once, as JSON.")
@click.option("--user", metavar="NAME:PASSWORD", envvar="GPUSCOPE_TOP_USER", help="Basic authentication.")
@click.option("--ca-file", type=click.Path(exists=True, dir_okay=False), help="Certificate authority for https.")
@click.option("--no-color", is_flag=True, envvar="NO_COLOR", help="No colours.")
def command(
    urls: tuple[str, ...], interval: float, jobs: bool, once: bool, as_json: bool, user: str | None,
    ca_file: str | None, no_color: bool,
) -> None:  # fmt: skip
    """Show the GPUs of running agents, or the jobs of a collector, as a live table.

    URL is an agent's address; without one, the agent of this machine. An agent that does not answer gets a row that
    says so. With --jobs it is the address of one collector; without one, the collector of this machine.

    \b
    Examples:
      gpuscope top http://gpu-1:9836 http://gpu-2:9836
      gpuscope top --jobs http://collector:9837
    """
    session = open_session(user, ca_file)
    addresses = [_address(url) for url in urls or (_COLLECTOR_URL if jobs else _DEFAULT_URL,)]
    if jobs and len(addresses) > 1:
        raise ConfigError("--jobs takes the address of one collector")
    screen = console(color=not no_color)
    live = not (once or as_json) and screen.is_terminal
    if jobs:
        _jobs(screen, session, addresses[0], interval if live else None, as_json=as_json)
    else:
        _gpus(screen, session, addresses, interval if live else None, as_json=as_json)


def _gpus(
    screen: "Console", session: "requests.Session", addresses: list[str], interval: float | None, *, as_json: bool
) -> None:
    if interval is not None:
        show(
            screen,
            lambda height: gpu_screenful(_look(session, addresses), screen.width, height),
            interval_s=interval,
            foot=_FOOT,
        )
        return
    nodes = _look(session, addresses)
    if as_json:
        click.echo(json.dumps([asdict(node) for node in nodes], indent=2))
        return
    screen.print(gpu_table(nodes, width=screen.width))
    screen.print(summary(nodes))
    if all(node.problem.startswith("unreachable") for node in nodes):
        raise SourceError(f"no agent answers at {', '.join(addresses)}")


def _jobs(
    screen: "Console", session: "requests.Session", address: str, interval: float | None, *, as_json: bool
) -> None:
    if interval is not None:
        last = JobsLook()

        def look(height: int) -> Screenful:
            nonlocal last
            seen = ask_jobs(session, address)
            # A collector that is being restarted leaves the last table in place, with the reason below it.
            last = seen if seen.answered else replace(last, problem=seen.problem)
            return jobs_screenful(last, screen.width, height)

        show(screen, look, interval_s=interval, foot=_FOOT)
        return
    seen = ask_jobs(session, address)
    if as_json:
        click.echo(json.dumps(asdict(seen), indent=2))
    elif seen.answered:
        screen.print(job_table(shown(seen.jobs), width=screen.width))
        screen.print(jobs_summary(seen.jobs), markup=False)
    if not seen.answered:
        raise SourceError(f"no collector answers at {address}: {seen.problem}")
    if seen.problem:
        click.echo(seen.problem, err=True)


def _address(url: str) -> str:
    full = url if "://" in url else f"http://{url}"
    parts = urlsplit(full)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ConfigError(f"{url!r}: is not an address like http://host:9836")
    return full.rstrip("/")


def _look(session: "requests.Session", addresses: list[str]) -> list[NodeRows]:
    """Asks all at once: an agent that does not answer holds up no other."""
    with ThreadPoolExecutor(min(_AT_ONCE, len(addresses))) as pool:
        answers = pool.map(lambda address: _agent(session, address), addresses)
        return [node for nodes in answers for node in nodes]


def _agent(session: "requests.Session", address: str) -> list[NodeRows]:
    import requests
    from prometheus_client.parser import text_string_to_metric_families

    name = urlsplit(address).netloc
    try:
        text = get(session, f"{address}/metrics").text
        name = get(session, f"{address}/api/v1/health").json()["node"]
        points = [
            Point(sample.name, {**sample.labels, "node": name}, sample.value)
            for family in text_string_to_metric_families(text)
            for sample in family.samples
        ]
        return read_rows(points)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        # First, as what is no JSON is a RequestException, too.
        return [NodeRows(name, problem=f"not an agent: {error}")]
    except requests.RequestException as error:
        return [NodeRows(name, problem=f"unreachable: {failure_of(error)}")]

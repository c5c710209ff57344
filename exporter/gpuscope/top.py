"""``gpuscope top``: the GPUs of running agents as a live table."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import click

from gpuscope.errors import ConfigError, SourceError
from gpuscope.table import NodeRows, Point, read_rows
from gpuscope.table.live import show
from gpuscope.table.view import console, gpu_table, summary

if TYPE_CHECKING:
    import requests

__all__ = ["command"]

_TIMEOUT_S = 5.0
_AT_ONCE = 32
_DEFAULT_URL = "http://127.0.0.1:9836"


@click.command()
@click.argument("urls", nargs=-1, metavar="[URL]...")
@click.option(
    "--interval", default=2.0, show_default=True, type=click.FloatRange(min=0.2), help="Seconds between looks."
)
@click.option("--once", is_flag=True, help="Print the table once.")
@click.option("--json", "as_json", is_flag=True, help="Print the rows once, as JSON.")
@click.option("--user", metavar="NAME:PASSWORD", envvar="GPUSCOPE_TOP_USER", help="Basic authentication.")
@click.option("--ca-file", type=click.Path(exists=True, dir_okay=False), help="Certificate authority for https.")
@click.option("--no-color", is_flag=True, envvar="NO_COLOR", help="No colours.")
def command(
    urls: tuple[str, ...], interval: float, once: bool, as_json: bool, user: str | None, ca_file: str | None,
    no_color: bool,
) -> None:  # fmt: skip
    """Show the GPUs of running agents as a live table.

    URL is an agent's address; without one, the agent of this machine. An agent that does not answer gets a row that
    says so.

    \b
    Example: gpuscope top http://gpu-1:9836 http://gpu-2:9836
    """
    session = _session(user, ca_file)
    addresses = [_address(url) for url in urls or (_DEFAULT_URL,)]
    if as_json:
        click.echo(json.dumps([asdict(node) for node in _look(session, addresses)], indent=2))
        return
    screen = console(color=not no_color)
    if once or not screen.is_terminal:
        nodes = _look(session, addresses)
        screen.print(gpu_table(nodes, width=screen.width))
        screen.print(summary(nodes))
        if all(node.problem.startswith("unreachable") for node in nodes):
            raise SourceError(f"no agent answers at {', '.join(addresses)}")
        return
    show(screen, lambda: _look(session, addresses), interval_s=interval, foot="Ctrl-C ends")


def _session(user: str | None, ca_file: str | None) -> "requests.Session":
    import requests

    session = requests.Session()
    session.trust_env = False
    if user:
        name, _, password = user.partition(":")
        session.auth = (name, password)
    if ca_file:
        session.verify = ca_file
    return session


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
        text = _get(session, f"{address}/metrics").text
        name = _get(session, f"{address}/api/v1/health").json()["node"]
        points = [
            Point(sample.name, {**sample.labels, "node": name}, sample.value)
            for family in text_string_to_metric_families(text)
            for sample in family.samples
        ]
        return read_rows(points)
    except requests.RequestException as error:
        return [NodeRows(name, problem=f"unreachable: {_short(error)}")]
    except (ValueError, KeyError) as error:
        return [NodeRows(name, problem=f"not an agent: {error}")]


def _get(session: "requests.Session", url: str) -> "requests.Response":
    answer = session.get(url, timeout=_TIMEOUT_S)
    answer.raise_for_status()
    return answer


def _short(error: Exception) -> str:
    import requests

    if isinstance(error, requests.HTTPError) and error.response is not None:
        return f"{error.response.status_code} {error.response.reason}"
    words = {requests.exceptions.SSLError: "TLS failed", requests.Timeout: "no answer in time"}
    return next((text for kind, text in words.items() if isinstance(error, kind)), "connection refused")

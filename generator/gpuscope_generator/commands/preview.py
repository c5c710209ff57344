"""Boards as web pages, without a Grafana."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from gpuscope_generator.commands.artefacts import settings_option
from gpuscope_generator.commands.duration import DURATION
from gpuscope_generator.commands.remote_options import access_options

__all__ = ["preview"]


class _Address(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    name = "host:port"

    def convert(self, value: Any, param: click.Parameter | None, context: click.Context | None) -> tuple[str, int]:
        if isinstance(value, tuple):
            return value
        host, colon, port = str(value).rpartition(":")
        if not colon or not host or not port.isdigit() or int(port) > 65535:
            self.fail(f"{value!r} is not like 127.0.0.1:9850", param, context)
        return host.strip("[]"), int(port)


@click.command()
@click.option("--prometheus", "url", required=True, help="Address, such as http://127.0.0.1:9090.")
@click.option(
    "--dashboards",
    "folder",
    type=click.Path(path_type=Path),
    help="Folder with boards as JSON, read anew at each look; without it they are built from the settings.",
)
@click.option(
    "--listen-address",
    "address",
    type=_Address(),
    default="127.0.0.1:9850",
    show_default=True,
    help="Where to serve; port 0 takes a free one.",
)
@click.option(
    "--scrape-interval",
    "scrape_s",
    type=DURATION,
    default="15s",
    show_default=True,
    help="Scrape interval that Grafana's data source names; $__rate_interval follows from it.",
)
@access_options("GPUSCOPE_PROMETHEUS")
@settings_option
def preview(
    url: str,
    folder: Path | None,
    address: tuple[str, int],
    scrape_s: float,
    settings_file: Path | None,
    **how: Any,
) -> None:
    """Serve the boards as web pages, drawn by the packages that Grafana publishes.

    Field options, thresholds, units, transformations and links are Grafana's own code. Questions go through this
    server to Prometheus; whoever reaches it reads with its permissions, so it listens on the loopback by default.

    \b
    Exit code 0: it was stopped. 2: a flag or file is wrong, the page is not built, or Prometheus cannot be reached
    or does not let us in.
    """
    import asyncio

    from gpuscope_generator.live.prometheus import Prometheus
    from gpuscope_generator.loading import load_settings
    from gpuscope_generator.preview.relay import Relay
    from gpuscope_generator.preview.server import Preview, require_page, serve
    from gpuscope_generator.preview.shelf import built, from_folder
    from gpuscope_generator.remote import access

    settings = load_settings(settings_file)
    require_page()
    shelf = built(settings) if folder is None else from_folder(folder)
    way = access("GPUSCOPE_PROMETHEUS", **how)
    Prometheus(url, way).greet()
    served = Preview(shelf=shelf, relay=Relay(url, way), scrape_s=scrape_s)

    def say(where: str) -> None:
        click.echo(f"{len(shelf.boards)} boards at {where}/ (rendered with Grafana's UI library); Ctrl-C stops it")

    asyncio.run(serve(served, *address, say))

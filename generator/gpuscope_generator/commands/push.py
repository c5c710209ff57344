"""Boards into a running Grafana."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import click

from gpuscope_generator.commands.artefacts import settings_option
from gpuscope_generator.commands.remote_options import access_options

__all__ = ["push"]

_UID = re.compile(r"[a-zA-Z0-9_-]{0,40}")


@click.command()
@click.option("--grafana", "url", required=True, help="Address, such as https://grafana.example.")
@click.option("--folder", "title", default="gpuscope", show_default=True, help="Name of the folder where it is made.")
@click.option(
    "--folder-uid",
    default="gpuscope",
    show_default=True,
    help="Its uid, by which it is found again. Empty puts the boards at the top.",
)
@click.option("--overwrite", is_flag=True, help="Win over somebody who saves the same board at the same time.")
@click.option("--dry-run", is_flag=True, help="Only look, and say what would be done.")
@access_options("GPUSCOPE_GRAFANA")
@settings_option
@click.pass_context
def push(
    context: click.Context,
    /,
    url: str,
    title: str,
    folder_uid: str,
    overwrite: bool,
    dry_run: bool,
    settings_file: Path | None,
    **how: Any,
) -> None:
    """Put the boards into a Grafana through its HTTP API.

    A board that is there already, the same and in the same folder, is left alone: a second push changes nothing.

    \b
    Exit code 0: Grafana has all boards. 1: it refused some of them. 2: it cannot be reached or does not let us in,
    or a flag or file is wrong.
    """
    from gpuscope_generator.dashboards import boards
    from gpuscope_generator.grafana import board_json
    from gpuscope_generator.loading import load_settings
    from gpuscope_generator.pushing import Folder, Grafana
    from gpuscope_generator.remote import access

    if not _UID.fullmatch(folder_uid):
        raise click.BadParameter("at most 40 letters, digits, - and _", param_hint="--folder-uid")
    settings = load_settings(settings_file)
    found = [board_json(board, settings) for board in boards(settings)]
    grafana = Grafana(url, access("GPUSCOPE_GRAFANA", **how), dry_run=dry_run)
    click.echo(f"Grafana {grafana.version()}")
    folder = Folder(folder_uid, title)
    if grafana.ensure(folder):
        click.echo(f"folder {title} {'would be ' if dry_run else ''}created")
    outcomes = []
    for board in found:
        outcome = grafana.push(board, folder, overwrite=overwrite)
        click.echo(f"{outcome.uid} {outcome.verb}{': ' if outcome.detail else ''}{outcome.detail}")
        outcomes.append(outcome)
    if any(outcome.is_failure for outcome in outcomes):
        context.exit(1)

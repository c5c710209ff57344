"""The command that writes a configuration of Alertmanager."""

from __future__ import annotations

from pathlib import Path

import click

from gpuscope_generator.commands.artefacts import output_options, publish_or_check, settings_option

__all__ = ["alertmanager"]


@click.command()
@output_options
@settings_option
@click.option("--show-routes", is_flag=True, help="Write nothing; print who is told what as a table.")
@click.option(
    "--check-secrets",
    is_flag=True,
    help="Refuse when a file that holds a secret is missing or empty; for the machine where Alertmanager runs.",
)
@click.pass_context
def alertmanager(
    context: click.Context, out: Path, check: bool, settings_file: Path | None, show_routes: bool, check_secrets: bool
) -> None:
    """Write the configuration of Alertmanager: alert_rules/alertmanager/.

    Receivers, routes, grouping, what holds back what, and the templates of the messages, from the settings below
    alertmanager; docs/alertmanager.md explains them.

    \b
    gpuscope-generator alertmanager --settings my.yaml --out /tmp/made
    gpuscope-generator alertmanager --settings my.yaml --show-routes
    """
    from gpuscope_generator.alertmanager.configuration import FOLDER, alertmanager_files
    from gpuscope_generator.alertmanager.secret_files import check_secret_files, secret_files
    from gpuscope_generator.alertmanager.table import routes_table
    from gpuscope_generator.loading import load_settings

    settings = load_settings(settings_file)
    chosen = settings.alertmanager
    if check_secrets:
        count = check_secret_files(chosen, str(settings_file or "settings"))
        click.echo(f"{count} files of secrets are there")
    if show_routes:
        click.echo(routes_table(chosen))
        return
    if not check_secrets:
        for key, path in secret_files(chosen):
            if not path.exists():
                click.echo(f"note: {key}: {path} is not on this machine, only Alertmanager needs it", err=True)
    if chosen.receivers and not chosen.told("heartbeat"):
        click.echo("note: alertmanager.routes.heartbeat is missing: nobody learns when alerts stop coming", err=True)
    if chosen.receivers and not (chosen.grafana_url or settings.link_prefix.startswith("http")):
        click.echo("note: alertmanager.grafana_url is missing: messages have no links to boards", err=True)
    publish_or_check(context, out, alertmanager_files(settings), (str(FOLDER),), check=check)

"""``gpuscope settings``."""

import json
from pathlib import Path

import click

from gpuscope.config import COLLECTOR_OPTIONS, OPTIONS
from gpuscope.config.reference import reference, update
from gpuscope.document import update_document

__all__ = ["command"]


@click.command("settings")
@click.option("--collector", is_flag=True, help="The settings of the collector instead.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option(
    "--update",
    "document",
    type=click.Path(path_type=Path),
    help="Put the table between the markers of this Markdown file instead.",
)
@click.option("--check", is_flag=True, help="With --update: change nothing, fail when the file is not current.")
def command(collector: bool, as_json: bool, document: Path | None, check: bool) -> int:
    """Print the reference of the agent's or the collector's settings as a Markdown table.

    \b
    Example: gpuscope settings --update docs/configuration.md
    """
    options = COLLECTOR_OPTIONS if collector else OPTIONS
    if document is not None:
        name = "gpuscope settings --collector" if collector else "gpuscope settings"
        return update_document(document, lambda text: update(text, options), check=check, command=name)
    if as_json:
        rows = [
            {
                "key": option.key,
                "flag": option.flag,
                "variable": option.variable,
                "type": option.type.value,
                "default": option.format(option.default),
                "reload": option.reload,
                "help": option.help,
            }
            for option in options
        ]
        click.echo(json.dumps(rows, indent=2))
        return 0
    click.echo(reference(options), nl=False)
    return 0

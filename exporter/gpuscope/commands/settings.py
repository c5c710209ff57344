"""``gpuscope settings``."""

import json
from pathlib import Path

import click

from gpuscope.config import OPTIONS
from gpuscope.config.reference import reference, update
from gpuscope.document import update_document

__all__ = ["command"]


@click.command("settings")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option(
    "--update",
    "document",
    type=click.Path(path_type=Path),
    help="Put the table between the markers of this Markdown file instead.",
)
@click.option("--check", is_flag=True, help="With --update: change nothing, fail when the file is not current.")
def command(as_json: bool, document: Path | None, check: bool) -> int:
    """Print the reference of the agent's settings as a Markdown table.

    \b
    Example: gpuscope settings --update docs/configuration.md
    """
    if document is not None:
        return update_document(document, update, check=check, command="gpuscope settings")
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
            for option in OPTIONS
        ]
        click.echo(json.dumps(rows, indent=2))
        return 0
    click.echo(reference(), nl=False)
    return 0

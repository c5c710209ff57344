"""``gpuscope settings``."""

import json
from pathlib import Path

import click

from gpuscope.config import OPTIONS
from gpuscope.config.reference import reference, update
from gpuscope.errors import ConfigError

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
        return _update(document, check)
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


def _update(document: Path, check: bool) -> int:
    try:
        old = document.read_text(encoding="utf-8")
        new = update(old)
        if check and new != old:
            click.echo(f"{document} is not current: run `gpuscope settings --update {document}`", err=True)
            return 1
        if new != old:
            temporary = document.with_suffix(".new")
            temporary.write_text(new, encoding="utf-8")
            temporary.replace(document)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise ConfigError(f"--update {document}: {reason}") from error
    return 0

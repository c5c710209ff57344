"""``gpuscope classification``: the rules that say why an attempt ended."""

import dataclasses
import json
from pathlib import Path

import click

from gpuscope.document import update_document
from gpuscope.workloads.classification_reference import update
from gpuscope.workloads.classification_rules import load_rules

__all__ = ["command"]


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option(
    "--update",
    "document",
    type=click.Path(path_type=Path),
    help="Put the tables between the markers of this Markdown file instead.",
)
@click.option("--check", is_flag=True, help="With --update: change nothing, fail when the file is not current.")
def command(as_json: bool, document: Path | None, check: bool) -> int:
    """Print the rules that say why an attempt of a job ended; the first one that holds decides.

    \b
    Example: gpuscope classification --json
    """
    if document is not None:
        return update_document(document, update, check=check, command="gpuscope classification")
    rules = load_rules()
    if as_json:
        rows = [{key: cell for key, cell in dataclasses.asdict(rule).items() if key != "terms"} for rule in rules]
        click.echo(json.dumps(rows, indent=2))
        return 0
    click.echo(f"{'fault type':<18} {'domain':<15} {'scope':<8} {'confidence':<11} when")
    for rule in rules:
        click.echo(f"{rule.fault_type:<18} {rule.domain:<15} {rule.scope:<8} {rule.confidence:<11} {rule.when}")
    return 0

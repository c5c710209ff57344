"""``gpuscope xids``: the XID catalogue that is in force."""

import dataclasses
import json
from pathlib import Path

import click

from gpuscope.document import update_document
from gpuscope.faults.reference import update
from gpuscope.faults.xids import XidCatalogue

__all__ = ["command"]


@click.command()
@click.option("--override", type=click.Path(path_type=Path), help="CSV file whose rows override the shipped ones.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option(
    "--update",
    "document",
    type=click.Path(path_type=Path),
    help="Put the shipped XIDs and SXIDs between the markers of this Markdown file instead.",
)
@click.option("--check", is_flag=True, help="With --update: change nothing, fail when the file is not current.")
@click.argument("codes", nargs=-1, type=int)
def command(override: Path | None, as_json: bool, document: Path | None, check: bool, codes: tuple[int, ...]) -> int:
    """Print the XID catalogue that is in force: what a code means and what to do about it.

    \b
    Example: gpuscope xids 79 94
    """
    if document is not None:
        return update_document(document, update, check=check, command="gpuscope xids")
    catalogue = XidCatalogue.load(override)
    rows = [catalogue.entry(code) for code in codes] if codes else list(catalogue.rows())
    if as_json:
        click.echo(json.dumps([dataclasses.asdict(row) for row in rows], indent=2))
        return 0
    click.echo(f"{'xid':>4}  {'class':<18} {'action':<18} meaning")
    for row in rows:
        note = f" ({row.note})" if row.note else ""
        click.echo(f"{row.code:>4}  {row.fault_class:<18} {row.action:<18} {row.meaning}{note}")
    return 0

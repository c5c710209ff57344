"""Commands that write single pages of the documentation."""

from pathlib import Path

import click

__all__ = ["reference", "tables"]


@click.command()
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False, allow_dash=True),
    default=Path("docs/metrics.md"),
    show_default=True,
    help="File to write; - prints the page.",
)
@click.option("--check", is_flag=True, help="Write nothing; exit 1 and say what differs when the file is stale.")
@click.pass_context
def reference(context: click.Context, output: Path, check: bool) -> None:
    """Write the reference of all metrics.

    The file is replaced in one step, and only when something changed.
    """
    from gpuscope_generator.reference import page

    text = page()
    if str(output) == "-":
        if check:
            raise click.UsageError("--check needs a file, not -")
        click.echo(text, nl=False)
        return
    _publish(context, "--output", output, text, check=check)


@click.command()
@click.option(
    "--page",
    "pages",
    type=click.Path(path_type=Path, dir_okay=False),
    multiple=True,
    default=[Path("README.md")],
    show_default=True,
    help="Page to fill; may be given more than once.",
)
@click.option("--check", is_flag=True, help="Write nothing; exit 1 and say what differs when a page is stale.")
@click.pass_context
def tables(context: click.Context, pages: tuple[Path, ...], check: bool) -> None:
    """Fill the tables inside pages that people write.

    \b
    A page asks for a table with two lines:
      <!-- table: collectors -->
      <!-- end of table -->
    """
    from gpuscope_generator.tables import fill

    for page in pages:
        try:
            text = fill(page.read_text(encoding="utf-8"))
        except OSError as error:
            raise click.ClickException(f"--page {page}: {error.strerror or error}") from error
        except ValueError as error:
            raise click.ClickException(f"--page {page}: {error}") from error
        _publish(context, "--page", page, text, check=check)


def _publish(context: click.Context, flag: str, path: Path, text: str, *, check: bool) -> None:
    from gpuscope_generator import artefact

    try:
        if check:
            found = artefact.difference(path, text)
            if found is not None:
                click.echo(f"{path} is stale; run gpuscope-generator {context.info_name}\n{found}", err=True)
                context.exit(1)
            click.echo(f"{path} is current")
        else:
            changed = artefact.write(path, text)
            click.echo(f"{path} {'written' if changed else 'was current'}")
    except OSError as error:
        raise click.ClickException(f"{flag} {path}: {error.strerror or error}") from error

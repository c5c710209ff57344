"""The command line of the generator."""

import sys
from pathlib import Path

import click

from gpuscope import __version__

__all__ = ["generator", "main"]


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="gpuscope-generator")
def generator() -> None:
    """Builds the files of the repository that follow from the metric catalogue.

    \b
    gpuscope-generator reference            write docs/metrics.md
    gpuscope-generator reference --check    only say whether it is current
    """


@generator.command()
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
    from gpuscope_generator import artefact
    from gpuscope_generator.reference import page

    text = page()
    if str(output) == "-":
        if check:
            raise click.UsageError("--check needs a file, not -")
        click.echo(text, nl=False)
        return
    try:
        if check:
            found = artefact.difference(output, text)
            if found is not None:
                click.echo(f"{output} is stale; run gpuscope-generator reference\n{found}", err=True)
                context.exit(1)
            click.echo(f"{output} is current")
        else:
            changed = artefact.write(output, text)
            click.echo(f"{output} {'written' if changed else 'was current'}")
    except OSError as error:
        raise click.ClickException(f"--output {output}: {error.strerror or error}") from error


def main(arguments: list[str] | None = None) -> None:
    """Runs the command line: a bad flag or an output that cannot be written gives one line and exit code 2."""
    try:
        code = generator.main(args=arguments, prog_name="gpuscope-generator", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        sys.exit(0)
    except click.ClickException as error:
        click.echo(f"gpuscope-generator: error: {error.format_message()}", err=True)
        sys.exit(2)
    except (click.Abort, KeyboardInterrupt):
        sys.exit(130)
    sys.exit(code if isinstance(code, int) else 0)

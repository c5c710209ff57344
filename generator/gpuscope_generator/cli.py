"""The command line of the generator."""

import sys

import click

from gpuscope import __version__
from gpuscope.errors import GpuscopeError
from gpuscope_generator.commands import alertmanager, artefacts, check, documents, preview, push

__all__ = ["generator", "main"]


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="gpuscope-generator")
def generator() -> None:
    """Builds boards, rules, a configuration of Alertmanager, and the pages that follow from the metric catalogue.

    \b
    gpuscope-generator all                       write everything into this folder
    gpuscope-generator all --check               only say whether it is current
    gpuscope-generator dashboards --settings my.yaml --out /tmp/boards
    gpuscope-generator alertmanager --settings my.yaml --show-routes
    gpuscope-generator check --prometheus http://127.0.0.1:9090
    gpuscope-generator preview --prometheus http://127.0.0.1:9090
    gpuscope-generator push --grafana https://grafana.example --token-file token
    """


_DOCUMENTS = (documents.reference, documents.tables)
_OTHERS = (alertmanager.alertmanager, check.check, preview.preview, push.push)
for _command in (*artefacts.everything(), *_DOCUMENTS, *_OTHERS):
    generator.add_command(_command)


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
    except GpuscopeError as error:
        click.echo(f"gpuscope-generator: error: {error}", err=True)
        sys.exit(2)
    except (click.Abort, KeyboardInterrupt):
        sys.exit(130)
    sys.exit(code if isinstance(code, int) else 0)

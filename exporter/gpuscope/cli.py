"""The command line. Commands load what they need when they run, so that ``--help`` is light."""

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from gpuscope import __version__
from gpuscope.config import OPTIONS, Loaded, Option, load
from gpuscope.config.duration import format_duration
from gpuscope.config.settings import Type
from gpuscope.errors import ConfigError

__all__ = ["gpuscope", "main"]

_LAZY = {
    "demo": ("gpuscope.demo.command", "Run a simulated GPU fleet with Prometheus, and show it live."),
    "simulate": ("gpuscope.simulate.command", "List, show and use the scenarios of the simulated driver."),
    "top": ("gpuscope.top", "Show the GPUs of running agents as a live table."),
    "xids": ("gpuscope.faults.command", "Print the XID catalogue that is in force."),
}


class _Group(click.Group):
    """Imports a command's module when the command is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted([*super().list_commands(ctx), *_LAZY])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _LAZY:
            return super().get_command(ctx, cmd_name)
        command: click.Command = importlib.import_module(_LAZY[cmd_name][0]).command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows = [
            (name, _LAZY[name][1]) if name in _LAZY else (name, self._line(ctx, name))
            for name in self.list_commands(ctx)
        ]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def _line(self, ctx: click.Context, name: str) -> str:
        command = self.get_command(ctx, name)
        return command.get_short_help_str(limit=100) if command else ""


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="gpuscope")
def gpuscope() -> None:
    """Correct per-GPU and per-MIG-instance metrics for Prometheus.

    \b
    gpuscope agent                        serve the metrics of this machine's GPUs on :9836
    gpuscope agent --simulate h100-mig    the same on a simulated driver, without a GPU
    gpuscope top                          watch the GPUs of a running agent
    """


def _collect(context: click.Context, parameter: click.Parameter, value: Any) -> Any:
    if value is not None and value != ():
        context.ensure_object(dict)[parameter.metavar_key] = value  # type: ignore[attr-defined]
    return value


class _Setting(click.Option):
    """A click option made of a declared setting."""

    def __init__(self, option: Option) -> None:
        self.metavar_key = option.key
        flag = f"{option.flag}/--no-{option.key}" if option.type is Type.SWITCH else option.flag
        name = option.key.replace(".", "_").replace("-", "_")
        shown = format_duration(option.default) if option.type is Type.DURATION else option.default
        default = (
            "on"
            if shown is True
            else "off"
            if shown is False
            else ",".join(shown)
            if isinstance(shown, tuple)
            else shown
        )
        extra = f"  [{default}]" if default not in {"", 0, "0"} else ""
        super().__init__(
            [name, flag],
            default=None,
            multiple=option.type is Type.LIST,
            metavar=None if option.type is Type.SWITCH else option.type.upper().replace(" ", "_"),
            help=option.help + extra,
            expose_value=False,
            callback=_collect,
        )


def _settings(command: click.Command) -> click.Command:
    command.params[:0] = [_Setting(option) for option in OPTIONS]
    return command


@_settings
@gpuscope.command()
@click.option(
    "--config", "file", type=click.Path(path_type=Path), envvar="GPUSCOPE_CONFIG", help="YAML file with settings."
)
@click.option(
    "--check-config", is_flag=True, help="Check the configuration, print what differs from the defaults, exit."
)
@click.pass_context
def agent(context: click.Context, file: Path | None, check_config: bool) -> None:
    """Serve the metrics of this machine's GPUs.

    Every flag is also an environment variable (--interval.fast is GPUSCOPE_INTERVAL_FAST) and a key of the file
    (interval: {fast: 5s}). A flag wins over a variable, a variable over the file.

    \b
    Signals: SIGHUP reads the configuration again; SIGUSR1 releases the driver (for a GPU reset or a MIG change)
    and takes it up again; SIGTERM ends.

    \b
    Example: gpuscope agent --web.listen-address :9836 --collector.pipes --interval.fast 2s
    """
    flags = {key: list(value) if isinstance(value, tuple) else value for key, value in (context.obj or {}).items()}

    def read() -> Loaded:
        return load(flags, file)

    loaded = read()
    from gpuscope import logs
    from gpuscope.agent import Agent, check

    if check_config:
        check(loaded.settings)
        _print_effective(loaded)
        return
    logs.setup(loaded.settings["log.level"], loaded.settings["log.format"])
    code = Agent(loaded, read).run()
    if code:
        context.exit(code)


def _print_effective(loaded: Loaded) -> None:
    click.echo("configuration is valid")
    for key, origin in sorted(loaded.origins.items()):
        click.echo(f"  {key} = {loaded.settings[key]}  ({origin})")
    click.echo(f"  collectors: {', '.join(sorted(loaded.settings.collectors()))}")


def main(arguments: list[str] | None = None, program: Callable[..., Any] = gpuscope) -> None:
    """Runs the command line: a bad flag or configuration gives one line and exit code 2."""
    try:
        code = program.main(args=arguments, prog_name="gpuscope", standalone_mode=False)  # type: ignore[attr-defined]
    except ConfigError as error:
        click.echo(f"gpuscope: error: {error}", err=True)
        sys.exit(2)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        sys.exit(0)
    except click.ClickException as error:
        click.echo(f"gpuscope: error: {error.format_message()}", err=True)
        sys.exit(2)
    except (click.Abort, KeyboardInterrupt):
        sys.exit(130)
    except BrokenPipeError:
        sys.exit(0)
    sys.exit(code if isinstance(code, int) else 0)

"""The command line. A command's module is imported when the command is used, so that ``--help`` is light."""

import difflib
import importlib
import os
import signal
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from types import CodeType, FrameType
from typing import Any

import click

from gpuscope import __version__
from gpuscope.errors import ConfigError, GpuscopeError

__all__ = ["COMMANDS", "main", "root"]

COMMANDS: Mapping[str, tuple[str, str]] = {
    "agent": ("gpuscope.commands.agent", "Serve the metrics of this machine's GPUs."),
    "classification": (
        "gpuscope.workloads.classification_command",
        "Print the rules that say why an attempt of a job ended.",
    ),
    "collector": ("gpuscope.commands.collector", "Follow the training jobs of a cluster and serve their metrics."),
    "demo": ("gpuscope.demo.command", "Run a simulated GPU fleet with Prometheus, and show it live."),
    "settings": ("gpuscope.commands.settings", "Print the reference of the agent's settings."),
    "simulate": ("gpuscope.simulate.command", "List, show and use the scenarios of the simulated driver."),
    "top": ("gpuscope.top", "Show the GPUs of running agents as a live table."),
    "xids": ("gpuscope.faults.command", "Print the XID catalogue that is in force."),
}
"""Module (its attribute ``command`` is the click command) and one line of help, by name of the command."""

_AGAIN_S = 0.005


class _Lazy(click.Group):
    """Knows its commands by name and imports them one at a time."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(COMMANDS[cmd_name][0]).command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            near = difflib.get_close_matches(args[0], COMMANDS, n=1)
            hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(COMMANDS)}"
            raise click.UsageError(f"{args[0]}: no such command; {hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


@click.group(
    cls=_Lazy,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.version_option(__version__, prog_name="gpuscope")
@click.pass_context
def root(context: click.Context) -> None:
    """Correct per-GPU and per-MIG-instance metrics for Prometheus.

    \b
    Examples:
      gpuscope agent                        serve the metrics of this machine's GPUs on :9836
      gpuscope agent --simulate h100-mig    the same on a simulated driver, without a GPU
      gpuscope top                          watch the GPUs of a running agent
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the command line and exits.

    Exit codes: 0 done; 1 it could not be done; 2 bad flag or configuration, with one line on stderr that names it.
    """
    sys.exit(_run(arguments))


def _hold_signals() -> None:
    """Keeps what is meant for a running agent until ``Agent.take_signals``.

    An exception out of a handler would not do: while modules are imported it may be swallowed, or end up half-way.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2))


def _keep_interrupts() -> None:
    """Ctrl-C that falls into a callback which swallows exceptions, such as a weak reference's, is tried once more."""
    ordinary = sys.unraisablehook
    main_thread = threading.get_ident()

    def unraisable(found: Any) -> None:
        if isinstance(found.exc_value, KeyboardInterrupt):
            threading.Thread(target=again, daemon=True).start()
        else:
            ordinary(found)

    def again() -> None:
        """Interrupts once more, as soon as the main thread has left the hook: there it would be swallowed, too."""
        while _runs(sys._current_frames().get(main_thread), unraisable.__code__):
            time.sleep(_AGAIN_S)
        os.kill(os.getpid(), signal.SIGINT)

    sys.unraisablehook = unraisable


def _runs(frame: FrameType | None, code: CodeType) -> bool:
    while frame is not None:
        if frame.f_code is code:
            return True
        frame = frame.f_back
    return False


def _run(arguments: Sequence[str] | None) -> int:
    words = list(sys.argv[1:] if arguments is None else arguments)
    if arguments is None:
        if words[:1] == ["agent"]:
            _hold_signals()
        else:
            _keep_interrupts()
    try:
        code = root.main(args=words, prog_name="gpuscope", standalone_mode=False)
    except click.UsageError as error:
        path = error.ctx.command_path if error.ctx else _path(words)
        return _fail(f"{_one_line(error.format_message())} (see {path} --help)", 2)
    except (click.ClickException, ConfigError) as error:
        return _fail(_one_line(str(error)), 2)
    except GpuscopeError as error:
        return _fail(_one_line(str(error)), 1)
    except (click.Abort, KeyboardInterrupt):
        return 130
    return code if isinstance(code, int) else 0


def _fail(message: str, code: int) -> int:
    click.echo(f"gpuscope: error: {message}", err=True)
    return code


def _path(words: Sequence[str]) -> str:
    return f"gpuscope {words[0]}" if words and words[0] in COMMANDS else "gpuscope"


def _one_line(text: str) -> str:
    return " ".join(text.split())

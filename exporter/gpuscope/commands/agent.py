"""``gpuscope agent``."""

import os
import threading
from pathlib import Path
from typing import Any

import click

from gpuscope.config import BY_KEY, OPTIONS, Loaded, Option, Type, load
from gpuscope.config.effective import effective

__all__ = ["command"]

_END_S = 1.9
_METAVARS = {Type.DURATION: "DURATION", Type.FILE: "PATH", Type.LIST: "ADDRESS", Type.WHOLE: "N", Type.NUMBER: "X"}


def _name(option: Option) -> str:
    return option.key.replace(".", "_").replace("-", "_")


def _flag(option: Option) -> click.Option:
    written = option.format(option.default)
    switch = option.type is Type.SWITCH
    return click.Option(
        [f"{option.flag}/--no-{option.key}" if switch else option.flag, _name(option)],
        default=None,
        multiple=option.type is Type.LIST,
        metavar=None if switch else "|".join(option.choices).upper() or _METAVARS.get(option.type, "TEXT"),
        type=None if switch else click.UNPROCESSED,
        help=f"{option.help}  [{('on' if option.default else 'off') if switch else written or 'empty'}]",
    )


def _run(file: Path | None, check_config: bool, **given: Any) -> int:
    """Serve the metrics of this machine's GPUs.

    Every flag is also an environment variable (--interval.fast is GPUSCOPE_INTERVAL_FAST) and a key of the file
    (interval: {fast: 5s}). A flag wins over a variable, a variable over the file.

    \b
    Signals:
      SIGHUP         read the configuration again, without an empty scrape
      SIGUSR1        release the driver, for a GPU reset or a MIG change
      SIGUSR2        take the driver up again
      SIGTERM        end

    \b
    Examples:
      gpuscope agent
      gpuscope agent --simulate h100-mig --web.listen-address 127.0.0.1:9836
      gpuscope agent --config /etc/gpuscope.yaml --check-config
    """
    keys = {_name(option): option.key for option in OPTIONS}
    flags = {
        keys[name]: list(value) if isinstance(value, tuple) else value
        for name, value in given.items()
        if value is not None and value != ()
    }

    def read() -> Loaded:
        return load(flags, file)

    loaded = read()
    from gpuscope import logs
    from gpuscope.agent import Agent, check

    if check_config:
        check(loaded)
        click.echo(f"# the configuration is valid; {len(loaded.origins)} of {len(BY_KEY)} settings are not defaults")
        click.echo(effective(loaded), nl=False)
        return 0
    logs.setup(loaded.settings["log.level"], loaded.settings["log.format"])
    agent = Agent(loaded, read)
    agent.take_signals()
    agent.start()
    code = agent.wait()
    # Whatever hangs now, in the driver for example, must not hold up the service manager.
    last_resort = threading.Timer(_END_S, os._exit, (code,))
    last_resort.daemon = True
    last_resort.start()
    agent.stop()
    return code


command = click.Command(
    "agent",
    callback=_run,
    help=_run.__doc__,
    context_settings={"max_content_width": 110},
    params=[
        *(_flag(option) for option in OPTIONS),
        click.Option(
            ["--config", "file"],
            type=click.Path(path_type=Path),
            envvar="GPUSCOPE_CONFIG",
            help="YAML file with settings; also GPUSCOPE_CONFIG.",
        ),
        click.Option(
            ["--check-config"],
            is_flag=True,
            help="Check the whole configuration, print the settings in force and where they come from, and exit.",
        ),
    ],
)

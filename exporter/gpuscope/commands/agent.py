"""``gpuscope agent``."""

import os
import threading
from pathlib import Path
from typing import Any

import click

from gpuscope.commands.flags import flags, given
from gpuscope.config import BY_KEY, OPTIONS, Loaded, load
from gpuscope.config.effective import effective

__all__ = ["command"]

_END_S = 1.9


def _run(file: Path | None, check_config: bool, **values: Any) -> int:
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
    said = given(OPTIONS, values)

    def read() -> Loaded:
        return load(said, file)

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
    params=flags(OPTIONS),
)

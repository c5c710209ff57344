"""``gpuscope collector``."""

import signal
import threading
from pathlib import Path
from typing import Any

import click

from gpuscope.commands.flags import flags, given
from gpuscope.config import COLLECTOR_OPTIONS, load
from gpuscope.config.effective import effective
from gpuscope.errors import ConfigError

__all__ = ["command"]


def _run(file: Path | None, check_config: bool, **values: Any) -> int:
    """Follow the training jobs of a cluster, and serve metrics of their life, faults and recovery.

    One collector per cluster, beside an agent on each node. Every flag is also an environment variable
    (--slurm.commands is GPUSCOPE_SLURM_COMMANDS) and a key of the file.

    \b
    Examples:
      gpuscope collector --slurm --state-file /var/lib/gpuscope/jobs.sqlite
      gpuscope collector --kubernetes --web.listen-address 127.0.0.1:9837
    """
    told = given(COLLECTOR_OPTIONS, values)
    if not all(url.strip() for url in told.get("agents", ())):
        raise ConfigError("--agents: is empty")
    loaded = load(told, file, options=COLLECTOR_OPTIONS)
    settings = loaded.settings
    if not (settings["slurm"] or settings["kubernetes"]):
        raise ConfigError("nothing to follow: give --slurm, --kubernetes, or both")
    from gpuscope import logs
    from gpuscope.api import WebSettings
    from gpuscope.api.web_config import load_web_config
    from gpuscope.collector import Collector
    from gpuscope.collector.sources import election, sources
    from gpuscope.faults.xids import XidCatalogue
    from gpuscope.workloads.agent_access import AgentAccess, Credentials
    from gpuscope.workloads.agent_target import check_urls
    from gpuscope.workloads.limits import Limits
    from gpuscope.workloads.store import Store

    web = WebSettings.of(settings)
    web.check()
    load_web_config(web.web_config_file)
    xids = XidCatalogue.load(settings.file("xid-catalogue"))
    credentials = Credentials(
        settings["agents.user"],
        *(settings.file(f"agents.{name}-file") for name in ("password", "ca", "cert", "key")),
    )
    credentials.check(check_urls(settings["agents"]))
    access = AgentAccess(credentials)
    open_sources = sources(settings)
    if check_config:
        click.echo(f"# the configuration is valid; {len(loaded.origins)} of {len(COLLECTOR_OPTIONS)} are not defaults")
        click.echo(effective(loaded), nl=False)
        return 0
    logs.setup(settings["log.level"], settings["log.format"])
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    state_file = settings.file("state-file")
    collector = Collector(
        open_sources, lambda: Store(state_file), election(settings), web, xids, interval_s=settings["interval"],
        agents=settings["agents"], stalled_after_s=settings["stalled-after"],
        counter_hold_s=settings["counter-hold"], agent_access=access,
        limits=Limits(settings["max-jobs"], settings["max-owners"]),
    )  # fmt: skip
    collector.start()
    # A signal that comes just before the wait begins does not end it: its handler runs when the wait does.
    while not ended.wait(1):
        pass
    collector.stop()
    return 0


command = click.Command(
    "collector",
    callback=_run,
    help=_run.__doc__,
    context_settings={"max_content_width": 110},
    params=flags(COLLECTOR_OPTIONS),
)

"""The complete check of a configuration: reads every file that it names, opens no port, starts nothing."""

import os
import re
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from gpuscope.api import WebSettings
from gpuscope.api.listen import parse_address
from gpuscope.api.web_config import load_web_config
from gpuscope.config import BY_KEY, Loaded, Settings
from gpuscope.errors import ConfigError
from gpuscope.faults.xids import XidCatalogue
from gpuscope.simulate import Scenario
from gpuscope.simulate import load as load_scenario

__all__ = ["FILESYSTEM_PATTERNS", "Checked", "check"]

FILESYSTEM_PATTERNS = ("filesystem.types", "filesystem.scratch", "filesystem.exclude")
"""Settings that are regular expressions."""

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Checked:
    """A configuration that was found good, and what was read for it.

    Attributes:
        loaded: settings and their origins.
        web: settings of the HTTP server.
        xids: XID catalogue with the user's rows.
        scenario: the machine to simulate, or ``None``.
        state_dir: folder for the position in the kernel log, or ``None``.
    """

    loaded: Loaded
    web: WebSettings
    xids: XidCatalogue
    scenario: Scenario | None
    state_dir: Path | None

    @property
    def settings(self) -> Settings:
        """The settings."""
        return self.loaded.settings


def check(loaded: Loaded) -> Checked:
    """Checks everything that a start would need, but for ports being free.

    Raises:
        ConfigError: the first thing that is wrong; names the flag, the variable, or file, line and key.
    """
    settings = loaded.settings
    web = WebSettings.of(settings)
    try:
        for address in web.listen_addresses:
            parse_address(address)
        web.check()
    except ConfigError as error:
        raise _with_origin(loaded, error) from error
    _named(loaded, "web.config.file", lambda: load_web_config(web.web_config_file))
    xids = _named(loaded, "xid-catalogue", lambda: XidCatalogue.load(settings.file("xid-catalogue")))
    scenario = _named(loaded, "simulate", lambda: load_scenario(settings["simulate"])) if settings["simulate"] else None
    if not Path(settings["path.procfs"]).is_dir():
        raise loaded.error("path.procfs", f"{settings['path.procfs']}: not a folder")
    _check_kernel_log(loaded)
    _check_filesystems(loaded)
    return Checked(loaded, web, xids, scenario, _state_dir(loaded))


def _named(loaded: Loaded, key: str, read: Callable[[], _T]) -> _T:
    try:
        return read()
    except ConfigError as error:
        raise loaded.error(key, str(error)) from error


def _with_origin(loaded: Loaded, error: ConfigError) -> ConfigError:
    """The HTTP server's errors begin with the flag; the value may come from elsewhere."""
    key = str(error).partition(" ")[0].removeprefix("--").rstrip(":")
    origin = loaded.origins.get(key, "")
    if key not in BY_KEY or origin in {"", BY_KEY[key].flag}:
        return error
    return ConfigError(f"{origin}: {error}")


def _check_kernel_log(loaded: Loaded) -> None:
    wanted = loaded.settings["kernel-log"]
    if wanted in BY_KEY["kernel-log"].choices:
        return
    try:
        opened = os.open(wanted, os.O_RDONLY | os.O_NONBLOCK)
    except OSError as error:
        raise loaded.error("kernel-log", f"{wanted}: cannot be read: {error.strerror}") from error
    folder = stat.S_ISDIR(os.fstat(opened).st_mode)
    os.close(opened)
    if folder:
        raise loaded.error("kernel-log", f"{wanted}: is a folder")


def _check_filesystems(loaded: Loaded) -> None:
    for key in FILESYSTEM_PATTERNS:
        try:
            re.compile(loaded.settings[key])
        except (re.error, RecursionError, OverflowError) as error:
            raise loaded.error(key, f"{loaded.settings[key]!r} is no regular expression: {error}") from error
    for path in loaded.settings["filesystem.expected"]:
        if not path.startswith("/"):
            raise loaded.error("filesystem.expected", f"{path!r} is no mount point: it has to begin with /")


def _state_dir(loaded: Loaded) -> Path | None:
    # systemd gives the folders of StateDirectory= here, colons between them.
    folder = loaded.settings["state-dir"] or os.environ.get("STATE_DIRECTORY", "").partition(":")[0]
    if not folder:
        return None
    if not (Path(folder).is_dir() and os.access(folder, os.W_OK | os.X_OK)):
        raise loaded.error("state-dir", f"{folder}: not a folder that can be written to")
    return Path(folder)

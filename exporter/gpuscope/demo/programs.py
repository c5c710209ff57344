"""Programs of the distribution, without installing them: found on PATH, or downloaded and unpacked into a cache."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from gpuscope.demo.packages import unpack
from gpuscope.demo.relocation import relocate
from gpuscope.errors import SourceError

__all__ = ["default_cache", "find", "main"]

_PACKAGES = {
    "prometheus": ("prometheus",),
    "promtool": ("prometheus", "promtool"),
    "alertmanager": ("prometheus-alertmanager",),
    "amtool": ("prometheus-alertmanager",),
}
"""Packages that may hold a program, the likeliest first: newer releases of Debian split promtool off."""
_NAMES = {"alertmanager": ("prometheus-alertmanager", "alertmanager")}
"""What a program may be called: Debian's name first."""


def default_cache() -> Path:
    """``.cache`` of a clone, when run in one; else the user's cache folder."""
    here = Path.cwd()
    if (here / "exporter/gpuscope").is_dir() and (here / "pyproject.toml").is_file():
        return here / ".cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gpuscope"


def find(program: str, cache: Path, tell: Callable[[str], None] = lambda _: None) -> Path:
    """Returns the path of a program, downloading its package when it is nowhere.

    Nothing is installed and no service starts; root is not needed.

    Args:
        program: ``prometheus``, ``promtool``, ``alertmanager`` or ``amtool``. Alertmanager must be started in the
            folder that ``gpuscope.demo.relocation.folder_of`` gives.
        cache: folder for downloaded packages.
        tell: called with progress.

    Raises:
        SourceError: it cannot be had; the message says how to install it by hand.
    """
    names = _NAMES.get(program, (program,))
    for name in names:
        on_path = shutil.which(name)
        if on_path:
            return Path(on_path)
    # Its tools run in another folder, where a relative path would lead elsewhere.
    cache = cache.resolve()
    unpacked = cache / "programs"
    place = unpacked / "usr/bin" / names[0]
    for package in _PACKAGES[program]:
        if place.exists():
            return place
        tell(f"downloading the package {package} of the distribution into {unpacked}")
        unpack([package], cache, unpacked, finish=relocate)
    if place.exists():
        return place
    raise SourceError(f"{program} is in none of the packages {', '.join(_PACKAGES[program])}")


def main() -> None:
    """Fetches all programs; for ``make``."""
    for program in _PACKAGES:
        print(f"{program}: {find(program, default_cache(), print)}")


if __name__ == "__main__":
    main()

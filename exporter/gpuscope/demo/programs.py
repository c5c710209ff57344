"""Programs of the distribution, without installing them: found on PATH, or downloaded and unpacked into a cache."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from gpuscope.errors import SourceError

__all__ = ["default_cache", "find", "main"]

_PACKAGES = {
    "prometheus": ("prometheus",),
    "promtool": ("prometheus", "promtool"),
}
"""Packages that may hold a program, the likeliest first: newer releases of Debian split promtool off."""


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
        program: ``prometheus`` or ``promtool``.
        cache: folder for downloaded packages.
        tell: called with progress.

    Raises:
        SourceError: it cannot be had; the message says how to install it by hand.
    """
    on_path = shutil.which(program)
    if on_path:
        return Path(on_path)
    # Its tools run in another folder, where a relative path would lead elsewhere.
    cache = cache.resolve()
    unpacked = cache / "programs"
    place = unpacked / "usr/bin" / program
    for package in _PACKAGES[program]:
        if place.exists():
            return place
        tell(f"downloading the package {package} of the distribution into {unpacked}")
        _unpack(package, cache, unpacked)
    if place.exists():
        return place
    raise SourceError(f"{program} is in none of the packages {', '.join(_PACKAGES[program])}")


def _unpack(package: str, cache: Path, target: Path) -> None:
    for tool in ("apt-get", "dpkg-deb"):
        if shutil.which(tool) is None:
            raise SourceError(f"{package}: not on PATH, and without {tool} it cannot be fetched; install {package}")
    try:
        cache.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SourceError(f"{cache}: cannot be made: {error.strerror}; give another --cache-dir") from error
    with tempfile.TemporaryDirectory(dir=cache) as folder:
        work = Path(folder)
        # First with the lists that the machine has; they may be missing or old.
        failure = _run(["apt-get", "-qq", "download", package], work)
        if failure:
            options = _own_lists(cache / "apt")
            failure = _run(["apt-get", "-qq", *options, "update"], work)
            failure = failure or _run(["apt-get", "-qq", *options, "download", package], work)
        packages = list(work.glob("*.deb"))
        if failure or not packages:
            raise SourceError(f"{package} cannot be downloaded: {failure}; try: sudo apt-get install {package}")
        # Unpacked beside its place and then moved, so that a broken run leaves nothing half-done.
        fresh = work / "root"
        failure = _run(["dpkg-deb", "-x", str(packages[0]), str(fresh)], work)
        if failure:
            raise SourceError(f"{packages[0].name} cannot be unpacked: {failure}")
        shutil.copytree(fresh, target, symlinks=True, dirs_exist_ok=True)


def _own_lists(root: Path) -> list[str]:
    """Options that make apt keep its lists below ``root``, so that an ordinary user can update them."""
    for part in ("lists/partial", "archives/partial"):
        (root / part).mkdir(parents=True, exist_ok=True)
    settings = [
        f"Dir::State::lists={root}/lists",
        f"Dir::Cache={root}",
        f"Dir::Cache::archives={root}/archives",
        "Acquire::Languages=none",
        "Debug::NoLocking=1",
    ]
    if os.geteuid() == 0:
        settings.append("APT::Sandbox::User=root")
    return [part for setting in settings for part in ("-o", setting)]


def _run(command: list[str], folder: Path) -> str:
    """Runs a command; returns an empty string, or the last line that it complained with."""
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)  # noqa: S603
    if result.returncode == 0:
        return ""
    lines = (result.stderr or result.stdout).strip().splitlines()
    return lines[-1] if lines else f"exit code {result.returncode}"


def main() -> None:
    """Fetches all programs; for ``make``."""
    for program in _PACKAGES:
        print(f"{program}: {find(program, default_cache(), print)}")


if __name__ == "__main__":
    main()

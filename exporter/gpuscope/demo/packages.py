"""Packages of the distribution, unpacked into a folder: no root, no service, nothing installed."""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from gpuscope.errors import SourceError

__all__ = ["unpack"]

_TIMEOUT_S = 900.0
"""For the longest step, which downloads 100 MB at a bad hour."""


def unpack(
    packages: Sequence[str],
    cache: Path,
    target: Path,
    *,
    installed: str | None = None,
    finish: Callable[[Path], None] = lambda _: None,
) -> list[str]:
    """Downloads packages and unpacks them into a folder, whole or not at all.

    Args:
        packages: their names.
        cache: folder for the lists of packages, and for the work.
        target: gets what the packages hold; what is there already stays.
        installed: what counts as installed, in the form of dpkg's status file: then everything beyond it that the
            packages depend on is unpacked, too. None unpacks the packages alone.
        finish: called with the fresh folder before it moves to its place.

    Returns:
        Names of the packages that were unpacked.

    Raises:
        SourceError: a tool is missing, the cache cannot be made, or a package cannot be had; the message says what to
            install by hand.
    """
    for tool in ("apt-get", "dpkg-deb"):
        if shutil.which(tool) is None:
            first = packages[0]
            raise SourceError(f"{first}: not on PATH, and without {tool} it cannot be fetched; install {first}")
    # Its tools run in another folder, where a relative path would lead elsewhere.
    cache, target = cache.resolve(), target.resolve()
    try:
        cache.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SourceError(f"{cache}: cannot be made: {error.strerror}; give another --cache-dir") from error
    with tempfile.TemporaryDirectory(dir=cache) as folder:
        work = Path(folder)
        wanted = _download(packages, cache, work, installed)
        # Unpacked beside its place and then moved, so that a broken run leaves nothing half-done.
        fresh = work / "root"
        for package in sorted(work.glob("*.deb")):
            failure, _ = _run(["dpkg-deb", "-x", str(package), str(fresh)], work)
            if failure:
                raise SourceError(f"{package.name} cannot be unpacked: {failure}")
        finish(fresh)
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.exists():
            shutil.copytree(fresh, target, symlinks=True, dirs_exist_ok=True)
        else:
            fresh.rename(target)
    return wanted


def _download(packages: Sequence[str], cache: Path, work: Path, installed: str | None) -> list[str]:
    """Puts the packages into ``work``; gives their names."""
    options = []
    if installed is not None:
        (work / "status").write_text(installed, encoding="utf-8")
        options = ["-o", f"Dir::State::status={work / 'status'}"]
    # First with the lists that the machine has; they may be missing or old.
    failure, wanted = _try_download(packages, work, options, alone=installed is None)
    if failure:
        options += _own_lists(cache / "apt")
        failure, _ = _run(["apt-get", "-qq", *options, "update"], work)
        if not failure:
            failure, wanted = _try_download(packages, work, options, alone=installed is None)
    if failure or not any(work.glob("*.deb")):
        names = " ".join(packages)
        raise SourceError(f"{names} cannot be downloaded: {failure}; try: sudo apt-get install {names}")
    return wanted


def _try_download(packages: Sequence[str], work: Path, options: list[str], *, alone: bool) -> tuple[str, list[str]]:
    wanted = list(packages)
    if not alone:
        failure, plan = _run(["apt-get", "-s", *options, "install", "--no-install-recommends", *packages], work)
        if failure:
            return failure, []
        wanted = re.findall(r"^Inst (\S+)", plan, re.MULTILINE)
    failure, _ = _run(["apt-get", "-qq", *options, "download", *wanted], work)
    return failure, wanted


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


def _run(command: list[str], folder: Path) -> tuple[str, str]:
    """Runs a command; returns the last line that it complained with, empty when all went well, and its output."""
    try:
        result = subprocess.run(  # noqa: S603
            command, cwd=folder, capture_output=True, text=True, check=False, timeout=_TIMEOUT_S
        )
    except subprocess.TimeoutExpired:
        return f"no end after {_TIMEOUT_S:.0f} s", ""
    if result.returncode == 0:
        return "", result.stdout
    lines = (result.stderr or result.stdout).strip().splitlines()
    return lines[-1] if lines else f"exit code {result.returncode}", ""

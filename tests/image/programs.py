"""Programs that build and run container images, the base of the image, and its wheels; fetched into the cache.

Usage: ``python -m tests.image.programs``, as root. Nothing is installed: the buildah, podman and runc of Debian are
unpacked into the cache, a base like that of the Dockerfile comes from debootstrap, and what the build would ask an
index for is downloaded here, since the build has no network.
"""

import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path

from tests.generator.alertmanager.install_newest import KEYRING, mirror

from gpuscope.demo.packages import unpack
from gpuscope.errors import SourceError

__all__ = ["CACHE", "ROOT", "SUITE", "fetch_base", "fetch_programs", "fetch_wheels", "programs"]

ROOT = Path(__file__).parents[2]
CACHE = ROOT / ".cache/image"
SUITE = "trixie"
"""Has the Python of the Dockerfile's own base."""
PYTHON = "3.13"
WANTED = ("buildah", "podman", "runc", "debootstrap")
# Installed already or not, these have to lie in the folder, so that every machine runs the same.
OWN = re.compile(r"^Package: (?:buildah|podman|runc|conmon|debootstrap|golang-github-containers-\w+)$", re.MULTILINE)
TIMEOUT_S = 1800
PLATFORMS = ("manylinux_2_28", "manylinux_2_17", "manylinux2014", "manylinux_2_5", "manylinux1")


def programs(cache: Path = CACHE) -> Path:
    """Where the programs are unpacked."""
    return cache / "programs"


def fetch_programs(cache: Path = CACHE) -> None:
    """Unpacks buildah, podman and runc, unless it was done.

    Raises:
        SourceError: they cannot be had; the message says what to install by hand.
    """
    target = programs(cache)
    if (target / "usr/bin/podman").exists():
        return
    shutil.rmtree(target, ignore_errors=True)
    status = Path("/var/lib/dpkg/status").read_text(encoding="utf-8").split("\n\n")
    installed = "\n\n".join(one for one in status if not OWN.search(one))
    print(f"unpacking {', '.join(WANTED)} into {target}", flush=True)
    unpack(WANTED, cache, target, installed=installed)


def fetch_base(cache: Path = CACHE) -> Path:
    """Makes the root folder of a base image, unless it was made.

    Raises:
        SourceError: debootstrap fails, or this machine takes no packages from Debian.
    """
    base = cache / f"base-{SUITE}"
    if base.exists():
        return base
    site = mirror()
    if not site or not KEYRING.exists():
        raise SourceError("this machine takes no packages from Debian; name a base of a registry with BASE=...")
    print(f"making a base of Debian {SUITE} in {base}", flush=True)
    with tempfile.TemporaryDirectory(dir=cache) as work:
        folder = Path(work) / "root"
        tools = programs(cache)
        command = [str(tools / "usr/sbin/debootstrap"), "--variant=minbase", f"--keyring={KEYRING}"]
        command += ["--include=python3,python3-venv,ca-certificates", SUITE, str(folder), site]
        _run(command, env=os.environ | {"DEBOOTSTRAP_DIR": str(tools / "usr/share/debootstrap")})
        for spare in ("var/cache/apt/archives", "var/lib/apt/lists", "var/log"):
            for path in (folder / spare).rglob("*"):
                if path.is_file():
                    path.unlink()
        folder.chmod(0o755)
        folder.rename(base)
    return base


def fetch_wheels(cache: Path = CACHE) -> Path:
    """Downloads the wheels of the image, unless those of this pyproject.toml are there.

    Raises:
        SourceError: pip cannot get them.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wanted = [
        *project["build-system"]["requires"],
        *project["project"]["dependencies"],
        *project["project"]["optional-dependencies"]["collector"],
    ]
    version = hashlib.sha256("\n".join([PYTHON, *wanted]).encode()).hexdigest()[:12]
    target = cache / f"wheels-{version}"
    if target.exists():
        return target
    print(f"downloading wheels for Python {PYTHON} into {target}", flush=True)
    with tempfile.TemporaryDirectory(dir=cache) as work:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--dest", f"{work}/wheels"]
        command += ["--only-binary=:all:", "--implementation=cp", f"--python-version={PYTHON}"]
        command += [f"--platform={name}_{platform.machine()}" for name in PLATFORMS]
        _run([*command, *wanted])
        (Path(work) / "wheels").rename(target)
    return target


def _run(command: Sequence[str], env: dict[str, str] | None = None) -> None:
    done = subprocess.run(command, capture_output=True, text=True, env=env, check=False, timeout=TIMEOUT_S)
    if done.returncode:
        lines = (done.stderr.strip() or done.stdout.strip() or f"exit code {done.returncode}").splitlines()
        raise SourceError(f"{Path(command[0]).name}: {lines[-1]}")


def main() -> None:
    """Fetches what is missing; says in one line what cannot be had."""
    if os.geteuid():
        sys.exit("building and running the image takes root: sudo make test-image")
    try:
        CACHE.mkdir(parents=True, exist_ok=True)
        fetch_programs()
        if not os.environ.get("BASE"):
            fetch_base()
        fetch_wheels()
    except SourceError as error:
        sys.exit(f"the image cannot be checked: {error}")


if __name__ == "__main__":
    main()

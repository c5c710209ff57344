"""Fetches the newest Alertmanager that Debian has and unpacks it into a folder: nothing installed, no root.

Usage: ``python install_newest.py FOLDER``. Where it cannot be had, as on Ubuntu, which cannot check Debian's
signatures, it says so in ``FOLDER/missing``; the tests then run on the distribution's own Alertmanager alone, and say
that.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from gpuscope.demo.relocation import relocate

SUITE = "sid"
PACKAGE = "prometheus-alertmanager"
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
TIMEOUT_S = 600


def mirror() -> str:
    """The address that this machine already takes its Debian packages from; empty where it takes none."""
    targets = run(["apt-get", "indextargets", "--format", "$(SITE)", "Identifier: Packages"])
    return next((site for site in targets.splitlines() if "debian" in site and "security" not in site), "")


def run(command: list[str], folder: Path | None = None) -> str:
    """Runs a command and gives its output."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=TIMEOUT_S, check=True)
    return done.stdout


def fetch(site: str, target: Path) -> None:
    """Downloads with lists of its own, which apt checks by Debian's signatures, and unpacks."""
    with tempfile.TemporaryDirectory() as name:
        state = Path(name)
        for part in ("lists/partial", "cache/archives/partial", "debs"):
            (state / part).mkdir(parents=True)
        (state / "sources.list").write_text(f"deb [signed-by={KEYRING}] {site} {SUITE} main\n", encoding="utf-8")
        options = [
            f"Dir::Etc::sourcelist={state}/sources.list",
            "Dir::Etc::sourceparts=-",
            f"Dir::State::lists={state}/lists",
            f"Dir::Cache={state}/cache",
            "Acquire::Languages=none",
            "Acquire::Check-Valid-Until=false",
            *(["APT::Sandbox::User=root"] if os.geteuid() == 0 else []),
        ]
        apt = ["apt-get", "-qq", *(word for option in options for word in ("-o", option))]
        run([*apt, "update"])
        run([*apt, "download", PACKAGE], state / "debs")
        for package in (state / "debs").glob("*.deb"):
            run(["dpkg-deb", "-x", str(package), str(state / "root")])
        relocate(state / "root")
        shutil.copytree(state / "root", target, symlinks=True, dirs_exist_ok=True)


def main() -> None:
    """Does it, unless it was done."""
    target = Path(sys.argv[1])
    if (target / "usr/bin/amtool").exists():
        return
    target.mkdir(parents=True, exist_ok=True)
    reason = ""
    try:
        site = mirror()
        if site and KEYRING.exists():
            fetch(site, target)
        else:
            reason = "this machine takes no packages from Debian"
    except (OSError, subprocess.SubprocessError) as error:
        reason = f"{getattr(error, 'stderr', None) or error}".strip()
    if reason:
        (target / "missing").write_text(reason, encoding="utf-8")
        print(f"the newest {PACKAGE} cannot be had: {reason}")
    else:
        (target / "missing").unlink(missing_ok=True)
        print(run([str(target / "usr/bin/amtool"), "--version"]).partition("\n")[0])


if __name__ == "__main__":
    main()

"""Fetches Slurm from the distribution's packages and unpacks it into a folder: no root, no service, nothing installed.

Usage: ``python install_slurm.py FOLDER``; where unpacking fails it says how to install the packages with apt.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

WANTED = ("slurmctld", "slurmd", "slurm-client", "munge")
# Installed already or not, these have to lie in the folder: programs find their plugins beside them.
OWN = re.compile(r"^Package: (?:slurm|munge|libmunge|libslurm)")


def run(command: list[str], folder: Path) -> str:
    """Output of a command; exits with what it complained about."""
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=300)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command[:3])}: {result.stderr.strip()}\ntry: sudo apt-get install {' '.join(WANTED)}")
    return result.stdout


def lists_of_its_own(folder: Path) -> list[str]:
    """Options that let an ordinary user fetch the lists of packages anew."""
    (folder / "lists/partial").mkdir(parents=True, exist_ok=True)
    (folder / "archives/partial").mkdir(parents=True, exist_ok=True)
    options = [f"Dir::State::lists={folder}/lists", f"Dir::Cache={folder}", "Debug::NoLocking=1"]
    options += ["APT::Sandbox::User=root"] if os.geteuid() == 0 else []
    return [part for option in options for part in ("-o", option)]


def main() -> None:
    """Does it, unless it was done, or ``SLURM_ROOT`` names another folder that has Slurm."""
    if os.environ.get("SLURM_ROOT"):
        return
    target = Path(sys.argv[1]).resolve()
    if (target / "usr/bin/scontrol").exists():
        return
    for tool in ("apt-get", "dpkg-deb"):
        if shutil.which(tool) is None:
            sys.exit(f"{tool} is missing: install Slurm by hand and set SLURM_ROOT to the folder that has usr/bin")
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
        folder = Path(scratch)
        status = Path("/var/lib/dpkg/status").read_text(encoding="utf-8").split("\n\n")
        (folder / "status").write_text("\n\n".join(one for one in status if not OWN.match(one)), encoding="utf-8")
        options = [*lists_of_its_own(folder / "apt"), "-o", f"Dir::State::status={folder}/status"]
        run(["apt-get", "-qq", *options, "update"], folder)
        plan = run(["apt-get", "-s", *options, "install", "--no-install-recommends", *WANTED], folder)
        packages = re.findall(r"^Inst (\S+)", plan, re.MULTILINE)
        run(["apt-get", "-qq", *options, "download", *packages], folder)
        for package in sorted(folder.glob("*.deb")):
            run(["dpkg-deb", "-x", str(package), str(folder / "root")], folder)
        # Debian's alternatives give these their names, and Slurm asks its own name what it is.
        for program in (folder / "root/usr/sbin").glob("*-wlm"):
            program.with_name(program.name.removesuffix("-wlm")).symlink_to(program.name)
        shutil.rmtree(target, ignore_errors=True)
        (folder / "root").rename(target)
    print(f"unpacked {', '.join(packages)} into {target}")


if __name__ == "__main__":
    main()

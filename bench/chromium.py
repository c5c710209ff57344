"""Fetches a Chromium without a window from the distribution's packages: no root, no service, nothing installed.

Usage: ``python bench/chromium.py FOLDER``. Where the machine has a Chromium nothing is done; else FOLDER gets one with
every library and font that it needs, and ``FOLDER/bin/chromium`` starts it.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from gpuscope.demo.packages import unpack
from gpuscope.errors import SourceError

NAMES = ("chromium", "chromium-browser", "google-chrome")
WANTED = ("chromium-headless-shell", "fonts-dejavu-core")
# The C library has to be the machine's own, that of the linker; the rest belongs to desktops.
THERE = ("libc6", "debconf", "x11-utils", "xdg-utils")
START = """\
#!/bin/sh
# Chromium out of a folder: libraries and fonts are those beside it, whatever the machine has.
root=$(cd "$(dirname "$0")/.." && pwd)
libraries=$(find "$root/usr/lib" "$root/lib" -maxdepth 2 -path '*-linux-gnu*' -type d 2>/dev/null | tr '\\n' ':')
export LD_LIBRARY_PATH="$libraries${LD_LIBRARY_PATH:-}"
sed "s|@root@|$root|" "$root/fonts.conf.in" > "$root/fonts.conf.$$" && mv "$root/fonts.conf.$$" "$root/fonts.conf"
export FONTCONFIG_FILE="$root/fonts.conf"
exec "$root/usr/lib/chromium/chromium-headless-shell" "$@"
"""
FONTS = """\
<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>@root@/usr/share/fonts</dir>
  <cachedir>@root@/var/cache/fontconfig</cachedir>
  <alias><family>sans-serif</family><prefer><family>DejaVu Sans</family></prefer></alias>
  <alias><family>monospace</family><prefer><family>DejaVu Sans Mono</family></prefer></alias>
</fontconfig>
"""


def find() -> str | None:
    """A Chromium on PATH."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


def finish(root: Path) -> None:
    """Adds what starts it, and the settings of its fonts."""
    (root / "fonts.conf.in").write_text(FONTS, encoding="utf-8")
    program = root / "bin/chromium"
    program.parent.mkdir(exist_ok=True)
    program.write_text(START, encoding="utf-8")
    program.chmod(0o755)


def main() -> None:
    """Does it, and proves that it starts."""
    target = Path(sys.argv[1]).resolve()
    program = target / "bin/chromium"
    if find() or program.exists():
        return
    status = "\n".join(
        f"Package: {name}\nStatus: install ok installed\nArchitecture: {architecture()}\nVersion: 9999\n"
        f"Maintainer: -\nMulti-Arch: same\nDescription: there\n"
        for name in THERE
    )
    print(f"· downloading a Chromium of the distribution into {target} (120 MB)", file=sys.stderr)
    try:
        packages = unpack(WANTED, target.parent, target, installed=status, finish=finish)
    except SourceError as error:
        sys.exit(f"chromium: {error}\nor put a Chromium on PATH")
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=False, timeout=60)
    if done.returncode:
        shutil.rmtree(target)
        sys.exit(f"chromium: what {len(packages)} packages hold does not start: {done.stderr.strip()}")
    print(f"· {done.stdout.strip()}, out of {len(packages)} packages", file=sys.stderr)


def architecture() -> str:
    """Debian's name of this machine's kind."""
    done = subprocess.run(["dpkg", "--print-architecture"], capture_output=True, text=True, check=True, timeout=60)
    return done.stdout.strip()


if __name__ == "__main__":
    main()

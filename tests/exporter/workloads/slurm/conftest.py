"""Slurm's commands as small programs that tell recorded answers."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

DATA = Path(__file__).parent / "data"

_SCRIPT = """#!/bin/sh
# Answers as the Slurm did whose answers lie in {folder}; files beside the program rule how it fails, how far its
# clock is ahead, and that they are being changed.
here=$(dirname "$0")
echo "$(basename "$0") $*" >> "$here/calls"
name=$(basename "$0")
if [ -e "$here/$name.fail" ]; then
    case "$*" in *--version | *--helpformat) ;; *) cat "$here/$name.fail" >&2; exit 1 ;; esac
fi
waited=0
while [ -e "$here/busy" ] && [ $waited -lt 300 ]; do sleep 0.1; waited=$((waited + 1)); done
there=$(($(date +%s) + $(cat "$here/ahead" 2>/dev/null || echo 0)))
tell() {{
    if [ -e "$here/$1" ]; then sed "s/@NOW@/$there/g" "$here/$1"; else echo "$name: unrecognized option" >&2; exit 1; fi
}}
case "$name $*" in
    *--version) tell version.txt ;;
    *--helpformat) tell fields.txt ;;
    "scontrol --all --json show "*) grep -qE " 2[12]\\." "$here/version.txt" && exit 1; tell "$4.json" ;;
    "scontrol --all --oneliner show partition") tell partitions.txt ;;
    "scontrol --all --details show "*) tell "$4s.txt" ;;
    "scontrol show config") [ -e "$here/ahead" ] && echo "Configuration data as of $(date -u -d "@$there" +%FT%T)" ;;
    "squeue --all --json") tell jobs.json ;;
    "squeue --all --noheader --states=all --format="*)
        mark=${{4#--format=%A}}
        mark=${{mark%%%j*}}
        if [ -e "$here/names.txt" ]; then cat "$here/names.txt"; else
            sed -n 's/^JobId=\\([0-9]*\\) .*JobName=\\(.*\\)/\\1@M@\\2@M@/p' "$here/jobs.txt"
        fi | sed "s/@M@/$mark/g" ;;
    "sinfo --all --json") tell nodes.json ;;
    sacct*)
        mark=$(printf '%s\\n' "$@" | sed -n 's/^--delimiter=//p')
        format=$(printf '%s\\n' "$@" | sed -n 's/^--format=//p')
        awk -F'|' -v mark="$mark" -v format="$format" '
            NR == 1 {{ for (i = 1; i <= NF; i++) column[$i] = i; n = split(format, want, ","); next }}
            {{ line = ""; for (i = 1; i <= n; i++) line = line $column[want[i]] mark; print line }}
        ' "$here/sacct.txt" ;;
    *) exit 64 ;;
esac
"""


@pytest.fixture
def slurm(tmp_path: Path) -> Callable[[str], Path]:
    """Makes a folder with the commands of a recorded Slurm; a test may then change the answers in it."""

    def make(recorded: str) -> Path:
        folder = tmp_path / recorded
        shutil.copytree(DATA / recorded, folder)
        for name in ("scontrol", "squeue", "sinfo", "sacct"):
            program = folder / name
            program.write_text(_SCRIPT.format(folder=recorded), encoding="utf-8")
            program.chmod(0o755)
        return folder

    return make

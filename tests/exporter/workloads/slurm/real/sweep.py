"""Kills whatever runs with a cluster's configuration: daemons, steps, scripts.

As a program it does so when its standard input ends, however the tests ended: ``python sweep.py SLURM_CONF``.
"""

import contextlib
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

__all__ = ["processes", "sweep"]


def processes(conf: str) -> Iterator[Path]:
    """Folders in /proc of what has this path in its environment; nothing else of this machine has it."""
    ours, own = f"SLURM_CONF={conf}".encode(), str(os.getpid())
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            alive = b") Z " not in (process / "stat").read_bytes()
            if alive and process.name != own and ours in (process / "environ").read_bytes().split(b"\0"):
                yield process


def sweep(conf: str) -> list[Path]:
    """Kills until none is left, for half a minute; returns those that are left."""
    until = time.monotonic() + 30.0
    while (left := list(processes(conf))) and time.monotonic() < until:
        for process in left:
            with contextlib.suppress(OSError):
                os.kill(int(process.name), signal.SIGKILL)
        time.sleep(0.05)
    return left


if __name__ == "__main__":
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    sys.stdin.read()
    sweep(sys.argv[1])

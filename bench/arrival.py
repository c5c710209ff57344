"""Waits until every panel that must have data has some: what `gpuscope-generator check` says, again and again."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

__all__ = ["Missing", "missing_data", "wait_for_data"]

AGAIN_S = 15
ASK_S = 600
"""For all queries of all boards on a machine that does other things, too."""


class Missing(dict[str, str]):
    """What is wrong with a panel, by ``board/panel``."""


def missing_data(url: str, allowed: Path, profile: str, look_back: str) -> Missing:
    """Panels, variables and marks without data that must have some, and queries that fail.

    Args:
        url: of a Prometheus.
        allowed: the file of panels that may be empty.
        profile: which of its profiles holds, besides all.
        look_back: time range, such as ``15m``.
    """
    command = [Path(sys.executable).parent / "gpuscope-generator", "check", "--prometheus", url, "--json"]
    command += ["--range", look_back, "--slow", "60s", "--allow-empty", allowed, "--profile", profile]
    done = subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        check=False,
        timeout=ASK_S,
        stdin=subprocess.DEVNULL,
    )
    found = Missing()
    if done.returncode not in (0, 1):
        reason = done.stderr.strip()
        if "Prometheus at" not in reason:
            raise SystemExit(f"look: {reason}")
        # On a machine that does other things, too, it may be late once.
        found["prometheus"] = reason
        return found
    for board in json.loads(done.stdout)["boards"]:
        for one in (*board["variables"], *board["panels"], *board["annotations"]):
            if one["finding"]:
                found[f"{board['board']}/{one['key']}"] = one["status"]
    return found


def wait_for_data(url: str, allowed: Path, profile: str, look_back: str, deadline_s: float) -> Missing:
    """Returns once nothing is missing, or when the deadline has passed; then what is still missing.

    Args:
        url: of a Prometheus.
        allowed: the file of panels that may be empty.
        profile: which of its profiles holds, besides all.
        look_back: time range, such as ``15m``.
        deadline_s: seconds from now on.
    """
    began = time.monotonic()
    while True:
        found = missing_data(url, allowed, profile, look_back)
        passed = time.monotonic() - began
        some = ", ".join(list(found)[:6]) + (", …" if len(found) > 6 else "")
        print(f"{passed:4.0f} s: {len(found)} panels without data {some}".rstrip(), file=sys.stderr, flush=True)
        if not found or passed > deadline_s:
            return found
        time.sleep(AGAIN_S)

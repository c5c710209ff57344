"""A real agent on the simulated driver, played through simulated time, in a process of its own.

The standard input is a JSON object: ``node``, ``scenario`` (a file), ``start`` (unix seconds), ``scrapes``, ``step`` (seconds
between them), and ``labels`` of its target. The series come out as JSON: one value, or null, for each scrape.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

# As a script it has no package around it.
sys.path.insert(0, str(Path(__file__).parent.parent))

from gpuscope import simulate
from gpuscope.agent import Agent
from gpuscope.attribution import attributor
from gpuscope.config import load
from gpuscope.nvml import events as nvml_events
from gpuscope.sampling import publisher
from gpuscope.simulate import events, filesystems, node
from playing.series import Recorder
from playing.virtual_time import VirtualTime

FLAGS = {
    "interval.filesystem": "60s", "interval.slow": "60s", "web.listen-address": ["127.0.0.1:0"], "log.level": "error",
}  # fmt: skip
PACED = ("interval.fast", "interval.activity", "interval.processes", "interval.attribution")
"""As slow as scrapes: a day has 86,400 seconds."""


def play(request: dict[str, Any]) -> dict[str, list[float | None]]:
    """Runs the agent, and takes what it says."""
    world = VirtualTime(request["start"])
    world.govern()
    # The simulation looks at its files and its blocked calls more often than anything here needs it.
    filesystems._INTERVAL_S, node._WEDGE_POLL_S, events._POLL_S = 30.0, 10.0, 1.0
    # One snapshot a minute is looked at: what comes within a few seconds goes into the same one.
    publisher._GRACE_S, attributor._TICK_S, nvml_events._WAIT_MS = 10.0, 20.0, 20_000
    said = FLAGS | dict.fromkeys(PACED, f"{request['step']}s")
    said |= {"simulate": request["scenario"], "simulate.seed": request["node"], "node-name": request["node"]}
    loaded = load(said, environment={})
    agent = Agent(loaded, lambda: loaded)
    agent.start()
    recorder = Recorder(request["labels"])
    try:
        world.advance(20.0)
        for _ in range(request["scrapes"]):
            recorder.take(agent.snapshot().exposition.body().decode())
            world.advance(request["step"])
    finally:
        agent.stop()
    return recorder.series


if __name__ == "__main__":
    assert simulate.RealClock is not None
    json.dump(play(json.load(sys.stdin)), sys.stdout)

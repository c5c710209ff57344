"""What a whole simulated cluster says, minute by minute: real agents on their nodes, and every other exporter."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from gpuscope.simulate.clock import ManualClock
from gpuscope.simulate.cluster.endpoints import endpoints
from gpuscope.simulate.cluster.profiles import Plan, planned
from gpuscope.simulate.cluster.shape import Shape
from gpuscope.simulate.cluster.world import World
from playing.series import Recorder

__all__ = ["CLUSTER", "SETTLING_S", "START_S", "Fleet", "Series", "played"]

CLUSTER = "sim"
START_S = 600.0
"""Unix time of the first minute: promtool's tests begin at 0, and a rule that looks at the clock sees that."""
SETTLING_S = 20.0
_AGENT = Path(__file__).with_name("agent.py")
_LIMIT_S = 1800

Series = dict[str, list[float | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """What is played.

    Attributes:
        nodes: scenario by node, as it would stand in a file.
        agents: nodes on which an agent runs.
        profiles: of the simulated cluster.
        sources: which of its exporters are there.
        minutes: for how long.
        step_s: seconds from scrape to scrape.
    """

    nodes: Mapping[str, Mapping[str, Any]]
    agents: Sequence[str]
    profiles: Sequence[str] = ("native", "healthy")
    sources: Sequence[str] = ("kube-state", "node", "vllm", "kueue", "jobset")
    minutes: int = 60
    step_s: int = 60

    @property
    def scrapes(self) -> int:
        """How often each target is asked."""
        return self.minutes * 60 // self.step_s


def played(fleet: Fleet, keep: frozenset[str], cache: Path | None = None) -> Series:
    """All series of all targets; one value, or ``None``, for each scrape.

    Args:
        fleet: what is played.
        keep: names of the series that are wanted.
        cache: folder for what agents and other exporters said; who lives through the same again is not asked again.
    """
    with tempfile.TemporaryDirectory(prefix="gpuscope-play-") as folder, ThreadPoolExecutor(2) as pool:
        files = {name: Path(folder) / f"{name}.yaml" for name in fleet.nodes}
        for name, value in fleet.nodes.items():
            files[name].write_text(yaml.safe_dump(dict(value), sort_keys=False))
        agents = [pool.submit(_agent, name, files[name], fleet, cache) for name in fleet.agents]
        found = _others(fleet, files, keep, cache)
        for one in agents:
            found |= {key: values for key, values in one.result().items() if key.partition("{")[0] in keep}
        return found


def _others(fleet: Fleet, files: Mapping[str, Path], keep: frozenset[str], cache: Path | None) -> Series:
    asked = {
        "nodes": {name: path.read_text() for name, path in files.items()}, "profiles": list(fleet.profiles),
        "sources": list(fleet.sources), "scrapes": fleet.scrapes, "step": fleet.step_s, "keep": sorted(keep),
    }  # fmt: skip
    known = _known(asked, cache)
    if known is None:
        return _scraped(fleet, files, keep)
    if not known.is_file():
        _kept(known, json.dumps(_scraped(fleet, files, keep)), "others")
    return dict(json.loads(known.read_text()))


def _scraped(fleet: Fleet, files: Mapping[str, Path], keep: frozenset[str]) -> Series:
    clock = ManualClock(START_S)
    shape = Shape(fleet={name: str(path) for name, path in files.items()}, cluster=CLUSTER)
    plan = planned(shape, fleet.profiles)
    worlds = [World(one, clock) for one in plan.shapes]
    targets = [
        (one, Recorder({"cluster": one.world.name, "job": one.source.job, **one.target.labels}, keep,
                       honor_labels=one.source.honor_labels))
        for one in endpoints(Plan(plan.shapes, tuple(fleet.sources)), worlds)
    ]  # fmt: skip
    clock.advance(SETTLING_S)
    for _ in range(fleet.scrapes):
        for one, recorder in targets:
            recorder.take(one.target.render())
        clock.advance(fleet.step_s)
    found: Series = {}
    for _, recorder in targets:
        found |= recorder.series
    return found


def _agent(node: str, scenario: Path, fleet: Fleet, cache: Path | None) -> Series:
    request = {
        "node": node, "start": START_S, "scrapes": fleet.scrapes, "step": fleet.step_s,
        "labels": {"cluster": CLUSTER, "job": "gpuscope", "node": node, "instance": f"{node}:9836"},
    }  # fmt: skip
    known = _known(request | {"text": scenario.read_text()}, cache)
    if known is None or not known.is_file():
        command = [sys.executable, str(_AGENT)]
        text = json.dumps(request | {"scenario": str(scenario)})
        done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=_LIMIT_S, check=False)
        if done.returncode:
            raise RuntimeError(f"the agent of {node} cannot be played:\n{done.stderr[-4000:]}")
        if known is None:
            return dict(json.loads(done.stdout))
        _kept(known, done.stdout, node)
    return dict(json.loads(known.read_text()))


def _known(asked: Mapping[str, Any], cache: Path | None) -> Path | None:
    """Where what was said is kept; no two questions share a file."""
    told = json.dumps(asked, sort_keys=True)
    return cache / f"{hashlib.sha256(told.encode()).hexdigest()[:24]}.json" if cache else None


def _kept(known: Path, text: str, who: str) -> None:
    fresh = known.with_name(f"{known.name}.{os.getpid()}-{who}")
    fresh.write_text(text)
    fresh.replace(known)

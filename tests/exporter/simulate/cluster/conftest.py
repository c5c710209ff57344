"""Simulated clusters for tests, on a clock of their own, and what they say as samples."""

import re
from collections.abc import Callable, Sequence

import pytest

from gpuscope.simulate.clock import ManualClock
from gpuscope.simulate.cluster.endpoints import Endpoint, endpoints
from gpuscope.simulate.cluster.profiles import planned
from gpuscope.simulate.cluster.shape import Shape
from gpuscope.simulate.cluster.world import World

_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
_HOMES = {
    "DCGM": "dcgm", "kube_": "kube-state", "container_": "cadvisor", "kueue_": "kueue", "vllm:": "vllm",
    "slurm_": "slurm", "fault_": "nvsentinel", "syslog_": "nvsentinel",
}  # fmt: skip
Key = tuple[str, tuple[tuple[str, str], ...]]


class Cluster:
    """One or more simulated clusters.

    Args:
        profiles: names of profiles.
        shape: what it is like without them.
    """

    def __init__(self, profiles: Sequence[str], shape: Shape) -> None:
        self.clock = ManualClock()
        self.plan = planned(shape, profiles)
        self.worlds = [World(one, self.clock) for one in self.plan.shapes]
        self._parsed: tuple[float, dict[str, dict[Key, float]]] = (-1.0, {})
        self._all = endpoints(self.plan, self.worlds)

    @property
    def world(self) -> World:
        return self.worlds[0]

    def endpoints(self, source: str = "") -> list[Endpoint]:
        return [one for one in self._all if source in {"", one.source.name}]

    def texts(self, source: str = "") -> dict[str, str]:
        return {one.path: one.target.render() for one in self.endpoints(source)}

    def samples(self, name: str, source: str = "", **labels: str) -> dict[Key, float]:
        """Samples of a name that have these labels; only the sources that may have it are asked."""
        if self._parsed[0] != self.clock.now():
            self._parsed = (self.clock.now(), {})
        home = next(home for begin, home in _HOMES.items() if name.startswith(begin))
        found = {}
        for one in self._all:
            if one.source.name == source or (not source and one.source.name.startswith(home)):
                if one.path not in self._parsed[1]:
                    self._parsed[1][one.path] = parsed(one.target.render())
                for key, value in self._parsed[1][one.path].items():
                    if key[0] == name and labels.items() <= dict(key[1]).items():
                        found[key] = value
        return found


def parsed(text: str) -> dict[Key, float]:
    """Samples of an exposition; a sample that is there twice is an error. Promtool checks the form elsewhere."""
    found: dict[Key, float] = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            series, _, value = line.rpartition(" ")
            name, _, inner = series.partition("{")
            key = (name, tuple(sorted(_LABEL.findall(inner))))
            assert key not in found, f"twice: {series}"
            found[key] = float(value)
    return found


@pytest.fixture
def cluster() -> Callable[..., Cluster]:
    """Makes simulated clusters: names of profiles, and the shape."""

    def make(*profiles: str, shape: Shape | None = None) -> Cluster:
        return Cluster(profiles, shape or Shape())

    return make

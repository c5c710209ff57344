"""What ``gpuscope demo --once`` proves before it says that all is well."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from gpuscope.demo.prometheus import Prometheus
from gpuscope.table import NodeRows

__all__ = ["Check", "run_checks"]

_MIN_GPUS = 16
_MIN_NODES = 2
_MAX_DOWN = 2
"""GPUs that the story of the fleet may have taken away."""


@dataclass(frozen=True, slots=True)
class Check:
    """One statement, whether it holds, and what was seen."""

    text: str
    passed: bool
    seen: str


def run_checks(nodes: Sequence[NodeRows], agents: int, prometheus: Prometheus, *, simulated: bool) -> list[Check]:
    """Checks the fleet through Prometheus.

    Args:
        nodes: the rows of the table.
        agents: agents that were started.
        prometheus: where the rows were read.
        simulated: whether the fleet is the simulated one; a real machine may have any number of GPUs.
    """
    gpus = [gpu for node in nodes for gpu in node.gpus.values()]
    up = sum(gpu.up for gpu in gpus)
    scraped = sum(int(point.value) for point in prometheus.query('up{job="gpuscope"}'))
    moving = len(prometheus.query("rate(gpuscope_gpu_energy_joules_total[30s]) > 0"))
    active = len(prometheus.query("rate(gpuscope_gpu_sm_active_seconds_total[30s]) > 0"))
    instances = sum(len(gpu.mig) for gpu in gpus)
    blank = sum(math.isnan(point.value) for point in prometheus.query('{__name__=~"gpuscope_.+"}'))
    least = (_MIN_GPUS, _MIN_NODES, 1) if simulated else (1, 1, 0)
    checks = [
        Check("every agent is scraped", scraped == agents, f"{scraped} of {agents}"),
        Check(f"at least {least[0]} GPUs in {least[1]} nodes", len(gpus) >= least[0] and len(nodes) >= least[1],
              f"{len(gpus)} GPUs in {len(nodes)} nodes"),
        Check("GPUs are up", up >= max(1, least[0] - _MAX_DOWN), f"{up} of {len(gpus)}"),
        Check("energy counters move", moving >= max(1, least[0] - _MAX_DOWN), f"{moving} GPUs"),
        Check("no series is NaN", blank == 0, f"{blank} NaN"),
    ]  # fmt: skip
    if simulated:
        checks.insert(3, Check("MIG instances among them", instances >= least[2], f"{instances} instances"))
        checks.append(Check("activity is integrated", active > 0, f"{active} GPUs busy"))
    return checks

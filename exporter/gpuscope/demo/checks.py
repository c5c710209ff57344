"""What ``gpuscope demo --once`` proves before it says that all is well."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from gpuscope.demo.boards import Boards
from gpuscope.demo.prometheus import Prometheus
from gpuscope.table import GpuRow, MigRow, NodeRows
from gpuscope.table.rows import use_of

__all__ = ["Check", "board_checks", "rule_checks", "run_checks"]

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


_POD_READINGS = """
gpuscope_gpu_memory_used_bytes
  * on (node, uuid) group_left (namespace, pod, container)
  max by (node, uuid, namespace, pod, container) (
    gpuscope_pod_allocation_info{mig_uuid=""} and on (node, uuid) gpuscope_allocations{mig_uuid=""} == 1
  )
"""
_STATE_RATE = 'sum by (node, uuid) (rate({__name__=~"gpuscope_gpu_state_seconds_total"}[15s]))'
_TOLERANCE = 0.2
"""Of the time in states, which a short range at the start of a series cannot tell exactly."""


def run_checks(nodes: Sequence[NodeRows], agents: int, prometheus: Prometheus, *, story: bool) -> list[Check]:
    """Checks the fleet through Prometheus.

    Args:
        nodes: the rows of the table.
        agents: agents that were started.
        prometheus: where the rows were read.
        story: whether it is the default fleet, with MIG, pods, Slurm jobs and file systems; a real machine, and a fleet
            of scenarios that somebody chose, may have any number of GPUs.
    """
    gpus = [gpu for node in nodes for gpu in node.gpus.values()]
    up = sum(gpu.up for gpu in gpus)
    scraped = sum(int(point.value) for point in prometheus.query('up{job="gpuscope"}'))
    moving = len(prometheus.query("rate(gpuscope_gpu_energy_joules_total[30s]) > 0"))
    active = len(prometheus.query("rate(gpuscope_gpu_sm_active_seconds_total[30s]) > 0"))
    instances = sum(len(gpu.mig) for gpu in gpus)
    blank = sum(math.isnan(point.value) for point in prometheus.query('{__name__=~"gpuscope_.+"}'))
    least = (_MIN_GPUS, _MIN_NODES, 1) if story else (1, 1, 0)
    checks = [
        Check("every agent is scraped", scraped == agents, f"{scraped} of {agents}"),
        Check(f"at least {least[0]} GPUs in {least[1]} nodes", len(gpus) >= least[0] and len(nodes) >= least[1],
              f"{len(gpus)} GPUs in {len(nodes)} nodes"),
        Check("GPUs are up", up >= max(1, least[0] - _MAX_DOWN), f"{up} of {len(gpus)}"),
        Check("energy counters move", moving >= max(1, least[0] - _MAX_DOWN), f"{moving} GPUs"),
        Check("no series is NaN", blank == 0, f"{blank} NaN"),
    ]  # fmt: skip
    if story:
        checks.insert(3, Check("MIG instances among them", instances >= least[2], f"{instances} instances"))
        checks.append(Check("activity is integrated", active > 0, f"{active} GPUs busy"))
        checks += _story(nodes, prometheus)
    return checks


def _story(nodes: Sequence[NodeRows], prometheus: Prometheus) -> list[Check]:
    """Who holds what, and the file systems, in the default fleet."""
    gpus = [gpu for node in nodes for gpu in node.gpus.values()]
    rows: list[GpuRow | MigRow] = [*gpus, *(mig for gpu in gpus for mig in gpu.mig.values())]
    held = sum(bool(row.holders) for row in rows)
    uses = {use_of(row) for row in rows}
    joined = len(prometheus.query(_POD_READINGS))
    jobs = len(prometheus.query("gpuscope_job_allocation_info"))
    rates = [point.value for point in prometheus.query(_STATE_RATE)]
    whole = sum(abs(rate - 1) < _TOLERANCE for rate in rates)
    mounts = len(prometheus.query("gpuscope_filesystem_up == 1"))
    reading = len(prometheus.query("rate(gpuscope_filesystem_read_bytes_total[30s]) > 0"))
    return [
        Check("GPUs and MIG instances have holders", held > 0 and {"busy", "idle", "free"} <= uses, f"{held} held"),
        Check("readings are joined to their pods", joined > 0, f"{joined} GPUs"),
        Check("Slurm jobs hold GPUs", jobs > 0, f"{jobs} GPUs"),
        Check("time in states sums to wall time", bool(rates) and whole == len(rates), f"{whole} of {len(rates)} GPUs"),
        Check("file systems answer, and are read", mounts > 0 and reading > 0, f"{mounts} mounts, {reading} read"),
    ]


def rule_checks(prometheus: Prometheus) -> list[Check]:
    """Checks that rules are evaluated, and that none fails. Those that come once a minute are not waited for."""
    rules = prometheus.rules()
    good = sum(rule["health"] == "ok" for rule in rules)
    bad = [f"{rule['name']}: {rule.get('lastError', '')}" for rule in rules if rule["health"] == "err"]
    seen = bad[0] if bad else f"{good} of {len(rules)} so far"
    return [Check("rules are evaluated, and none fails", good > 0 and not bad, seen)]


def board_checks(boards: Boards) -> list[Check]:
    """Checks that somebody shows the boards."""
    count = boards.count()
    return [Check("boards are shown", count > 0, f"{count} by {boards.by}")]

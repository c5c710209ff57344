"""How much of the fleet works: nodes by state, and the way from GPUs that were bought to GPUs that do work."""

from __future__ import annotations

from gpuscope_generator.normalized import cluster
from gpuscope_generator.panels.fleet_choice import IN_MODEL
from gpuscope_generator.panels.variables import IN_CLUSTER
from gpuscope_generator.promql import Vector, first_of, label_replace, ratio, select, sum_by
from gpuscope_generator.view import (
    AlertList,
    BarGauge,
    Explanation,
    Gauge,
    Query,
    Stat,
    Thresholds,
    Unit,
    palette,
)

__all__ = ["FUNNEL", "alerts", "gpu_funnel", "healthy_nodes", "missing_gpus", "nodes_by_state"]

SCHEDULER = "the gpuscope collector (Slurm, Kubernetes) or kube-state-metrics."
_NO_STATE = "No scheduler tells of nodes: neither the gpuscope collector nor kube-state-metrics is there"

FUNNEL = ("expected", "present", "healthy", "allocatable", "allocated_present", "compute", "tensor")
"""Steps from what was bought to what is used; the last two are activity, added up."""
_WORDS = {
    "expected": "expected",
    "present": "answering",
    "healthy": "healthy",
    "allocatable": "allocatable",
    "allocated_present": "held",
    "compute": "busy",
    "tensor": "tensor cores busy",
}


def gpus(state: str) -> Vector:
    """GPUs of the chosen models in a state."""
    return sum_by(select(cluster.GPUS, IN_CLUSTER, IN_MODEL, state=state), "cluster")


def nodes_by_state() -> Stat:
    """Nodes: all, and by state."""
    counted = sum_by(select(cluster.NODES, IN_CLUSTER), "cluster", "state")
    for state, word in (("total", "all"), ("not_ready", "not ready")):
        counted = label_replace(counted, "state", word, "state", state)
    return Stat(
        key="nodes",
        title="Nodes",
        explanation=Explanation(
            shows="All nodes that a scheduler knows, and of these the ready ones, the cordoned ones (somebody keeps "
            "new work away), those that are not ready, and those of which the scheduler does not know.",
            source=SCHEDULER,
            good="All are ready. A few cordoned ones are normal during repairs.",
            do="The table of nodes below shows which they are, and the reason.",
        ),
        queries=(Query(expression=counted, legend="{{state}}"),),
        unit=Unit.COUNT,
        text_mode="value_and_name",
        width=5,
        height=8,
        no_value=_NO_STATE,
    )


def healthy_nodes() -> Gauge:
    """Share of the nodes that take work."""
    ready = sum_by(select(cluster.NODES, IN_CLUSTER, state="ready"), "cluster")
    total = sum_by(select(cluster.NODES, IN_CLUSTER, state="total"), "cluster")
    return Gauge(
        key="healthy_nodes",
        title="Nodes ready",
        explanation=Explanation(
            shows="Nodes that are ready and not cordoned, of all nodes.",
            source=SCHEDULER,
            good="Above 90 %; the other nodes are known to be in repair.",
            do="Sort the table of nodes below by state. A cordoned node without a reason was forgotten: ask who did "
            "it.",
        ),
        queries=(Query(expression=ratio(ready, total)),),
        unit=Unit.RATIO,
        low=0,
        high=1,
        decimals=1,
        width=4,
        height=8,
        thresholds=Thresholds(base=palette.BAD, steps=((0.5, palette.WARN), (0.9, palette.OK))),
        no_value=_NO_STATE,
    )


def missing_gpus() -> Stat:
    """GPUs that should be there and do not answer."""
    return Stat(
        key="missing_gpus",
        title="GPUs missing",
        explanation=Explanation(
            shows="GPUs that a node should have and that do not answer. What a node should have is what its agent once "
            "saw, or what its scheduler knows; so a node that is dead misses all its GPUs. Of a node that works and "
            "that no exporter watches nothing is known: it misses none.",
            source="the gpuscope agent's own count, the collector, or the capacity that kube-state-metrics tells.",
            good="0.",
            do="The table of nodes shows where. Look for XID 79 (fallen off the bus) there, then reset or drain it.",
        ),
        queries=(Query(expression=gpus("missing")),),
        unit=Unit.COUNT,
        decimals=0,
        width=4,
        height=8,
        color_background=True,
        thresholds=Thresholds(base=palette.OK, steps=((1, palette.BAD),)),
        no_value="Unknown: nobody tells how many GPUs there should be",
    )


def funnel() -> Vector:
    """All steps in one answer, named so that they sort from the top."""
    steps = []
    for number, step in enumerate(FUNNEL, 1):
        if step in ("compute", "tensor"):
            value = sum_by(select(cluster.WORK, IN_CLUSTER, what=step), "cluster")
        else:
            value = gpus(step)
        steps.append(label_replace(value, "step", f"{number} {_WORDS[step]}", "", ""))
    return first_of(*steps)


def gpu_funnel() -> BarGauge:
    """From GPUs that were bought to GPUs that work."""
    return BarGauge(
        key="gpu_funnel",
        title="GPUs: from expected to busy",
        explanation=Explanation(
            shows="Each bar is a part of the one above it. Expected: installed, or known to the scheduler. Healthy: "
            "answers and asks for no repair. Allocatable: healthy, on a node that takes work. Held: by a "
            "pod or job. Busy, and tensor cores busy: activity added up, so that two GPUs at one half count as one. "
            "These last two are of all GPU models. GPUs that no exporter watches are expected, and in no other bar; "
            "how many of them are held the graph of capacity tells.",
            source="the gpuscope agent, dcgm-exporter or AMD's exporter, and the scheduler.",
            good="All bars down to busy are nearly as long as the first.",
            do="The largest step down is where money is lost. Expected to healthy: repair, see Faults. Healthy to "
            "held: see Scheduling. Held to busy: see GPU activity, and the idle GPU-hours of teams.",
        ),
        queries=(Query(expression=funnel(), legend="{{step}}"),),
        unit=Unit.COUNT,
        decimals=0,
        low=0,
        width=7,
        no_value="No GPU is known: see Data health",
    )


def alerts() -> AlertList:
    """What fires."""
    return AlertList(
        key="alerts",
        title="Alerts",
        explanation=Explanation(
            shows="Alerts of these rules that fire, or are about to, in the chosen cluster.",
            source="the alerting rules that come with these boards, as Grafana reads them from Prometheus.",
            good="None.",
            do="Open the alert and follow its runbook. An empty list without loaded rules says nothing.",
        ),
        label_filter='{cluster=~"$cluster", component!=""}',
        width=4,
        no_value="No alert fires",
    )

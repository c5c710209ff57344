"""Free GPUs and who waits for some: why does work not start although GPUs are free?"""

from __future__ import annotations

from gpuscope_generator.external import kubernetes as kube
from gpuscope_generator.normalized import fleet, node, queue, workload
from gpuscope_generator.panels.fleet_choice import of_nodes
from gpuscope_generator.panels.variables import IN_CLUSTER, IN_TEAM
from gpuscope_generator.promql import Matcher, Vector, count_values, max_by, ratio, select, sum_by
from gpuscope_generator.view import (
    BarGauge,
    Cell,
    Explanation,
    LabelColumn,
    Link,
    Noun,
    Query,
    Stat,
    Table,
    Thresholds,
    Unit,
    ValueColumn,
    cell,
    palette,
)

__all__ = ["fragmentation", "gpu_quota", "placeable", "waiting"]

_SOURCE = (
    "the gpuscope agent or dcgm-exporter, which tell who holds which GPU, else the scheduler's counts; and the "
    "scheduler for which nodes take work."
)
_NONE = "No GPU is free, or nobody tells who holds them"


def _free() -> Vector:
    return max_by(of_nodes(fleet.FREE), *node.NODE)


def fragmentation() -> BarGauge:
    """Nodes by their number of free GPUs."""
    return BarGauge(
        key="fragmentation",
        title="Nodes by number of free GPUs",
        explanation=Explanation(
            shows="How many nodes have so many whole GPUs free: healthy, held by nobody, on a node that takes work. "
            "GPUs in MIG mode are not in it: they have a board of their own.",
            source=_SOURCE,
            good="Free GPUs sit together: few nodes with a part of their GPUs free.",
            do="Many nodes with a few free GPUs each: small jobs are spread over all nodes. Let the scheduler pack "
            "them (bin packing), or move some.",
        ),
        queries=(Query(expression=count_values("free", _free().compare(">", 0), "cluster"), legend="{{free}} free"),),
        unit=Unit.COUNT,
        width=14,
        low=0,
        no_value=_NONE,
    )


def placeable() -> Stat:
    """What could start now."""
    whole = _free().and_(_free().compare("==", max_by(of_nodes(node.GPUS, state="present"), *node.NODE)), on=node.NODE)
    return Stat(
        key="placeable",
        title="What could start now",
        explanation=Explanation(
            shows="All free GPUs; the most that are free on one node, which is the largest job without a network in "
            "between; and GPUs on nodes that are wholly free, which is the largest job of whole nodes.",
            source=_SOURCE,
            good="The last number is near the first.",
            do="A job that waits and wants more than the matching number cannot start, however many are free in total.",
        ),
        queries=(
            Query(expression=sum_by(_free(), "cluster"), legend="free"),
            Query(expression=max_by(_free(), "cluster"), legend="most on one node"),
            Query(expression=sum_by(whole, "cluster"), legend="on wholly free nodes"),
        ),
        unit=Unit.COUNT,
        decimals=0,
        text_mode="value_and_name",
        width=10,
        height=8,
        no_value=_NONE,
    )


def waiting() -> Table:
    """GPUs that pods without a node ask for."""
    keys = ("cluster", "team", "queue", "namespace", "workload_kind", "workload", "resource")
    resources = Matcher("resource", "=~", f"{kube.GPU_RESOURCES}|{kube.MIG_RESOURCES}")
    asked = select(workload.POD_GPU_REQUEST, IN_CLUSTER, IN_TEAM, resources, Matcher("node", "=", ""))
    here = {"cluster": cell("cluster"), "namespace": cell("namespace"), "workload": cell("workload")}
    return Table(
        key="waiting",
        title="Work that waits for GPUs",
        explanation=Explanation(
            shows="GPUs, or MIG instances by their profile, that pods ask for which have no node yet.",
            source="kube-state-metrics, joined with the workload. Jobs that a queue holds back have no pods yet, and "
            "those of Slurm never do: they are not in it.",
            good="Empty, or work that has just been submitted.",
            do="Compare with what could start now, beside. More than is free: it waits for its turn, or for quota. "
            "Less: too spread, or it asks for a node, a model or a profile that is not there.",
        ),
        width=24,
        height=8,
        columns=(
            LabelColumn(label="cluster", title="Cluster"),
            LabelColumn(label="team", title="Team"),
            LabelColumn(label="queue", title="Queue"),
            LabelColumn(label="namespace", title="Namespace"),
            LabelColumn(label="workload_kind", title="Kind"),
            LabelColumn(
                label="workload",
                title="Workload",
                links=(Link("Why it waits, on the Task board", Noun.TASK, here),),
            ),
            LabelColumn(label="resource", title="Asks for"),
            ValueColumn(title="Number", expression=sum_by(asked, *keys), unit=Unit.COUNT),
        ),
        sort_by="Number",
        paginate=True,
        no_value="No pod waits for GPUs, or kube-state-metrics is absent",
    )


def gpu_quota() -> Table:
    """What queues may have of GPUs, and what they have."""
    keys = ("cluster", "source", "queue", "resource")
    gpus = Matcher("resource", "=~", ".*(gpu|GPU|mig).*")

    def of(state: str) -> Vector:
        return sum_by(select(queue.QUOTA, IN_CLUSTER, gpus, state=state), *keys)

    here = {"cluster": cell("cluster"), "queue": cell("queue")}
    return Table(
        key="gpu_quota",
        title="GPU quota of queues",
        explanation=Explanation(
            shows="GPUs that a queue may have, those that it has given out, and those that are asked for beyond that. "
            "Above 100 % it borrows what other queues lend.",
            source="Kueue with `metrics.enableClusterQueueResources: true`; Volcano; Slurm with slurmdbd.",
            good="Used is near the quota, and little is asked for beyond.",
            do="Little used while work waits: see what could start now, above. Much borrowed: the lender may take it "
            "back at any time. The Training board says why each queue waits.",
        ),
        height=8,
        columns=(
            LabelColumn(label="cluster", title="Cluster"),
            LabelColumn(label="source", title="Told by"),
            LabelColumn(
                label="queue", title="Queue", links=(Link("Why it waits, on the Training board", Noun.TRAINING, here),)
            ),
            LabelColumn(label="resource", title="Resource"),
            ValueColumn(title="Quota", expression=of("nominal"), unit=Unit.COUNT),
            ValueColumn(title="Used", expression=of("used"), unit=Unit.COUNT),
            ValueColumn(
                title="Used of quota",
                expression=ratio(of("used"), of("nominal")),
                unit=Unit.RATIO,
                decimals=0,
                cell=Cell.BAR,
                low=0,
                high=1,
                thresholds=Thresholds(base=palette.NEUTRAL, steps=((1.0001, palette.WARN),)),
            ),
            ValueColumn(title="Asked for beyond", expression=of("pending"), unit=Unit.COUNT),
        ),
        sort_by="Used of quota",
        paginate=True,
        no_value="No quota of GPUs is told: neither Kueue with metrics of quotas, nor Volcano, nor Slurm with slurmdbd",
    )

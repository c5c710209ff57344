"""Faults of training: what they were, when, and on which node."""

from __future__ import annotations

from gpuscope_generator.normalized import node, training, workload
from gpuscope_generator.panels.training_choice import IN_QUEUE, happened
from gpuscope_generator.panels.variables import IN_CLUSTER, IN_KIND, IN_NAMESPACE, IN_TEAM, IN_WORKLOAD
from gpuscope_generator.promql import (
    RATE_INTERVAL,
    Matcher,
    increase,
    max_by,
    max_over_time,
    select,
    sum_by,
    topk,
)
from gpuscope_generator.view import (
    Annotation,
    BarGauge,
    Explanation,
    LabelColumn,
    Link,
    Noun,
    Pie,
    Query,
    Table,
    TimeSeries,
    Unit,
    ValueColumn,
    cell,
    palette,
)

__all__ = [
    "container_exits",
    "cordons",
    "fault_trend",
    "faults_by_domain",
    "faults_by_type",
    "interruption_marks",
    "xid_by_node",
]

_SOURCE = "the gpuscope collector, with the agents' XID errors where it reads them; without it HyperPod's operator."
_NONE = "No fault in this range"
NODE_LINKS = (
    Link("Node on the cluster board", Noun.CLUSTER, {"cluster": cell("cluster"), "node": cell("node")}),
    Link("MIG instances of the node", Noun.PARTITION, {"cluster": cell("cluster"), "node": cell("node")}),
)


def faults_by_type() -> Pie:
    """Shares of what happened."""
    found = topk(12, happened(training.FAULTS, "cluster", "fault_type").compare(">", 0))
    return Pie(
        key="faults_by_type",
        title="Faults by what they were",
        explanation=Explanation(
            shows="Interruptions within the time range by what they were: XID and its class, out of memory, lost node, "
            "time-out of NCCL, exit code, and unknown where nobody can tell. Names stand in docs/classification.md.",
            source=_SOURCE,
            good="No slice is large for long, and unknown is small.",
            do="A large slice of the program's own: tell its owner. Of machines: see the tables of nodes beside.",
        ),
        queries=(Query(expression=found, legend="{{fault_type}}"),),
        unit=Unit.COUNT,
        decimals=0,
        width=8,
        colors={"unknown": palette.IDLE},
        spaced_names=True,
        no_value=_NONE,
    )


def faults_by_domain() -> BarGauge:
    """The same by type, domain and scope, readable."""
    found = topk(15, happened(training.FAULTS, "cluster", "fault_type", "domain", "scope").compare(">", 0))
    return BarGauge(
        key="faults_by_domain",
        title="Faults by type, doer and reach",
        explanation=Explanation(
            shows="The same faults with their domain (infrastructure, platform, workload, planned, unknown) and scope, "
            "such as one GPU, one node or the cluster. A fault of the whole cluster hit several jobs at once.",
            source=_SOURCE,
            good="Short bars.",
            do="Scope cluster: look at network, file system and scheduler, and not at single nodes.",
        ),
        queries=(Query(expression=found, legend="{{fault_type}}, {{domain}}, {{scope}}"),),
        unit=Unit.COUNT,
        decimals=0,
        width=8,
        names_above=True,
        spaced_names=True,
        no_value=_NONE,
    )


def fault_trend() -> TimeSeries:
    """When they happened."""
    found = happened(training.FAULTS, "cluster", "fault_type", window=RATE_INTERVAL)
    return TimeSeries(
        key="fault_trend",
        title="Faults over time",
        explanation=Explanation(
            shows="Faults within each step of the graph, by type.",
            source=_SOURCE,
            good="Few and scattered.",
            do="Several at one moment: one cause for many jobs. At regular distances: a time-out or a nightly task.",
        ),
        queries=(Query(expression=topk(15, found.compare(">", 0)), legend="{{fault_type}}"),),
        unit=Unit.COUNT,
        low=0,
        bars=True,
        stacked=True,
        width=8,
        spaced_names=True,
        no_value=_NONE,
    )


def xid_by_node() -> Table:
    """Which nodes had errors of the driver."""
    most = max_over_time(select(node.XID_ERRORS_HOURLY, IN_CLUSTER))
    return Table(
        key="xid_by_node",
        title="XID errors by node",
        explanation=Explanation(
            shows="XID errors, which are errors that the NVIDIA driver reports, by node and code: the most within one "
            "hour of the time range.",
            source="the gpuscope agent; without it dcgm-exporter, as a lower bound.",
            good="The table is empty.",
            do="The same node again and again: drain it and have it repaired. docs/faults.md explains every code.",
        ),
        width=12,
        columns=(
            LabelColumn(label="cluster", title="Cluster"),
            LabelColumn(label="node", title="Node", links=NODE_LINKS),
            LabelColumn(label="xid", title="XID"),
            ValueColumn(
                title="Most in an hour",
                expression=topk(100, max_by(most, "cluster", "node", "xid").compare(">", 0)),
                unit=Unit.COUNT,
                decimals=0,
            ),
        ),
        sort_by="Most in an hour",
        paginate=True,
        no_value="No XID error in this range",
    )


def container_exits() -> Table:
    """How containers of the chosen workloads ended."""
    chosen = (IN_CLUSTER, IN_TEAM, IN_NAMESPACE, IN_KIND, IN_WORKLOAD, IN_QUEUE)
    keys = ("cluster", "namespace", "workload", "pod", "node", "container")
    where = {"cluster": cell("cluster"), "namespace": cell("namespace"), "pod": cell("pod")}
    ended = select(workload.POD_EXIT, *chosen, Matcher("exit_code", "!=", "0"))
    return Table(
        key="container_exits",
        title="Containers that ended with an error",
        explanation=Explanation(
            shows="For each container whose last end was no success: reason, exit code, and restarts since its pod "
            "began.",
            source="kube-state-metrics; Slurm jobs have no containers.",
            good="The table is empty.",
            do="137 with OOMKilled: over the memory limit. 134: often the watchdog of NCCL. 139: a crash in native "
            "code. 143: told to stop, as by a drain. 1: the program's own error, in its log.",
        ),
        columns=(
            LabelColumn(label="cluster", title="Cluster", hidden=True),
            LabelColumn(label="namespace", title="Namespace"),
            LabelColumn(label="workload", title="Workload"),
            LabelColumn(label="pod", title="Pod", links=(Link("Only this pod", Noun.TASK, where),)),
            LabelColumn(label="node", title="Node", links=NODE_LINKS),
            LabelColumn(label="container", title="Container"),
            LabelColumn(label="reason", title="Reason"),
            LabelColumn(label="exit_code", title="Exit code"),
            ValueColumn(title="Ended", expression=max_by(ended, *keys, "reason", "exit_code"), hidden=True),
            ValueColumn(
                title="Restarts",
                expression=max_by(select(workload.POD_RESTARTS, *chosen), *keys).and_(ended, on=keys),
                unit=Unit.COUNT,
            ),
        ),
        sort_by="Restarts",
        paginate=True,
        no_value="None: no container ended with an error",
    )


def interruption_marks() -> Annotation:
    """The moments in which attempts were interrupted."""
    rose = increase(select(training.INTERRUPTIONS, IN_CLUSTER, IN_TEAM, IN_NAMESPACE), "2m")
    return Annotation(
        name="Interruptions",
        expression=sum_by(rose, "cluster", "namespace", "team", "domain").compare(">", 0),
        title="Training interrupted: {{domain}}",
        text="{{namespace}} {{team}}",
        color=palette.BAD,
    )


def cordons() -> Annotation:
    """The moments in which nodes were taken out."""
    now = select(node.CORDONED, IN_CLUSTER)
    before = now.offset("1m").compare("==", 1)
    return Annotation(
        name="Cordoned nodes",
        expression=now.compare("==", 1).unless(before),
        title="{{node}} cordoned",
        color=palette.NEUTRAL,
        enabled=False,
    )

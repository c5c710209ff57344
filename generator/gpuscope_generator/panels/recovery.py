"""From a fault to the next step: who restarts, how long it takes, and where the time goes."""

from __future__ import annotations

from gpuscope_generator.normalized import reliability, training
from gpuscope_generator.panels.training_choice import IN_WINDOW, happened
from gpuscope_generator.panels.variables import IN_CLUSTER
from gpuscope_generator.promql import (
    RANGE,
    RATE_INTERVAL,
    Counter,
    Matcher,
    Vector,
    histogram_quantile,
    increase,
    max_by,
    ratio,
    select,
    sum_by,
)
from gpuscope_generator.view import (
    BarGauge,
    Explanation,
    Heatmap,
    LabelColumn,
    Query,
    Stat,
    Table,
    TimeSeries,
    Unit,
    ValueColumn,
)

__all__ = [
    "detection_latency",
    "downtime",
    "latency_quantiles",
    "node_repair",
    "phases",
    "remediation_latency",
    "restart_trend",
    "restarts",
]

_SOURCE = "the gpuscope collector; without it HyperPod's operator."
_NONE = "No recovery in this range"
_SLOW = "6h"


def restarts() -> Stat:
    """Who restarted."""
    return Stat(
        key="restarts",
        title="Restarts, automatic and manual",
        explanation=Explanation(
            shows="Restarts of the whole cluster over the window that is chosen at the top, by who began them: the "
            "scheduler or an operator (automatic), a person (manual), or nobody tells (unknown).",
            source=f"{_SOURCE} HyperPod's numbers are of the last 24 hours, whatever window is chosen.",
            good="Few, and those automatic.",
            do="Many manual ones: the policy of restarts does not cover what happens; see faults by type.",
        ),
        queries=(
            Query(
                expression=max_by(select(reliability.RESTARTS, IN_CLUSTER, IN_WINDOW), "cluster", "trigger"),
                legend="{{trigger}}",
            ),
        ),
        unit=Unit.COUNT,
        decimals=0,
        width=8,
        height=8,
        text_mode="value_and_name",
        no_value="No restart within the window",
    )


def restart_trend() -> TimeSeries:
    """When, and after which fault."""
    found = happened(training.RESTARTS, "cluster", "trigger", "fault_type", window=RATE_INTERVAL)
    return TimeSeries(
        key="restart_trend",
        title="Restarts over time",
        explanation=Explanation(
            shows="Restarts within each step of the graph, by who began them and by what had happened before.",
            source="the gpuscope collector; without it the operators of Kubeflow and HyperPod.",
            good="Few and scattered.",
            do="The same fault again and again: a restart does not help, look for its cause.",
        ),
        queries=(Query(expression=found.compare(">", 0), legend="{{trigger}}, {{fault_type}}"),),
        unit=Unit.COUNT,
        low=0,
        bars=True,
        stacked=True,
        width=8,
        spaced_names=True,
        no_value="No restart in this range",
    )


def downtime() -> BarGauge:
    """How long jobs were down."""
    return BarGauge(
        key="downtime",
        title="Downtime of jobs",
        explanation=Explanation(
            shows="Time of all jobs of the cluster that was lost over the window that is chosen at the top: recovering "
            "(they come back by themselves), suspended (somebody holds them), stalled (they run and make no progress). "
            "HyperPod's operator tells automatic and manual downtime of the last 24 hours.",
            source=_SOURCE,
            good="Minutes a day for each job.",
            do="Suspended for long: a person must act. Stalled: lower the time-out after which hangs end.",
        ),
        queries=(
            Query(
                expression=max_by(select(reliability.DOWNTIME, IN_CLUSTER, IN_WINDOW), "cluster", "kind"),
                legend="{{kind}}",
            ),
        ),
        unit=Unit.SECONDS,
        width=8,
        no_value="No job was down within the window",
    )


def _heat(buckets: Counter, *chosen: Matcher) -> Query:
    found = increase(select(buckets, IN_CLUSTER, *chosen), RATE_INTERVAL)
    return Query(expression=sum_by(found, "cluster", "le"), legend="{{le}}")


def detection_latency() -> Heatmap:
    """How fast faults are seen."""
    return Heatmap(
        key="detection_latency",
        title="Detection: from the fault to the end of the attempt",
        explanation=Explanation(
            shows="Each cell counts faults by how long the job ran on after them. It is exact for XID errors, whose "
            "time the kernel tells; hangs, whose beginning nobody knows, are not in it.",
            source="the gpuscope collector with `--agents`; without it HyperPod's operator.",
            good="Seconds.",
            do="Minutes: the job waits for a time-out of NCCL; lower it, or end jobs on fatal XID errors.",
        ),
        queries=(_heat(training.PHASE_BUCKETS, Matcher("phase", "=", "detection")),),
        unit=Unit.COUNT,
        width=12,
        no_value="No detection is known: it needs XID errors of the agents",
    )


def remediation_latency() -> Heatmap:
    """How long it takes to come back."""
    return Heatmap(
        key="remediation_latency",
        title="Remediation: until the job has resources again",
        explanation=Explanation(
            shows="Each cell counts recoveries by the time from the end of an attempt until the job has resources "
            "again; where only the start of all ranks is told, until then.",
            source=_SOURCE,
            good="One dark band at the bottom.",
            do="A second band higher up: those jobs wait for free or repaired nodes; keep spare ones.",
        ),
        queries=(Query(expression=_remediated(), legend="{{le}}"),),
        unit=Unit.COUNT,
        width=12,
        no_value=_NONE,
    )


def _remediated() -> Vector:
    """One view of each recovery: resources where they are told, else running."""

    def rose(until: str) -> Vector:
        found = increase(select(training.RECOVERY_BUCKETS, IN_CLUSTER, Matcher("until", "=", until)), RATE_INTERVAL)
        return sum_by(found, "cluster", "le")

    return rose("resources").or_(rose("running"), on=("cluster", "le"))


def latency_quantiles() -> TimeSeries:
    """Medians and tails over time."""
    phases = Matcher("phase", "!=", "")

    def rose(series: Counter, *by: str) -> Vector:
        return sum_by(increase(select(series, IN_CLUSTER, phases), _SLOW), "cluster", "phase", *by)

    some = rose(training.PHASE_COUNT).compare(">", 0)
    return TimeSeries(
        key="latency_quantiles",
        title="Phases of a recovery, median and 90th percentile",
        explanation=Explanation(
            shows="Over the six hours before each moment: detection of the fault, action until the job has resources, "
            "start until all ranks run, and the first step after that.",
            source=_SOURCE,
            good="Detection in seconds; the others in minutes.",
            do="The longest phase is where to work: detection on time-outs, action on spare nodes and queues, start "
            "on images, first step on loading of checkpoints.",
        ),
        queries=tuple(
            Query(
                expression=histogram_quantile(quantile, rose(training.PHASE_BUCKETS, "le")).and_(
                    some, on=("cluster", "phase")
                ),
                legend=f"{name} {{{{phase}}}}",
            )
            for name, quantile in (("p50", 0.5), ("p90", 0.9))
        ),
        unit=Unit.SECONDS,
        low=0,
        width=12,
        no_value=_NONE,
    )


def phases() -> Table:
    """Where the time went, by phase and by whose fault."""
    keys = ("cluster", "phase", "domain")

    def rose(series: Counter, *more: str) -> Vector:
        return sum_by(increase(select(series, IN_CLUSTER), RANGE), *keys, *more)

    count = rose(training.PHASE_COUNT)
    some = count.compare(">", 0)
    return Table(
        key="phases",
        title="Where recovery time goes",
        explanation=Explanation(
            shows="For each phase and domain of the fault, within the time range: how many there were, their mean, and "
            "the 90th percentile. A phase is counted only where both of its ends are known.",
            source=_SOURCE,
            good="Means of minutes, and percentiles not far above.",
            do="Start with the phase whose mean times number is largest.",
        ),
        width=12,
        height=8,
        columns=(
            LabelColumn(label="cluster", title="Cluster", hidden=True),
            LabelColumn(label="phase", title="Phase"),
            LabelColumn(label="domain", title="Whose fault"),
            ValueColumn(title="Number", expression=some, unit=Unit.COUNT, decimals=0),
            ValueColumn(title="Mean", expression=ratio(rose(training.PHASE_SUM), count), unit=Unit.SECONDS, decimals=0),
            ValueColumn(
                title="90th percentile",
                expression=histogram_quantile(0.9, rose(training.PHASE_BUCKETS, "le")).and_(some, on=keys),
                unit=Unit.SECONDS,
                decimals=0,
            ),
        ),
        sort_by="Number",
        no_value=_NONE,
    )


def node_repair() -> BarGauge:
    """How long nodes are gone."""
    keys = ("cluster", "phase")

    def rose(series: Counter) -> Vector:
        return sum_by(increase(select(series, IN_CLUSTER), RANGE), *keys)

    return BarGauge(
        key="node_repair",
        title="Repair of nodes, mean time",
        explanation=Explanation(
            shows="Mean time within the time range from a fault of a node until it is cordoned (quarantine), until its "
            "pods are gone (eviction), and until it is used again (repair).",
            source="NVSentinel.",
            good="Seconds until it is cordoned; less than an hour until it is used again.",
            do="Long repairs: keep spare nodes, and look which step waits for a person.",
        ),
        queries=(
            Query(
                expression=ratio(rose(training.NODE_REPAIR_SUM), rose(training.NODE_REPAIR_COUNT)), legend="{{phase}}"
            ),
        ),
        unit=Unit.SECONDS,
        width=8,
        no_value="No node was repaired in this range, or there is no NVSentinel",
    )

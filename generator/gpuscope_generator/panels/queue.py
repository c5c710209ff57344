"""Queues: how much waits, why, for how long, and what a queue may have."""

from __future__ import annotations

from gpuscope_generator.normalized import queue
from gpuscope_generator.panels.training_choice import IN_QUEUE
from gpuscope_generator.panels.variables import IN_CLUSTER
from gpuscope_generator.promql import (
    RATE_INTERVAL,
    Matcher,
    Vector,
    histogram_quantile,
    increase,
    ratio,
    select,
    sum_by,
    topk,
)
from gpuscope_generator.view import (
    BarGauge,
    Cell,
    Explanation,
    LabelColumn,
    Query,
    Table,
    Thresholds,
    TimeSeries,
    Unit,
    ValueColumn,
    palette,
)

__all__ = ["evictions", "pending_by_reason", "queue_lengths", "quota", "waiting_times"]

_SOURCE = "Kueue, Volcano, the gpuscope collector for Slurm; without it Slurm's own metrics or an exporter."
_NO_QUEUE = "Nobody tells of queues: Kueue, Volcano and Slurm are absent"


def queue_lengths() -> TimeSeries:
    """What waits and what runs."""
    found = sum_by(select(queue.WORKLOADS, IN_CLUSTER, IN_QUEUE), "cluster", "queue", "state")
    return TimeSeries(
        key="queue_lengths",
        title="Queues: pending and running",
        explanation=Explanation(
            shows="Workloads or jobs of each queue or partition that wait, and that run or are about to.",
            source=_SOURCE,
            good="Pending comes back to 0.",
            do="Pending grows while running is flat: the queue is full or stuck; see why they wait, beside.",
        ),
        queries=(Query(expression=topk(30, found), legend="{{queue}} {{state}}"),),
        unit=Unit.COUNT,
        low=0,
        width=12,
        no_value=_NO_QUEUE,
    )


def pending_by_reason() -> BarGauge:
    """Why they wait."""
    found = sum_by(select(queue.PENDING, IN_CLUSTER, IN_QUEUE), "cluster", "queue", "reason")
    return BarGauge(
        key="pending_by_reason",
        title="Why work waits",
        explanation=Explanation(
            shows="Workloads or jobs that wait now, by the reason that their queue gives.",
            source=_SOURCE,
            good="Only waiting for quota, and not for long.",
            do="Cannot be admitted: the request fits no flavor of the queue, or the queue is stopped. Held: a person "
            "must release it. dependency: another job must end first.",
        ),
        queries=(Query(expression=topk(20, found.compare(">", 0)), legend="{{queue}}, {{reason}}"),),
        unit=Unit.COUNT,
        decimals=0,
        width=12,
        spaced_names=True,
        no_value="Nothing waits, or nobody tells why",
    )


def waiting_times() -> TimeSeries:
    """For how long."""
    chosen = (IN_CLUSTER, IN_QUEUE)
    rose = sum_by(increase(select(queue.WAIT_BUCKETS, *chosen), "1h"), "cluster", "queue", "until", "le")
    all_of = select(queue.WAIT_BUCKETS, *chosen, Matcher("le", "=", "+Inf"))
    some = sum_by(increase(all_of, "1h"), "cluster", "queue", "until").compare(">", 0)

    def at(quantile: float) -> Vector:
        return topk(20, histogram_quantile(quantile, rose).and_(some, on=("cluster", "queue", "until")))

    return TimeSeries(
        key="waiting_times",
        title="Waiting time, median and 90th percentile",
        explanation=Explanation(
            shows="Over the hour before each moment: how long workloads waited until they were admitted, and until all "
            "their pods were ready.",
            source="Kueue.",
            good="What you promised to your teams.",
            do="Long until admitted: quota is used up, see the table. Long until ready after that: images or nodes.",
        ),
        queries=(
            Query(expression=at(0.5), legend="p50 {{queue}} {{until}}"),
            Query(expression=at(0.9), legend="p90 {{queue}} {{until}}"),
        ),
        unit=Unit.SECONDS,
        low=0,
        width=12,
        no_value="Nothing was admitted within an hour, or there is no Kueue",
    )


def evictions() -> TimeSeries:
    """What was put out again."""
    chosen = (IN_CLUSTER, IN_QUEUE)
    put_out = sum_by(increase(select(queue.EVICTED, *chosen), RATE_INTERVAL), "cluster", "queue", "reason", "cause")
    preempting = sum_by(increase(select(queue.PREEMPTED, *chosen), RATE_INTERVAL), "cluster", "queue", "reason")
    return TimeSeries(
        key="evictions",
        title="Evictions and preemptions",
        explanation=Explanation(
            shows="Workloads within each step of the graph that were put out after they had been admitted, by reason "
            "and cause; and those that a queue had put out for its own.",
            source="Kueue.",
            good="Few.",
            do="PodsReadyTimeout: pods did not start in time. NodeFailures: see Faults. Preempted: quota was borrowed; "
            "give the queue its own, or let jobs checkpoint before they go.",
        ),
        queries=(
            Query(expression=put_out.compare(">", 0), legend="{{queue}} {{reason}} {{cause}}"),
            Query(expression=preempting.compare(">", 0), legend="for {{queue}}: {{reason}}"),
        ),
        unit=Unit.COUNT,
        low=0,
        bars=True,
        width=12,
        no_value="No eviction in this range, or there is no Kueue",
    )


def quota() -> Table:
    """What a queue may have, and has."""
    keys = ("cluster", "source", "queue", "resource")

    def of(state: str) -> Vector:
        return sum_by(select(queue.QUOTA, IN_CLUSTER, IN_QUEUE, Matcher("state", "=", state)), *keys)

    return Table(
        key="quota",
        title="Quota of queues",
        explanation=Explanation(
            shows="For each queue and resource: what it may have, what it has given out, and what is asked for beyond "
            "that. Above 100 % it borrows from others.",
            source="Kueue with `metrics.enableClusterQueueResources: true`; Volcano; Slurm with slurmdbd.",
            good="Used is near nominal, and little is pending.",
            do="Used far below nominal while work waits: it asks for another resource or flavor. Above: it may lose "
            "what it borrowed at any time.",
        ),
        height=8,
        columns=(
            LabelColumn(label="cluster", title="Cluster", hidden=True),
            LabelColumn(label="source", title="Told by"),
            LabelColumn(label="queue", title="Queue"),
            LabelColumn(label="resource", title="Resource"),
            ValueColumn(title="Nominal", expression=of("nominal"), unit=Unit.COUNT),
            ValueColumn(title="Used", expression=of("used"), unit=Unit.COUNT),
            ValueColumn(
                title="Used share",
                expression=ratio(of("used"), of("nominal")),
                unit=Unit.RATIO,
                cell=Cell.BAR,
                thresholds=Thresholds(base=palette.NEUTRAL, steps=((1.0001, palette.WARN),)),
                low=0,
                high=1,
                decimals=0,
            ),
            ValueColumn(title="Asked for beyond", expression=of("pending"), unit=Unit.COUNT),
        ),
        sort_by="Used share",
        paginate=True,
        no_value="No quota is told: see the description of this panel",
    )

"""What is chosen on the training board, and the links that its rows carry."""

from __future__ import annotations

from gpuscope_generator.normalized import queue, training
from gpuscope_generator.panels.variables import IN_CLUSTER, IN_KIND, IN_NAMESPACE, IN_TEAM, IN_WORKLOAD
from gpuscope_generator.promql import RANGE, Counter, Info, Matcher, Selector, Series, Vector, increase, select, sum_by
from gpuscope_generator.view import Choice, LabelColumn, LabelValues, Link, Noun, cell, line

__all__ = [
    "IN_QUEUE",
    "IN_WINDOW",
    "JOB_KEYS",
    "JOB_LINE_LINKS",
    "QUEUE",
    "WINDOW",
    "chosen_jobs",
    "happened",
    "job_columns",
    "of_chosen",
    "of_queue",
    "of_team",
]

IN_QUEUE = Matcher("queue", "=~", "$queue")
IN_WINDOW = Matcher("window", "=", "$window")
QUEUE = LabelValues(name="queue", label="Queue", selector=select(queue.WORKLOADS, IN_CLUSTER), values_of="queue")
WINDOW = Choice(
    name="window", label="Reliability over", options=(("24 hours", "1d"), ("7 days", "7d"), ("30 days", "30d"))
)
JOB_KEYS = ("cluster", "namespace", "workload", "job_id")


def of_team(series: Series, *more: Matcher) -> Selector[Series]:
    """A series of teams, as far as team, namespace and queue are chosen."""
    queues = (IN_QUEUE,) if "queue" in series.labels else ()
    return select(series, IN_CLUSTER, IN_TEAM, IN_NAMESPACE, *queues, *more)


def happened(series: Counter, *by: str, more: tuple[Matcher, ...] = (), window: str = RANGE) -> Vector:
    """How much was added to a counter of jobs, within the time range of the board where no window is given."""
    chosen = (IN_CLUSTER, IN_TEAM, IN_NAMESPACE, IN_QUEUE, *more)
    return sum_by(increase(select(series, *chosen), window), *by)


def of_queue(series: Series, *more: Matcher) -> Selector[Series]:
    """A series of the chosen queues."""
    return select(series, IN_CLUSTER, IN_QUEUE, *more)


def chosen_jobs() -> Selector[Info]:
    """1 for each job that is chosen."""
    return select(training.JOB_INFO, IN_CLUSTER, IN_TEAM, IN_NAMESPACE, IN_KIND, IN_WORKLOAD, IN_QUEUE)


def of_chosen(found: Vector) -> Vector:
    """What belongs to a chosen job."""
    return found.and_(chosen_jobs(), on=training.JOB)


def job_columns() -> tuple[LabelColumn, ...]:
    """Which job a row is about."""
    where = {"cluster": cell("cluster"), "namespace": cell("namespace")}
    return (
        LabelColumn(label="cluster", title="Cluster", hidden=True),
        LabelColumn(label="namespace", title="Namespace"),
        LabelColumn(
            label="workload",
            title="Job",
            links=(
                Link("Only this job", Noun.TRAINING, where | {"workload": cell("workload")}),
                Link("GPUs and pods of this job", Noun.TASK, where | {"workload": cell("held_by")}),
            ),
        ),
        LabelColumn(label="job_id", title="Id"),
        LabelColumn(label="held_by", title="Held by", hidden=True),
    )


JOB_LINE_LINKS = (
    Link(
        "Only ${__field.labels.workload}",
        Noun.TRAINING,
        {"cluster": line("cluster"), "namespace": line("namespace"), "workload": line("workload")},
    ),
)

"""Checkpoints: how much work is at risk."""

from __future__ import annotations

from gpuscope_generator.normalized import training
from gpuscope_generator.panels.training_choice import JOB_KEYS, JOB_LINE_LINKS, of_chosen
from gpuscope_generator.panels.variables import IN_CLUSTER, IN_WORKLOAD
from gpuscope_generator.promql import max_by, now, select, topk
from gpuscope_generator.settings import Settings
from gpuscope_generator.view import Explanation, Link, Noun, Query, Thresholds, TimeSeries, Unit, line, palette

__all__ = ["blocked_time", "checkpoint_age"]


def checkpoint_age(settings: Settings) -> TimeSeries:
    """Age of the last checkpoint of each job."""
    age = max_by(of_chosen(select(training.JOB_CHECKPOINT_TIME, IN_CLUSTER) * -1 + now()), *JOB_KEYS)
    limit = settings.thresholds.checkpoint_age_seconds
    return TimeSeries(
        key="checkpoint_age",
        title="Age of the last checkpoint",
        explanation=Explanation(
            shows="Time since the last complete checkpoint of each job: the work that a fault would cost now.",
            source="the gpuscope collector, from jobs that report their checkpoints; a TrainJob does not, yet.",
            good=f"Teeth of a saw that stay below the dashed line at {limit / 3600:g} hours.",
            do="A line that only rises: checkpoints fail, or the file system hangs. Look at the file systems of its "
            "nodes before the job is interrupted.",
        ),
        queries=(Query(expression=topk(20, age), legend="{{workload}}"),),
        unit=Unit.SECONDS,
        low=0,
        width=12,
        thresholds=Thresholds(base=palette.OK, steps=((limit, palette.WARN),)),
        limits_as_lines=True,
        links=(
            *JOB_LINE_LINKS,
            Link("File systems of the cluster", Noun.FILESYSTEM, {"cluster": line("cluster")}),
        ),
        no_value="No job reports its checkpoints",
    )


def blocked_time() -> TimeSeries:
    """Time in which training waited for checkpoints and for data."""
    found = max_by(select(training.JOB_BLOCKED, IN_CLUSTER, IN_WORKLOAD), "cluster", "workload", "what")
    return TimeSeries(
        key="blocked_time",
        title="Time blocked by checkpoints and by data",
        explanation=Explanation(
            shows="Share of time over five minutes in which the slowest worker of a run waited: until a checkpoint was "
            "stored, and for the next batch of data.",
            source="Ray Train and Ray Data.",
            good="A few percent.",
            do="Checkpoint: store it in the background, or on a faster file system. Data: more loaders, or a cache.",
        ),
        queries=(Query(expression=topk(20, found), legend="{{workload}} {{what}}"),),
        unit=Unit.RATIO,
        low=0,
        high=1,
        width=12,
        links=(Link("File systems of the cluster", Noun.FILESYSTEM, {"cluster": line("cluster")}),),
        no_value="No job runs with Ray Train or Ray Data, or its metrics are not scraped",
    )

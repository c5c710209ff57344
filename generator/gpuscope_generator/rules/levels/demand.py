"""GPUs that work waits for, and where it would fit."""

from __future__ import annotations

from gpuscope_generator.external import kubernetes as kube
from gpuscope_generator.normalized import demand, fleet, queue, training, workload
from gpuscope_generator.promql import Matcher, Vector, count_values, floor, join, label_replace, max_by, select, sum_by
from gpuscope_generator.rules.model import Group, Recording, RuleFile, recording
from gpuscope_generator.settings import Settings

__all__ = ["SIZES", "demand_rules"]

SIZES = (1, 2, 3, 4, 5, 6, 7, 8, 16)
"""GPUs that a pod asks for, for which it is known whether it would fit."""
_GPU_QUOTA = Matcher("resource", "=~", "(nvidia|amd)[._/]com[._/]gpu|gpu")


def demand_rules(settings: Settings) -> RuleFile:
    """Rules of what waits, and of what is free."""
    return RuleFile(
        path="recording/level-demand.yaml",
        comment="GPUs that work waits for, as its pods, its jobs and its queues tell it, and the places where it would "
        "fit.",
        groups=(Group("gpuscope-level-demand", settings.intervals.aggregate, (*_waiting(), *_places())),),
    )


def _unplaced() -> Vector:
    """Whole GPUs that each pod without a node asks for."""
    whole = Matcher("resource", "=~", kube.WHOLE_GPU_RESOURCES)
    asked = select(workload.POD_GPU_REQUEST, whole, Matcher("node", "=", ""))
    return max_by(asked, *workload.POD).compare(">", 0)


def _waiting() -> tuple[Recording, ...]:
    owner = ("cluster", "namespace", "team")
    queued = max_by(select(training.JOB_STATE, Matcher("state", "=~", "queued|scheduling")), *training.JOB)
    asked = select(training.JOB_GPUS).and_(queued.compare("==", 1), on=training.JOB)
    of_jobs = join(asked, select(training.JOB_INFO), on=training.JOB, take=("team",))
    # Of a TrainJob that is not suspended there are pods as well, and of a suspended one there are none.
    of_queues = max_by(select(queue.QUOTA, _GPU_QUOTA, Matcher("state", "=", "pending")), *queue.QUEUE, "resource")
    of_teams = select(demand.TEAM_WAITED_FOR)
    return (
        recording(demand.WAITING_PODS, count_values("size", _unplaced(), *workload.WORKLOAD)),
        recording(demand.TEAM_WAITED_FOR, sum_by(_unplaced(), *owner), told_by="pods"),
        recording(demand.TEAM_WAITED_FOR, sum_by(of_jobs, *owner), told_by="jobs"),
        recording(
            demand.CLUSTER_WAITED_FOR,
            sum_by(of_teams, "cluster", "told_by").or_(
                label_replace(sum_by(of_queues, "cluster"), "told_by", "queues", "", "")
            ),
        ),
    )


def _places() -> tuple[Recording, ...]:
    free = select(fleet.FREE)
    return (
        recording(demand.FREE, sum_by(free, "cluster")),
        *(recording(demand.SLOTS, sum_by(floor(free / size), "cluster"), size=str(size)) for size in SIZES),
    )

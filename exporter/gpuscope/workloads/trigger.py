"""Who started an attempt again: a controller or scheduler by itself, or a person.

Neither Kubernetes nor Slurm records that as such. What they do record decides where it can; the rest is ``unknown``:

- a controller of Kubernetes that makes pods again acts by itself;
- Slurm requeues by itself a job whose node failed or that was preempted. ``scontrol requeue`` looks the same in every
  other respect, so that a requeue without such a cause is unknown unless somebody's request is known;
- a new job of the same run, which its user submitted soon after a failure, was started by a person.
"""

import re

from gpuscope.workloads.classification_rules import plain
from gpuscope.workloads.fault import Trigger
from gpuscope.workloads.observation import Attempt, ObservedJob, Outcome

__all__ = ["RESUBMISSION_S", "is_resubmission", "resubmission_trigger", "trigger_of"]

RESUBMISSION_S = 6 * 3600.0
"""A new job of the same run that comes later than this after a failure is not counted as its restart."""

_SLURM_REQUEUES = frozenset({"node_fail", "boot_fail", "preempted"})
_HELD = frozenset({"requeue_hold", "requeued_held", "special_exit"})
_GOAL_MISSED = frozenset(Outcome) - {Outcome.SUCCEEDED}


def trigger_of(job: ObservedJob, attempt: Attempt) -> Trigger:
    """Who started an attempt of a job that is not its first one.

    Args:
        job: the job, with the attempts that its scheduler still knows.
        attempt: the attempt that began.
    """
    before = max((one for one in job.attempts if one.number < attempt.number), key=lambda one: one.number, default=None)
    if before is not None and before.evidence.requested_by_user:
        return Trigger.MANUAL
    if before is not None and before.outcome is Outcome.CANCELLED:
        return Trigger.UNKNOWN  # no controller starts again what was cancelled, and nobody says who did
    if job.key.scheduler == "kubernetes":
        return Trigger.AUTOMATIC
    if job.key.scheduler != "slurm" or before is None or _held(before):
        return Trigger.UNKNOWN
    evidence = before.evidence
    by_itself = (
        evidence.requested_by_user is False
        or before.outcome is Outcome.PREEMPTED
        or evidence.nodes_lost
        or not _SLURM_REQUEUES.isdisjoint(_states(before))
    )
    return Trigger.AUTOMATIC if by_itself else Trigger.UNKNOWN


def is_resubmission(before: Attempt, submitted: float, *, within_s: float = RESUBMISSION_S) -> bool:
    """Whether a new job of the same run goes on with what an attempt did not finish.

    Args:
        before: the last attempt of the earlier job.
        submitted: unix time at which the new job was submitted.
        within_s: longest time in between, in seconds.

    Returns:
        Also true for one that was submitted while the earlier one still ran, as links of a chain are.
    """
    return before.outcome in _GOAL_MISSED and before.ended is not None and submitted - before.ended <= within_s


def resubmission_trigger(
    before: Attempt, submitted: float, *, by_user: bool | None = None, within_s: float = RESUBMISSION_S
) -> Trigger:
    """Who started a new job that goes on with an earlier one of the same run.

    Args:
        before: the last attempt of the earlier job.
        submitted: unix time at which the new job was submitted.
        by_user: whether a person submitted it; false for a controller (an owner reference, a workflow engine), ``None``
            where that is not known.
        within_s: longest time in between, in seconds.
    """
    if not is_resubmission(before, submitted, within_s=within_s) or by_user is None:
        return Trigger.UNKNOWN
    if not by_user:
        return Trigger.AUTOMATIC
    # Submitted before the failure, it cannot answer it: a chain of jobs, or another run of the same name.
    return Trigger.MANUAL if before.ended is not None and submitted >= before.ended else Trigger.UNKNOWN


def _states(attempt: Attempt) -> set[str]:
    return {plain(word) for word in re.split(r"[\s,+|]+", attempt.evidence.state)}


def _held(attempt: Attempt) -> bool:
    """Held after its requeue: somebody must have released it, and nobody says who."""
    words = _states(attempt) | {plain(attempt.evidence.reason)}
    return any(held in word for word in words for held in _HELD)

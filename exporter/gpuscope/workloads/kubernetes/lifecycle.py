"""What a job does, since when and why it waits, told from its pods and from who holds it back."""

from gpuscope.workloads.kubernetes.job_view import JobView
from gpuscope.workloads.observation import JobState

__all__ = ["since_of", "state_of", "why_of"]

_WAITS = frozenset({JobState.SCHEDULING, JobState.PULLING, JobState.INITIALIZING, JobState.RECOVERING})

_PULL_REASONS = frozenset({"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull",
                           "RegistryUnavailable", "ImageInspectError", "SignatureValidationFailed"})  # fmt: skip


def state_of(view: JobView, *, interrupted: bool) -> JobState:
    """The state of a job that lives.

    Args:
        view: the job now.
        interrupted: whether an attempt of it was interrupted before.
    """
    if view.queued:
        return JobState.QUEUED
    if view.suspended:
        return JobState.SUSPENDED
    if view.all_ranks_ready():
        return JobState.TRAINING
    live = view.live_pods
    if interrupted:
        return JobState.RECOVERING
    wanted = view.ranks if view.ranks is not None else 1
    done = len(view.rank_pods) - len(live) if view.job.finished_ranks_count else 0
    if len(live) + done < wanted or any(not pod.node for pod in live):
        return JobState.SCHEDULING
    if any(pod.uid in view.pulling or _PULL_REASONS.intersection(pod.waiting) for pod in live if pod.running is None):
        return JobState.PULLING
    return JobState.INITIALIZING


def why_of(view: JobView, state: JobState) -> str:
    """Why a job waits or does not start; empty where it does neither, or nobody says."""
    pods = sorted(view.live_pods, key=lambda pod: (bool(pod.node), pod.name))
    of_pods = next((pod.why for pod in pods if pod.why), "")
    if state in {JobState.QUEUED, JobState.SUSPENDED}:
        return (view.queue.why if view.queue is not None else "") or of_pods
    return of_pods if state in _WAITS else ""


def since_of(view: JobView, state: JobState) -> float | None:
    """Unix time at which it began to wait for nodes or images; ``None`` in other states, which attempts tell of."""
    pods = view.live_pods
    if state is JobState.SCHEDULING:
        waiting = [pod.created for pod in pods if not pod.node]
        admitted = view.queue.admitted_at if view.queue is not None else None
        return min(waiting, default=admitted if admitted is not None else view.job.created)
    if state is JobState.PULLING:
        return max((pod.scheduled for pod in pods if pod.scheduled is not None), default=None)
    return None

"""What a job does, told from its pods and from who holds it back."""

from gpuscope.workloads.kubernetes.job_view import JobView
from gpuscope.workloads.observation import JobState

__all__ = ["state_of"]

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
    live = [pod for pod in view.rank_pods if pod.phase not in {"Succeeded", "Failed"} and pod.deleting is None]
    if interrupted:
        return JobState.RECOVERING
    wanted = view.ranks if view.ranks is not None else 1
    done = len(view.rank_pods) - len(live) if view.job.finished_ranks_count else 0
    if len(live) + done < wanted or any(not pod.node for pod in live):
        return JobState.SCHEDULING
    if any(pod.uid in view.pulling or _PULL_REASONS.intersection(pod.waiting) for pod in live if pod.running is None):
        return JobState.PULLING
    return JobState.INITIALIZING

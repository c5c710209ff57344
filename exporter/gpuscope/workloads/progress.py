"""Whether a job's own progress moves, and its series."""

from collections.abc import Iterator

from gpuscope.catalogue import training as m
from gpuscope.catalogue.metric import Sample
from gpuscope.workloads.observation import JobState, ObservedJob
from gpuscope.workloads.record import JobRecord

__all__ = ["progress_samples", "state_now"]


def state_now(record: JobRecord, job: ObservedJob, now: float, limit_s: float) -> JobState:
    """What a job does: as its scheduler says, or ``stalled`` when all ranks run and its progress stands still.

    Notes in the record since when it stands still. A job that never reported progress is never stalled.

    Args:
        record: what is known of the job, before this look.
        job: the job now.
        now: unix time of the look.
        limit_s: longest time between two steps that is no stall.
    """
    told = job.progress or record.progress
    if job.state is not JobState.TRAINING or told is None or (told.ratio is None and told.step is None):
        record.still_since = None
        return job.state
    before = record.progress
    moved = before is None or (told.ratio, told.step) != (before.ratio, before.step)
    checkpointed = before is not None and told.checkpoint_at != before.checkpoint_at
    if record.still_since is None or moved or checkpointed:
        record.still_since = now
    return JobState.STALLED if now - record.still_since > limit_s else job.state


def progress_samples(record: JobRecord, own: tuple[str, ...]) -> Iterator[Sample]:
    """The series of what the job reported last.

    Args:
        record: the job.
        own: its own labels.
    """
    told = record.progress
    if told is None:
        return
    pairs = (
        (m.PROGRESS, told.ratio), (m.REMAINING, told.remaining_s), (m.STEP, told.step),
        (m.CHECKPOINT_TIME, told.checkpoint_at), (m.PROGRESS_TIME, record.still_since),
    )  # fmt: skip
    for metric, value in pairs:
        if value is not None:
            yield Sample(metric, own, value)

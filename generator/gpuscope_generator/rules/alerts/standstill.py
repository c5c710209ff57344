"""Jobs that make no progress, each phase with a limit of its own: a pause is no hang.

Steps of a job pause while it compiles, evaluates or saves. Of these the first is told by the time since its start, the
second by tensor cores that work, and the third by the job. So a hang needs two signals, or much time.
"""

from __future__ import annotations

from gpuscope_generator.normalized import training, workload
from gpuscope_generator.promql import (
    Matcher,
    Vector,
    avg_over_time,
    changes,
    first_of,
    group_by,
    increase,
    join,
    label_replace,
    max_by,
    max_over_time,
    min_over_time,
    now,
    on,
    present_over_time,
    ratio,
    select,
    sum_by,
)
from gpuscope_generator.settings import Settings

__all__ = ["STARTING", "standing_still"]

STARTING = Matcher("state", "=~", "queued|scheduling|pulling|initializing|recovering|suspended|unknown")
"""States before all ranks run, and in which nobody knows."""
_JOB = training.JOB
_STEPS = 5
"""So many steps without one are no coincidence."""


def standing_still(settings: Settings) -> Vector:
    """Seconds without progress, of jobs for which that is too long, by job."""
    limits = settings.thresholds
    started = present_over_time(select(training.JOB_STATE, STARTING), f"{limits.first_step_minutes}m")
    training_too_long = _paused(settings).unless(max_by(started, *_JOB), on=_JOB)
    return first_of(
        training_too_long,
        _all_along("checkpointing", limits.checkpoint_write_minutes),
        _all_along("initializing", limits.first_step_minutes),
        on=_JOB,
    )


def _paused(settings: Settings) -> Vector:
    """Jobs that train, by time since their last progress; without those whose steps are as slow, or that evaluate."""
    limits = settings.thresholds
    trains = select(training.JOB_STATE, Matcher("state", "=~", "training|stalled"))
    since = _unmoved().and_(trains, on=_JOB)
    found = since.compare(">", limits.stall_minutes * 60)
    # A clock that is behind makes every progress old: what still moves does not stand still.
    moves = max_by(changes(select(training.JOB_PROGRESS_TIME), f"{limits.stall_minutes:.0f}m"), *_JOB).compare(">", 0)
    found = found.unless(moves, on=_JOB)
    slow = on(found, "-", _step_seconds() * _STEPS, _JOB).compare("<=", 0)
    found = found.unless(slow, on=_JOB)
    held = join(found, select(training.JOB_INFO), on=_JOB, take=("held_by",))
    where = ("cluster", "namespace", "held_by")
    tensor = _tensor_activity()
    working = tensor.compare(">=", limits.evaluating_ratio)
    # Where nobody measures tensor cores an evaluation looks like a hang: only time tells.
    unproven = held.compare("<=", limits.first_step_minutes * 60).unless(tensor, on=where)
    return held.unless(working, on=where).unless(unproven, on=_JOB)


def _unmoved() -> Vector:
    """Seconds since the last progress, by our clock also where that of the job is ahead of it."""
    since = max_by(select(training.JOB_PROGRESS_TIME), *_JOB) * -1 + now()
    return first_of(on(since, "+", max_by(select(training.JOB_CLOCK_AHEAD), *_JOB), _JOB), since, on=_JOB)


def _step_seconds() -> Vector:
    """Mean duration of a step over six hours, of the time in which the job trained."""
    steps = max_by(max_over_time(select(training.JOB_STEP), "6h"), *_JOB) - max_by(
        min_over_time(select(training.JOB_STEP), "6h"), *_JOB
    )
    spent = max_by(increase(select(training.JOB_STATE_SECONDS, state="training"), "6h"), *_JOB)
    return ratio(spent, steps)


def _tensor_activity() -> Vector:
    """Mean activity of the tensor cores of what a job holds, under the name that it has there."""
    by = ("cluster", "namespace", "workload")
    active = sum_by(avg_over_time(select(workload.WORKLOAD_TENSOR_ACTIVE), "5m"), *by)
    gpus = sum_by(select(workload.WORKLOAD_GPUS, state="allocated"), *by)
    mean = ratio(active, gpus)
    return max_by(label_replace(mean, "held_by", "$1", "workload", "(.*)"), "cluster", "namespace", "held_by")


def _all_along(state: str, minutes: int) -> Vector:
    """Jobs that were in a state all the time; the value is so long in seconds."""
    window = f"{minutes}m"
    is_in = select(training.JOB_STATE, state=state)
    others = select(training.JOB_STATE, Matcher("state", "!=", state))
    before = is_in.offset(window)
    elsewhere = group_by(present_over_time(others, window), *_JOB)
    return (group_by(is_in, *_JOB) * (minutes * 60)).and_(before, on=_JOB).unless(elsewhere, on=_JOB)

"""A heterogeneous job is one job: its components start together, and one that fails is the failure of all."""

from collections.abc import Sequence
from dataclasses import replace

from gpuscope.workloads.observation import Attempt, ObservedJob, Outcome

__all__ = ["merge_components"]

_WORST = (
    Outcome.INTERRUPTED, Outcome.FAILED, Outcome.TIMED_OUT, Outcome.PREEMPTED, Outcome.UNKNOWN, Outcome.CANCELLED,
    Outcome.SUCCEEDED,
)  # fmt: skip
"""What a job's components ended as tells what the job ended as: the others are cancelled in consequence."""


def merge_components(components: Sequence[ObservedJob]) -> ObservedJob:
    """One job of its components; a job that has only one is returned as it is."""
    first = components[0]
    if len(components) == 1:
        return first
    gpus = [one.facts.gpus for one in components if one.facts.gpus is not None]
    alive = [one for one in components if one.outcome is None]
    ended = [one.ended for one in components if one.ended is not None]
    numbers = sorted({attempt.number for one in components for attempt in one.attempts})
    return replace(
        first,
        facts=replace(first.facts, gpus=sum(gpus) if len(gpus) == len(components) else None),
        created=min(one.created for one in components),
        state=alive[0].state if alive else first.state,
        attempts=tuple(
            _merge([attempt for one in components for attempt in one.attempts if attempt.number == number])
            for number in numbers
        ),
        outcome=None if alive else min((one.outcome for one in components if one.outcome), key=_WORST.index),
        ended=None if alive else max(ended, default=None),
        why=next((one.why for one in alive if one.why), ""),
        nodes=tuple(dict.fromkeys(node for one in alive for node in one.nodes)),
        restarts=max((one.restarts for one in components if one.restarts is not None), default=None),
    )


def _merge(attempts: Sequence[Attempt]) -> Attempt:
    outcomes = [attempt.outcome for attempt in attempts]
    goes_on = None in outcomes
    worst = min(attempts, key=lambda one: len(_WORST) if one.outcome is None else _WORST.index(one.outcome))
    starts = [attempt.started for attempt in attempts if attempt.started is not None]
    ends = [attempt.ended for attempt in attempts if attempt.ended is not None]
    return replace(
        worst,
        started=min(starts, default=None),
        ended=None if goes_on else max(ends, default=None),
        outcome=None if goes_on else worst.outcome,
        nodes=tuple(dict.fromkeys(node for attempt in attempts for node in attempt.nodes)),
        evidence=attempts[0].evidence if goes_on else worst.evidence,
    )

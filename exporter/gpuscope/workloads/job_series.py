"""Series of single jobs: what each is, does and reports."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping

from gpuscope.catalogue import training as m
from gpuscope.catalogue.metric import Sample
from gpuscope.workloads.observation import JobState, Outcome
from gpuscope.workloads.progress import progress_samples
from gpuscope.workloads.record import JobRecord
from gpuscope.workloads.store import Labels

__all__ = ["OwnerOf", "alive_samples", "array_samples", "latest", "seconds_samples", "steady_samples", "steady_state"]

OwnerOf = Callable[[JobRecord], Labels]
"""Job -> scheduler, namespace, team, queue and kind under which it is counted."""


def latest(records: Iterable[JobRecord]) -> list[JobRecord]:
    """Of jobs that had the same id, as Slurm uses ids again, the latest: labels tell no more than the id."""
    found: dict[tuple[str, str, str], JobRecord] = {}
    for record in records:
        own_id = record.key[:3]
        if own_id not in found or found[own_id].key.submitted < record.key.submitted:
            found[own_id] = record
    return list(found.values())


def steady_samples(record: JobRecord) -> Iterator[Sample]:
    """What stays as it is while its facts, state, outcome and progress do."""
    facts, own = record.facts, _own(record)
    yield Sample(m.JOB_INFO, (*own, facts.team, facts.queue, facts.user, facts.kind, facts.priority), 1.0)
    if facts.gpus is not None:
        yield Sample(m.GPUS, own, float(facts.gpus))
    yield Sample(m.JOB_RESTARTS, own, float(record.restarts))
    if record.outcome is None:
        for one in JobState:
            yield Sample(m.STATE, (*own, one.value), float(one is record.state))
        yield from progress_samples(record, own)
    elif record.ended is not None:
        yield Sample(m.JOB_ENDED, (*own, record.outcome.value, *_met(record)), record.ended)


def steady_state(record: JobRecord) -> Hashable:
    """Everything that ``steady_samples`` depend on."""
    return (
        record.facts, record.state, record.outcome, record.progress, record.still_since, record.restarts, record.ended,
        _met(record),
    )  # fmt: skip


def seconds_samples(record: JobRecord) -> Iterator[Sample]:
    """How long it was in each state."""
    own = _own(record)
    for state, seconds in record.seconds.items():
        yield Sample(m.STATE_SECONDS, (*own, state), seconds)


def array_samples(arrays: Mapping[Labels, int]) -> Iterator[Sample]:
    """How many tasks of each array have not begun."""
    for own, count in arrays.items():
        yield Sample(m.ARRAY_TASKS, own, float(count))


def alive_samples(records: Iterable[JobRecord], owner_of: OwnerOf) -> Iterator[Sample]:
    """How many of these jobs live in each state."""
    alive: Counter[Labels] = Counter()
    for record in records:
        if record.outcome is None:
            alive[(*owner_of(record)[:4], record.state.value)] += record.facts.tasks
    for labels, count in alive.items():
        yield Sample(m.JOBS, labels, float(count))


def _met(record: JobRecord) -> tuple[str, str]:
    """Type of fault and domain of what ended the last attempt; empty where it met nothing, or nobody judged it yet."""
    if record.outcome in (None, Outcome.SUCCEEDED) or not record.episodes:
        return "", ""
    verdict = record.episodes[-1].verdict
    return ("", "") if verdict is None else (verdict.fault_type, verdict.domain.value)


def _own(record: JobRecord) -> Labels:
    return record.key.scheduler, record.key.namespace, record.facts.name, record.key.uid

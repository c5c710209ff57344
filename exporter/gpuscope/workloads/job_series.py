"""Series of single jobs: what each is, does and reports."""

from collections import Counter
from collections.abc import Iterable, Iterator

from gpuscope.catalogue import training as m
from gpuscope.catalogue.metric import Sample
from gpuscope.workloads.observation import JobState
from gpuscope.workloads.progress import progress_samples
from gpuscope.workloads.record import JobRecord
from gpuscope.workloads.store import Labels

__all__ = ["job_samples"]


def job_samples(records: Iterable[JobRecord]) -> Iterator[Sample]:
    """The series of these jobs, and how many of them live in each state.

    Of jobs that had the same id, as Slurm uses ids again, only the latest has series: labels tell no more than the id.
    """
    alive: Counter[Labels] = Counter()
    latest: dict[tuple[str, str, str], JobRecord] = {}
    for record in records:
        own_id = record.key[:3]
        if own_id not in latest or latest[own_id].key.submitted < record.key.submitted:
            latest[own_id] = record
    for record in latest.values():
        facts, key = record.facts, record.key
        own = (key.scheduler, key.namespace, facts.name, key.uid)
        yield Sample(m.JOB_INFO, (*own, facts.team, facts.queue, facts.user, facts.kind, facts.priority), 1.0)
        for state, seconds in record.seconds.items():
            yield Sample(m.STATE_SECONDS, (*own, state), seconds)
        if facts.gpus is not None:
            yield Sample(m.GPUS, own, float(facts.gpus))
        if record.outcome is None:
            alive[key.scheduler, key.namespace, facts.team, facts.queue, record.state.value] += 1
            for one in JobState:
                yield Sample(m.STATE, (*own, one.value), float(one is record.state))
            yield from progress_samples(record, own)
    for labels, count in alive.items():
        yield Sample(m.JOBS, labels, float(count))

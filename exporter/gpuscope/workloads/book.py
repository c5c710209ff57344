"""The book: compares what schedulers say with what was known, counts what happened, and keeps it.

Whatever the book counts it counts once, by the identity of the job and the number of the attempt, so that it does not
matter how often or how late it looks.
"""

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from gpuscope.catalogue import training as m
from gpuscope.catalogue.metric import Metric, Sample
from gpuscope.workloads.fault import Classification, Domain, Trigger
from gpuscope.workloads.observation import Attempt, JobKey, JobState, Observation, ObservedJob, Outcome
from gpuscope.workloads.record import JobRecord, state_since
from gpuscope.workloads.store import Labels, Store

__all__ = ["Book"]

log = logging.getLogger(__name__)

KEEP_S = 24 * 3600.0
"""So long after its end a job has series of its own."""

MAX_GAP_S = 300.0
"""A longer time between two looks is not accounted to the state that was seen before it."""

Classify = Callable[[Attempt], Classification]
TriggerOf = Callable[[ObservedJob, Attempt], Trigger]


class Book:
    """All jobs of all schedulers.

    Args:
        store: where it is kept.
        classify: tells what the end of an attempt was.
        trigger_of: tells who started an attempt.
    """

    def __init__(self, store: Store, classify: Classify, trigger_of: TriggerOf) -> None:
        self._store = store
        self._classify = classify
        self._trigger_of = trigger_of
        self._counters: dict[str, dict[Labels, float]] = store.counters()
        self._jobs = store.jobs()
        self._looks = store.sources()
        self._changed: dict[tuple[str, Labels], float] = {}

    @property
    def jobs(self) -> Mapping[JobKey, JobRecord]:
        """Everything that is known of jobs."""
        return self._jobs

    def apply(self, seen: Observation) -> None:
        """Takes one look into the book; earlier ones that come late change nothing."""
        first, last = self._looks.get(seen.source, (seen.at, seen.at))
        if seen.at < last:
            log.warning("%s answered for a time before its last answer; it is left out", seen.source)
            return
        self._changed = {}
        touched: dict[JobKey, JobRecord] = {}
        for job in seen.jobs:
            record = self._jobs.get(job.key)
            if record is None:
                record = self._open(job, seen.at, first, cold=seen.source not in self._looks)
                self._jobs[job.key] = record
            if record.outcome is None:
                self._follow(record, job, seen.at)
            touched[job.key] = record
        for key, record in self._missing(seen, touched):
            self._accrue(record, seen.at, JobState.UNKNOWN)
            record.outcome, record.ended = Outcome.UNKNOWN, seen.at
            self._count(m.FORGOTTEN, _owner(record))
            touched[key] = record
        # A job that the scheduler still lists is remembered, or it would be counted once more.
        listed = {job.key for job in seen.jobs}
        gone = [
            key
            for key, record in self._jobs.items()
            if key.scheduler == seen.source and key not in listed and _old(record, seen.at)
        ]
        for key in gone:
            del self._jobs[key]
            touched.pop(key, None)
        self._looks[seen.source] = (first, seen.at)
        self._store.write(self._changed, touched.values(), gone, (seen.source, first, seen.at))

    def samples(self) -> Iterator[Sample]:
        """The series of this moment."""
        for metric in m.METRICS:
            for labels, value in self._counters.get(metric.name, {}).items():
                yield Sample(metric, labels, value)
        alive: Counter[Labels] = Counter()
        for record in self._jobs.values():
            if _old(record, self._looks[record.key.scheduler][1]):
                continue
            facts, key = record.facts, record.key
            own = (key.scheduler, key.namespace, facts.name, key.uid)
            yield Sample(m.JOB_INFO, (*own, facts.team, facts.queue, facts.user, facts.kind, facts.priority), 1.0)
            for state, seconds in record.seconds.items():
                yield Sample(m.STATE_SECONDS, (*own, state), seconds)
            if facts.gpus is not None:
                yield Sample(m.GPUS, own, float(facts.gpus))
            if record.outcome is None:
                alive[key.scheduler, key.namespace, facts.team, facts.queue, record.state.value] += 1
                for state in JobState:
                    yield Sample(m.STATE, (*own, state.value), float(state is record.state))
                yield from _progress(record, own)
        for labels, count in alive.items():
            yield Sample(m.JOBS, labels, float(count))

    def _open(self, job: ObservedJob, now: float, first: float, *, cold: bool) -> JobRecord:
        """Begins the record of a job. What was over before the collector first looked is known and not counted."""
        record = JobRecord(job.key, job.facts, job.created, now, job.state, since=state_since(job))
        if not cold and job.created >= first:
            self._count(m.JOBS_CREATED, _owner(record))
            record.seen_at = max(first, min(job.created, now))
        for attempt in job.attempts:
            if attempt.ended is not None and attempt.ended < first:
                record.closed.add(attempt.number)
            if attempt.started is not None and attempt.started < first:
                record.opened.add(attempt.number)
        if job.outcome is not None and (job.ended is None or job.ended < first):
            record.outcome, record.ended = job.outcome, job.ended or now
        return record

    def _follow(self, record: JobRecord, job: ObservedJob, now: float) -> None:
        record.facts = job.facts
        before = sorted(job.attempts, key=lambda attempt: attempt.number)
        for attempt in before:
            self._attempt(record, job, attempt)
        told = state_since(job)
        if job.state is not record.state:
            record.since = told if told is not None and record.seen_at <= told <= now else now
        elif told is not None and record.since is not None and record.since < told <= now:
            record.since = told  # the next attempt began and reached the same state between two looks
        self._accrue(record, now if job.ended is None else min(now, job.ended), job.state)
        record.holds = any(attempt.started is not None and attempt.ended is None for attempt in job.attempts)
        record.progress = job.progress or record.progress
        if job.outcome is not None:
            record.outcome, record.ended = job.outcome, now if job.ended is None else job.ended
            self._count(m.JOBS_ENDED, (*_owner(record), job.outcome.value))

    def _attempt(self, record: JobRecord, job: ObservedJob, attempt: Attempt) -> None:
        number = attempt.number
        if number > 0 and attempt.started is not None and number not in record.opened:
            record.opened.add(number)
            record.restarts += 1
            trigger = self._trigger_of(job, attempt)
            self._count(m.RESTARTS, (*_owner(record), trigger.value, record.fault or "unknown"))
            record.fault, record.interrupted_at = "", None
        if attempt.ended is None or number in record.closed:
            return
        record.closed.add(number)
        outcome = attempt.outcome or Outcome.UNKNOWN
        self._count(m.ATTEMPTS, (*_owner(record), outcome.value))
        if outcome is Outcome.SUCCEEDED:
            return
        what = self._classify(attempt)
        record.fault, record.interrupted_at = what.fault_type, attempt.ended
        if what.domain is not Domain.PLANNED:
            record.last_fault = what.fault_type
            key = record.key
            labels = (key.scheduler, key.namespace, record.facts.team, what.fault_type, what.domain.value)
            self._count(m.FAULTS, (*labels, what.scope.value))

    def _accrue(self, record: JobRecord, until: float, state: JobState) -> None:
        passed = until - record.seen_at
        if passed > 0:
            spent_in = record.state if passed <= MAX_GAP_S else JobState.UNKNOWN
            record.seconds[spent_in.value] = record.seconds.get(spent_in.value, 0.0) + passed
            if record.facts.gpus and record.holds:
                key, facts = record.key, record.facts
                labels = (key.scheduler, key.namespace, facts.team, facts.queue, spent_in.value)
                self._count(m.STATE_GPU_SECONDS, labels, passed * record.facts.gpus)
            record.seen_at = until
        record.state = state

    def _missing(self, seen: Observation, touched: Mapping[JobKey, JobRecord]) -> list[tuple[JobKey, JobRecord]]:
        if not seen.complete:
            return []
        return [
            (key, record)
            for key, record in self._jobs.items()
            if key.scheduler == seen.source and record.outcome is None and key not in touched
        ]

    def _count(self, metric: Metric, labels: Labels, value: float = 1.0) -> None:
        values = self._counters.setdefault(metric.name, {})
        values[labels] = values.get(labels, 0.0) + value
        self._changed[metric.name, labels] = values[labels]


def _owner(record: JobRecord) -> Labels:
    key, facts = record.key, record.facts
    return key.scheduler, key.namespace, facts.team, facts.queue, facts.kind


def _old(record: JobRecord, now: float) -> bool:
    return record.ended is not None and record.outcome is not None and now - record.ended > KEEP_S


def _progress(record: JobRecord, own: Labels) -> Iterator[Sample]:
    told = record.progress
    if told is None:
        return
    pairs = (
        (m.PROGRESS, told.ratio), (m.REMAINING, told.remaining_s), (m.STEP, told.step),
        (m.CHECKPOINT_TIME, told.checkpoint_at),
    )  # fmt: skip
    for metric, value in pairs:
        if value is not None:
            yield Sample(metric, own, value)

"""The book: compares what schedulers say with what was known, counts what happened, and keeps it.

Whatever the book counts it counts once, by the identity of the job and the number of the attempt, so that it does not
matter how often or how late it looks.
"""

import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from gpuscope.catalogue import training as m
from gpuscope.catalogue.metric import Sample
from gpuscope.workloads.episode import Episode
from gpuscope.workloads.fault import Classification, Domain, Trigger
from gpuscope.workloads.job_series import job_samples
from gpuscope.workloads.ledger import Ledger
from gpuscope.workloads.node_faults import FaultView
from gpuscope.workloads.observation import Attempt, JobKey, JobState, Observation, ObservedJob, Outcome
from gpuscope.workloads.progress import state_now
from gpuscope.workloads.record import JobRecord, state_since
from gpuscope.workloads.recovery import measure, phases
from gpuscope.workloads.store import Labels, Store
from gpuscope.workloads.verdict import Classify, Verdicts

__all__ = ["Book"]

log = logging.getLogger(__name__)

KEEP_S = 24 * 3600.0
"""So long after its end a job has series of its own."""

LIVE_S = 60.0
"""So short ago was the look before, or the first report of progress of an attempt was perhaps missed."""

STALLED_AFTER_S = 600.0
"""Progress that stands still for longer makes a job stalled, unless a setting says otherwise."""

MAX_GAP_S = 300.0
"""A longer time between two looks is not accounted to the state that was seen before it."""

TriggerOf = Callable[[ObservedJob, Attempt], Trigger]


class Book:
    """All jobs of all schedulers.

    Args:
        store: where it is kept.
        classify: tells what the end of an attempt was.
        trigger_of: tells who started an attempt.
        faults: what the agents tell of their nodes; ``None`` where nobody reads them.
        stalled_after_s: progress that stands still for longer makes a job stalled.
    """

    def __init__(
        self, store: Store, classify: Classify, trigger_of: TriggerOf, faults: FaultView | None = None,
        stalled_after_s: float = STALLED_AFTER_S,
    ) -> None:  # fmt: skip
        self._store = store
        self._trigger_of = trigger_of
        self._stalled_after_s = stalled_after_s
        self._ledger = Ledger(store.counters())
        self._jobs = store.jobs()
        self._looks = store.sources()
        self._verdicts = Verdicts(classify, faults)
        self._verdicts.remember(self._jobs.values())
        self._waiting = {key for key, record in self._jobs.items() if record.waits}

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
        self._ledger.begin()
        touched: dict[JobKey, JobRecord] = {}
        for job in seen.jobs:
            record = self._jobs.get(job.key)
            if record is None:
                record = self._open(job, seen.at, first, cold=seen.source not in self._looks)
                self._jobs[job.key] = record
            if record.outcome is None:
                self._follow(record, job, seen.at)
            elif job.key in self._waiting:
                self._learn(record, job)
            touched[job.key] = record
        for key, record in self._missing(seen, touched):
            self._accrue(record, seen.at, JobState.UNKNOWN)
            record.outcome, record.ended = Outcome.UNKNOWN, seen.at
            self._ledger.count(m.FORGOTTEN, _owner(record))
            touched[key] = record
        touched |= self._judge(seen)
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
            self._waiting.discard(key)
        self._looks[seen.source] = (first, seen.at)
        self._store.write(self._ledger.changed, touched.values(), gone, (seen.source, first, seen.at))

    def samples(self) -> Iterator[Sample]:
        """The series of this moment."""
        yield from self._ledger.samples(m.METRICS)
        yield from job_samples(
            record for record in self._jobs.values() if not _old(record, self._looks[record.key.scheduler][1])
        )

    def _open(self, job: ObservedJob, now: float, first: float, *, cold: bool) -> JobRecord:
        """Begins the record of a job. What was over before the collector first looked is known and not counted."""
        record = JobRecord(job.key, job.facts, job.created, now, job.state, since=state_since(job))
        for domain in Domain:
            key = job.key
            self._ledger.count(m.INTERRUPTIONS, (key.scheduler, key.namespace, job.facts.team, domain.value), 0.0)
        if not cold and job.created >= first:
            self._ledger.count(m.JOBS_CREATED, _owner(record))
            record.seen_at = max(first, min(job.created, now))
        for attempt in sorted(job.attempts, key=lambda one: one.number):
            if attempt.ended is not None and attempt.ended < first:
                record.closed.add(attempt.number)
                self._take_up(record, attempt)
            if attempt.started is not None and attempt.started < first:
                record.opened.add(attempt.number)
                record.restarts = max(record.restarts, attempt.number)
                before = record.episode_before(attempt.number)
                if before is not None:
                    before.trigger = Trigger.UNKNOWN.value
        if job.outcome is not None and (job.ended is None or job.ended < first):
            record.outcome, record.ended = job.outcome, job.ended or now
        return record

    def _take_up(self, record: JobRecord, attempt: Attempt) -> None:
        """Remembers an end of before the first look: the restart after it names its fault, and nothing counts it."""
        if attempt.outcome is Outcome.SUCCEEDED:
            return
        episode = self._verdicts.settled(record, attempt)
        record.add(episode)
        if episode.verdict is not None and episode.verdict.domain is not Domain.PLANNED:
            record.last_fault = episode.fault_type

    def _follow(self, record: JobRecord, job: ObservedJob, now: float) -> None:
        record.facts = job.facts
        before = sorted(job.attempts, key=lambda attempt: attempt.number)
        for attempt in before:
            self._attempt(record, job, attempt)
        told = state_since(job)
        if job.state is not record.state and not (job.state is JobState.TRAINING and record.state is JobState.STALLED):
            record.since = told if told is not None and record.seen_at <= told <= now else now
        elif told is not None and record.since is not None and record.since < told <= now:
            record.since = told  # the next attempt began and reached the same state between two looks
        measure(record.episodes, job, live=now - record.seen_at <= LIVE_S)
        self._count_recovery(record)
        state = state_now(record, job, now, self._stalled_after_s)
        if {state, record.state} == {JobState.TRAINING, JobState.STALLED}:
            record.since = now
        self._accrue(record, now if job.ended is None else min(now, job.ended), state)
        record.holds = any(attempt.started is not None and attempt.ended is None for attempt in job.attempts)
        record.progress = job.progress or record.progress
        if job.outcome is not None:
            record.outcome, record.ended = job.outcome, now if job.ended is None else job.ended
            self._ledger.count(m.JOBS_ENDED, (*_owner(record), job.outcome.value))

    def _attempt(self, record: JobRecord, job: ObservedJob, attempt: Attempt) -> None:
        number = attempt.number
        if number > 0 and attempt.started is not None and number not in record.opened:
            record.opened.add(number)
            record.restarts += 1
            trigger = self._trigger_of(job, attempt).value
            before = record.episode_before(number)
            if before is None or before.trigger:
                self._ledger.count(m.RESTARTS, (*_owner(record), trigger, "unknown"))
            else:
                before.trigger = trigger
                if before.final:
                    self._count_restart(record, before)
        elif number in record.opened:
            before = record.episode_before(number)
            if before is not None and before.trigger and not before.final:
                before.trigger = self._trigger_of(job, attempt).value
        if attempt.ended is None:
            return
        if number in record.closed:
            self._learn_attempt(record, attempt)
            return
        record.closed.add(number)
        outcome = attempt.outcome or Outcome.UNKNOWN
        self._ledger.count(m.ATTEMPTS, (*_owner(record), outcome.value))
        if outcome is not Outcome.SUCCEEDED:
            record.add(Episode(attempt))
            self._waiting.add(record.key)

    def _learn(self, record: JobRecord, job: ObservedJob) -> None:
        for attempt in job.attempts:
            self._learn_attempt(record, attempt)

    def _learn_attempt(self, record: JobRecord, attempt: Attempt) -> None:
        """Takes what a scheduler tells later of an end whose verdict is not final; what agents told is kept."""
        for episode in record.episodes:
            if episode.number == attempt.number and not episode.final and attempt.ended == episode.ended:
                known = episode.attempt.evidence
                evidence = replace(attempt.evidence, xids=known.xids, node_signals=known.node_signals)
                episode.attempt = replace(attempt, evidence=evidence)

    def _judge(self, seen: Observation) -> dict[JobKey, JobRecord]:
        """Judges the ends that have no final verdict yet; those that get one are counted."""
        records = [self._jobs[key] for key in self._waiting if key.scheduler == seen.source]
        waiting = [(record, one) for record in records for one in record.episodes if not one.final]
        if waiting:
            self._verdicts.judge(waiting, seen.jobs, seen.at)
        for record, episode in waiting:
            what = episode.verdict
            if what is None:
                continue
            if what.domain is not Domain.PLANNED and episode is record.episodes[-1]:
                record.last_fault = what.fault_type
            if episode.final:
                self._settle(record, episode, what)
        self._waiting -= {record.key for record in records if not record.waits}
        self._verdicts.forget(seen.at)
        return {record.key: record for record in records}

    def _settle(self, record: JobRecord, episode: Episode, what: Classification) -> None:
        key, team = record.key, record.facts.team
        self._ledger.count(m.INTERRUPTIONS, (key.scheduler, key.namespace, team, what.domain.value))
        if what.domain is not Domain.PLANNED:
            labels = (key.scheduler, key.namespace, team, what.fault_type, what.domain.value, what.scope.value)
            self._ledger.count(m.FAULTS, labels)
        if episode.trigger:
            self._count_restart(record, episode)
        detection = self._verdicts.detection_s(episode)
        if detection is not None:
            episode.measured["detection"] = detection
        self._count_recovery(record)

    def _count_restart(self, record: JobRecord, before: Episode) -> None:
        self._ledger.count(m.RESTARTS, (*_owner(record), before.trigger, before.fault_type))

    def _count_recovery(self, record: JobRecord) -> None:
        for episode in record.episodes:
            if episode.final and episode.verdict is not None:
                for metric, labels, seconds in phases(episode, episode.verdict.domain.value, record.key.scheduler):
                    self._ledger.observe(metric, labels, seconds)

    def _accrue(self, record: JobRecord, until: float, state: JobState) -> None:
        passed = until - record.seen_at
        if passed > 0:
            spent_in = record.state if passed <= MAX_GAP_S else JobState.UNKNOWN
            record.seconds[spent_in.value] = record.seconds.get(spent_in.value, 0.0) + passed
            if record.facts.gpus and record.holds:
                key, facts = record.key, record.facts
                labels = (key.scheduler, key.namespace, facts.team, facts.queue, spent_in.value)
                self._ledger.count(m.STATE_GPU_SECONDS, labels, passed * record.facts.gpus)
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


def _owner(record: JobRecord) -> Labels:
    key, facts = record.key, record.facts
    return key.scheduler, key.namespace, facts.team, facts.queue, facts.kind


def _old(record: JobRecord, now: float) -> bool:
    return record.ended is not None and record.outcome is not None and now - record.ended > KEEP_S

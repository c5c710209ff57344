"""The book: compares what schedulers say with what was known, counts what happened, and keeps it.

Whatever the book counts it counts once, by the identity of the job and the number of the attempt, so that it does not
matter how often or how late it looks.
"""

import logging
from collections.abc import Iterable, Iterator, Mapping

from gpuscope.catalogue import training as m
from gpuscope.catalogue.metric import Sample
from gpuscope.workloads.attempts import Attempts, TriggerOf
from gpuscope.workloads.job_series import alive_samples, array_samples, latest, seconds_samples, steady_samples
from gpuscope.workloads.ledger import Ledger
from gpuscope.workloads.limits import DEFAULT, Limits, Selection, select, waits_in_array
from gpuscope.workloads.node_faults import FaultView
from gpuscope.workloads.observation import JobFacts, JobKey, JobState, Observation, ObservedJob, Outcome
from gpuscope.workloads.progress import state_now
from gpuscope.workloads.rebase import rebase
from gpuscope.workloads.record import JobRecord, state_since
from gpuscope.workloads.recovery import measure
from gpuscope.workloads.store import Store
from gpuscope.workloads.tally import Tally
from gpuscope.workloads.timeline import MAX_GAP_S, Span, spans
from gpuscope.workloads.verdict import Classify, Verdicts

__all__ = ["Book"]

log = logging.getLogger(__name__)

KEEP_S = 24 * 3600.0
"""So long after its end a job has series of its own."""

KEPT_FOR_S = 120.0
"""So rarely a task that only waits is written down anew: an array may have thousands of them."""

LIVE_S = 60.0
"""So short ago was the look before, or the first report of progress of an attempt was perhaps missed."""

STALLED_AFTER_S = 600.0
"""Progress that stands still for longer makes a job stalled, unless a setting says otherwise."""

_Before = tuple[Outcome | None, JobState, JobFacts]


class Book:
    """All jobs of all schedulers.

    Args:
        store: where it is kept.
        classify: tells what the end of an attempt was.
        trigger_of: tells who started an attempt.
        faults: what the agents tell of their nodes; ``None`` where nobody reads them.
        stalled_after_s: progress that stands still for longer makes a job stalled.
        limits: how many series there may be.
    """

    def __init__(
        self, store: Store, classify: Classify, trigger_of: TriggerOf, faults: FaultView | None = None,
        stalled_after_s: float = STALLED_AFTER_S, limits: Limits = DEFAULT,
    ) -> None:  # fmt: skip
        self._store = store
        self._stalled_after_s = stalled_after_s
        self._ledger = Ledger(store.counters())
        self._limits = limits
        self._tally = Tally(self._ledger, limits.owners)
        self._jobs = store.jobs()
        self._looks = store.sources()
        self._unwritten: set[JobKey] = set()
        self._kept_at: dict[JobKey, float] = {}
        for record in self._jobs.values():
            self._tally.begin(record)
        self._attempts = Attempts(self._jobs, self._tally, Verdicts(classify, faults), trigger_of)

    @property
    def jobs(self) -> Mapping[JobKey, JobRecord]:
        """Everything that is known of jobs."""
        return self._jobs

    def apply(self, seen: Observation) -> None:
        """Takes one look into the book, and writes it down. One before the last tells that our clock was set back.

        Raises:
            StateError: it is in the book, and could not be written; ``flush`` and each later look try again.
        """
        first, last = self._looks.get(seen.source, (seen.at, seen.at))
        if seen.at < last:
            first = self._set_back(seen, first, last)
        touched: dict[JobKey, JobRecord] = {}
        for job in seen.jobs:
            record = self._jobs.get(job.key)
            before = None
            if record is not None and job.key not in self._unwritten:
                before = record.outcome, record.state, record.facts
            self._unwritten.add(job.key)
            if record is None:
                record = self._open(job, seen.at, first, cold=seen.source not in self._looks)
                self._jobs[job.key] = record
            elif record.outcome is not None and (job.outcome is None or record.forgotten):
                self._reopen(record, job, seen.at)
            if record.outcome is None:
                self._follow(record, job, seen.at)
            else:
                self._attempts.learn(record, job)
            touched[job.key] = record
            if not self._to_write(record, before, seen.at):
                self._unwritten.discard(job.key)
        missing = self._end_missing(seen, touched)
        gone = self._forget_old(seen)
        self._looks[seen.source] = (first, seen.at)
        self._unwritten |= missing.keys() | self._attempts.judge(seen).keys() | gone
        self.flush()

    def _set_back(self, seen: Observation, first: float, last: float) -> float:
        """Our clock was ahead at the last look. Returns the time of the first look on the clock of now."""
        back_s = last - seen.at
        if back_s > 1.0:
            log.warning(
                "%s: the collector's clock was set back by %.0f s; what is remembered is brought to it",
                seen.source, back_s,
            )  # fmt: skip
        known = [record for key, record in self._jobs.items() if key.scheduler == seen.source]
        rebase(known, back_s, seen.at)
        self._unwritten |= {record.key for record in known}
        self._kept_at.clear()
        return min(first - back_s, seen.at)

    def flush(self) -> None:
        """Writes what was not written yet.

        Raises:
            StateError: it could not be written.
        """
        present = [self._jobs[key] for key in self._unwritten if key in self._jobs]
        gone = [key for key in self._unwritten if key not in self._jobs]
        looks = [(name, first, last) for name, (first, last) in self._looks.items()]
        self._store.write(self._ledger.changed, present, gone, looks)
        self._ledger.written()
        self._unwritten = set()

    def counters(self) -> Iterator[Sample]:
        """What was counted."""
        return self._ledger.samples(m.METRICS)

    def shown(self) -> list[JobRecord]:
        """Jobs that have series of their own."""
        return latest(
            record for record in self._jobs.values() if not _old(record, self._looks[record.key.scheduler][1])
        )

    def selection(self) -> Selection:
        """Which of these have series of their own while there is room, and which do not."""
        return select(self.shown(), self._limits.jobs)

    def totals(self, selection: Selection) -> Iterator[Sample]:
        """How many jobs live in each state, how many tasks wait, and what was left out."""
        yield from alive_samples(self.shown(), self._tally.owner)
        yield from array_samples(selection.arrays)
        yield Sample(m.LEFT_OUT, ("jobs",), float(selection.left_out))
        yield Sample(m.LEFT_OUT, ("owners",), float(self._tally.left_out(self._jobs.values())))

    def job_series(self) -> Iterator[Sample]:
        """The series of single jobs, and how many there are."""
        selection = self.selection()
        for record in selection.own:
            yield from steady_samples(record)
            yield from seconds_samples(record)
        yield from self.totals(selection)

    def samples(self) -> Iterator[Sample]:
        """All series of this moment."""
        yield from self.counters()
        yield from self.job_series()

    def _open(self, job: ObservedJob, now: float, first: float, *, cold: bool) -> JobRecord:
        """Begins the record of a job. What was over before the collector first looked is known and not counted."""
        record = JobRecord(job.key, job.facts, job.created, now, job.state, since=state_since(job))
        record.seconds[job.state.value] = 0.0
        self._tally.begin(record)
        if not cold and job.created >= first:
            self._tally.created(record)
            record.seen_at = max(first, min(job.created, now))
        self._attempts.take_up(record, job, first)
        if job.outcome is not None and (job.ended is None or job.ended < first):
            record.outcome, record.ended = job.outcome, job.ended or now
        return record

    def _to_write(self, record: JobRecord, before: _Before | None, now: float) -> bool:
        """Whether a job that was just seen has changed by more than the time that it waits."""
        same = (record.outcome, record.state, record.facts) == before
        if not waits_in_array(record):
            self._kept_at.pop(record.key, None)
            return not same or record.outcome is None or record.waits
        if same and now - self._kept_at.get(record.key, 0.0) < KEPT_FOR_S:
            return False
        self._kept_at[record.key] = now
        return True

    def _reopen(self, record: JobRecord, job: ObservedJob, now: float) -> None:
        """A job that was over is there again: it was requeued, or it was only away, or the end was told in error."""
        ended = record.ended if record.ended is not None else now
        if not record.forgotten and self._attempts.reopen(record, job):
            began = [one.started for one in job.attempts if one.started is not None and one.started >= ended]
            record.seen_at = min([now, *began])
        record.outcome = record.ended = record.still_since = None
        record.forgotten = False
        record.state, record.since = JobState.UNKNOWN, now

    def _follow(self, record: JobRecord, job: ObservedJob, now: float) -> None:
        if record.facts != job.facts:
            record.facts = job.facts
            self._tally.begin(record)
        self._attempts.follow(record, job, now)
        told = state_since(job)
        if job.state is not record.state and not (job.state is JobState.TRAINING and record.state is JobState.STALLED):
            record.since = told if told is not None and record.seen_at <= told <= now else now
        elif told is not None and record.since is not None and record.since < told <= now:
            record.since = told  # the next attempt began and reached the same state between two looks
        measure(record.episodes, job, live=now - record.seen_at <= LIVE_S)
        self._attempts.recovered(record)
        state = state_now(record, job, now, self._stalled_after_s)
        if {state, record.state} == {JobState.TRAINING, JobState.STALLED}:
            record.since = now
        until = now if job.ended is None else min(now, job.ended)
        self._accrue(record, until, state, list(spans(record, job, until, state)))
        record.holds = any(attempt.started is not None and attempt.ended is None for attempt in job.attempts)
        record.progress = job.progress or record.progress
        record.why, record.nodes = job.why, job.nodes
        if job.outcome is not None:
            record.outcome, record.ended = job.outcome, now if job.ended is None else job.ended
            if self._attempts.close(record, job):
                self._tally.ended(record, job.outcome)

    def _accrue(self, record: JobRecord, until: float, state: JobState, spent: Iterable[Span]) -> None:
        for one in spent:
            record.seconds[one.state.value] = record.seconds.get(one.state.value, 0.0) + one.seconds
            if one.held:
                self._tally.gpu_time(record, one.state, one.seconds)
        record.seen_at = max(record.seen_at, until)
        record.state = state
        record.seconds.setdefault(state.value, 0.0)

    def _end_missing(self, seen: Observation, touched: Mapping[JobKey, JobRecord]) -> dict[JobKey, JobRecord]:
        """Jobs that went away in the scheduler before anybody learned how they ended."""
        if not seen.complete:
            return {}
        missing = {
            key: record
            for key, record in self._jobs.items()
            if key.scheduler == seen.source and record.outcome is None and not (key in touched or key in seen.hidden)
        }
        for record in missing.values():
            passed = seen.at - record.seen_at
            gone = [Span(record.state if passed <= MAX_GAP_S else JobState.UNKNOWN, passed, record.holds)]
            self._accrue(record, seen.at, JobState.UNKNOWN, gone if passed > 0 else ())
            record.outcome, record.ended, record.forgotten = Outcome.UNKNOWN, seen.at, True
            self._tally.forgotten(record)
        return missing

    def _forget_old(self, seen: Observation) -> set[JobKey]:
        """A job that the scheduler still lists is remembered, or it would be counted once more."""
        listed = {job.key for job in seen.jobs}
        gone = {
            key
            for key, record in self._jobs.items()
            if key.scheduler == seen.source and key not in listed and _old(record, seen.at)
        }
        for key in gone:
            del self._jobs[key]
            self._kept_at.pop(key, None)
        self._attempts.forget(gone)
        return gone


def _old(record: JobRecord, now: float) -> bool:
    """Whether it ended long ago, or so far ahead of now that it would stay for ever."""
    return record.ended is not None and record.outcome is not None and abs(now - record.ended) > KEEP_S

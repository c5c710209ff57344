"""Attempts of jobs: what ends and begins is counted, and each end is judged until its verdict is final."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from gpuscope.workloads.episode import Episode
from gpuscope.workloads.fault import Classification, Domain, Trigger
from gpuscope.workloads.observation import Attempt, JobKey, Observation, ObservedJob, Outcome
from gpuscope.workloads.record import JobRecord
from gpuscope.workloads.tally import Tally
from gpuscope.workloads.verdict import Verdicts

__all__ = ["UNSEEN_AFTER_S", "Attempts", "TriggerOf"]

UNSEEN_AFTER_S = 300.0
"""Attempts that are missing for so long nobody will tell of: slurmdbd is asked every two minutes."""

TriggerOf = Callable[[ObservedJob, Attempt], Trigger]
"""Job, attempt of it -> who started that attempt."""


class Attempts:
    """The attempts of all jobs of the book.

    Args:
        jobs: the book's jobs.
        tally: counts.
        verdicts: judges ends.
        trigger_of: tells who started an attempt.
    """

    def __init__(
        self, jobs: Mapping[JobKey, JobRecord], tally: Tally, verdicts: Verdicts, trigger_of: TriggerOf
    ) -> None:
        self._jobs = jobs
        self._tally = tally
        self._verdicts = verdicts
        self._trigger_of = trigger_of
        self._verdicts.remember(jobs.values())
        self._waiting = {key for key, record in jobs.items() if record.waits}

    def take_up(self, record: JobRecord, job: ObservedJob, first: float) -> None:
        """Notes what began and ended before the collector first looked: it is known, and nothing counts it."""
        for attempt in sorted(job.attempts, key=lambda one: one.number):
            if attempt.ended is not None and attempt.ended < first:
                record.closed.add(attempt.number)
                self._remember(record, attempt)
            if job.created < first or _began(attempt, before=first):
                record.settled = max(record.settled, attempt.number)
            if _began(attempt, before=first):
                record.opened.add(attempt.number)
                record.restarts = max(record.restarts, attempt.number)
                before = record.episode_before(attempt.number)
                if before is not None:
                    before.trigger = Trigger.UNKNOWN.value

    def follow(self, record: JobRecord, job: ObservedJob, now: float) -> None:
        """Counts what began and ended since the last look."""
        for attempt in sorted(job.attempts, key=lambda one: one.number):
            self._begin(record, job, attempt)
            if attempt.ended is not None:
                self._end(record, attempt)
        gap = any(number not in record.closed for number in range(record.settled, record.restarts))
        if not gap:
            record.settled, record.gap_since = max(record.settled, record.restarts), None
        elif record.gap_since is None:
            record.gap_since = now
            self._waiting.add(record.key)

    def close(self, record: JobRecord, job: ObservedJob) -> bool:
        """Notes the end of a job; returns whether it is to be counted.

        An end that was told in error was counted once already, and counters do not go back.
        """
        last = _last(job)
        counts, record.counted_end = record.counted_end != last, last
        return counts

    def reopen(self, record: JobRecord, job: ObservedJob) -> bool:
        """Takes back what is not so of the ends of a job that was over and is there again.

        Returns:
            Whether it was over indeed, and goes on with another attempt, as after a requeue.
        """
        alive = {attempt.number for attempt in job.attempts if attempt.ended is None} & record.closed
        if not alive:
            record.went_on_after = max(record.closed, default=None)
            return True
        record.retracted |= alive
        record.episodes = [one for one in record.episodes if one.final or one.number not in alive]
        if not record.waits:
            self._waiting.discard(record.key)
        return False

    def learn(self, record: JobRecord, job: ObservedJob) -> None:
        """Takes what a scheduler tells later of the attempts of a job that is over."""
        if record.key not in self._waiting:
            return
        if record.gap_since is not None:
            self.follow(record, job, record.gap_since)
        for attempt in job.attempts:
            self._learn(record, attempt)

    def judge(self, seen: Observation) -> dict[JobKey, JobRecord]:
        """Judges the ends that have no final verdict yet; those that get one are counted.

        Returns:
            The jobs that waited for one.
        """
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
        for record in records:
            if record.gap_since is not None and seen.at - record.gap_since >= UNSEEN_AFTER_S:
                self._close_gap(record)
        self._waiting -= {record.key for record in records if not record.waits}
        self._verdicts.forget(seen.at)
        return {record.key: record for record in records}

    def recovered(self, record: JobRecord) -> None:
        """Counts what is known by now of the job's recoveries."""
        for episode in record.episodes:
            if episode.final and episode.verdict is not None:
                self._tally.recovery(record, episode, episode.verdict.domain)

    def forget(self, keys: Iterable[JobKey]) -> None:
        """These jobs are not in the book any more."""
        self._waiting.difference_update(keys)

    def _remember(self, record: JobRecord, attempt: Attempt) -> None:
        """An end of before the first look: the restart after it names its fault."""
        if attempt.outcome is Outcome.SUCCEEDED:
            return
        episode = self._verdicts.settled(record, attempt)
        record.add(episode)
        if episode.verdict is not None and episode.verdict.domain is not Domain.PLANNED:
            record.last_fault = episode.fault_type

    def _begin(self, record: JobRecord, job: ObservedJob, attempt: Attempt) -> None:
        number = attempt.number
        before = record.episode_before(number)
        if number < record.settled:
            return
        if number in record.opened:
            if before is not None and before.trigger and not before.final:
                before.trigger = self._trigger(record, job, attempt).value
        elif number > 0 and _began(attempt):
            record.restarts = max(record.restarts, number)
            if number - 1 >= record.settled and number - 1 not in record.closed:
                return  # nobody told yet how the attempt before it ended
            record.opened.add(number)
            trigger = self._trigger(record, job, attempt).value
            if before is None or before.trigger:
                self._tally.restart(record, trigger, "none" if _succeeded(job, number - 1) else "unknown")
                return
            before.trigger = trigger
            if before.final:
                self._tally.restart(record, trigger, before.fault_type)

    def _close_gap(self, record: JobRecord) -> None:
        """Counts attempts that nobody will tell of any more; the number of a later one says that there were some."""
        ended = sum(number not in record.closed for number in range(record.settled, record.restarts))
        began = sum(number not in record.opened for number in range(record.settled + 1, record.restarts + 1))
        self._tally.unseen(record, ended, began)
        record.opened.add(record.restarts)
        record.settled, record.gap_since = record.restarts, None

    def _trigger(self, record: JobRecord, job: ObservedJob, attempt: Attempt) -> Trigger:
        """Who started an attempt; no scheduler starts by itself a job that was over, but after its own interruption."""
        told = self._trigger_of(job, attempt)
        if told is Trigger.AUTOMATIC and record.went_on_after == attempt.number - 1:
            before = next((one for one in job.attempts if one.number == attempt.number - 1), None)
            if before is None or before.outcome not in (Outcome.INTERRUPTED, Outcome.PREEMPTED):
                return Trigger.UNKNOWN
        return told

    def _end(self, record: JobRecord, attempt: Attempt) -> None:
        number, outcome = attempt.number, attempt.outcome or Outcome.UNKNOWN
        if number in record.retracted:
            record.retracted.discard(number)
            if any(one.number == number for one in record.episodes):
                return
        elif number in record.closed or number < record.settled:
            self._learn(record, attempt)
            return
        else:
            record.closed.add(number)
            self._tally.attempt(record, outcome)
        if outcome is not Outcome.SUCCEEDED:
            record.add(Episode(attempt))
            self._waiting.add(record.key)

    def _learn(self, record: JobRecord, attempt: Attempt) -> None:
        """Takes what a scheduler tells later of an end whose verdict is not final; what agents told is kept."""
        for episode in record.episodes:
            if episode.number == attempt.number and not episode.final and attempt.ended == episode.ended:
                known = episode.attempt.evidence
                evidence = replace(attempt.evidence, xids=known.xids, node_signals=known.node_signals)
                episode.attempt = replace(attempt, evidence=evidence)

    def _settle(self, record: JobRecord, episode: Episode, what: Classification) -> None:
        self._tally.interruption(record, what)
        if episode.trigger:
            self._tally.restart(record, episode.trigger, episode.fault_type)
        detection = self._verdicts.detection_s(episode)
        if detection is not None:
            episode.measured["detection"] = detection
        self.recovered(record)


def _began(attempt: Attempt, before: float = float("inf")) -> bool:
    """Whether it began, before that unix time; one that ended did, also where nobody says when."""
    began = attempt.ended if attempt.started is None else attempt.started
    return began is not None and began < before


def _last(job: ObservedJob) -> int:
    return max((attempt.number for attempt in job.attempts), default=-1)


def _succeeded(job: ObservedJob, number: int) -> bool:
    return any(one.number == number and one.outcome is Outcome.SUCCEEDED for one in job.attempts)

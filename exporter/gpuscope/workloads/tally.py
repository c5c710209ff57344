"""What the book counts, and under which labels."""

from collections.abc import Iterable

from gpuscope.catalogue import training as m
from gpuscope.workloads.episode import Episode
from gpuscope.workloads.fault import Classification, Domain, Scope, Trigger
from gpuscope.workloads.ledger import Ledger
from gpuscope.workloads.observation import JobState, Outcome
from gpuscope.workloads.record import JobRecord
from gpuscope.workloads.recovery import phases
from gpuscope.workloads.store import Labels

__all__ = ["Tally"]

_UNKNOWN = "unknown"
_OTHER = "other"


class Tally:
    """Counts by the owner of a job: its scheduler, namespace, team, queue and kind.

    Counters stay for ever, so that there can be no more owners than ``most``: the jobs of those that come later are
    counted under ``other``, also after a restart.

    Args:
        ledger: where the counters are.
        most: so many owners have counters of their own.
    """

    def __init__(self, ledger: Ledger, most: int) -> None:
        self._ledger = ledger
        self._most = most
        self._owners = {sample.labels for sample in ledger.samples((m.JOBS_CREATED,))}
        self._begun: set[Labels] = set()

    def begin(self, record: JobRecord) -> None:
        """Begins at 0 what can be foreseen of the job's owner; types of faults cannot, but for ``unknown``."""
        told = _owner(record)
        if len(self._owners) < self._most:
            self._owners.add(told)
        own = self.owner(record)
        team = own[:3]
        if own in self._begun:
            return
        self._begun.add(own)
        for metric in (m.JOBS_CREATED, m.FORGOTTEN):
            self._ledger.count(metric, own, 0.0)
        for outcome in Outcome:
            self._ledger.count(m.JOBS_ENDED, (*own, outcome.value), 0.0)
            self._ledger.count(m.ATTEMPTS, (*own, outcome.value), 0.0)
        for trigger in Trigger:
            self._ledger.count(m.RESTARTS, (*own, trigger.value, _UNKNOWN), 0.0)
        for domain in Domain:
            self._ledger.count(m.INTERRUPTIONS, (*team, domain.value), 0.0)
        self._ledger.count(m.FAULTS, (*team, _UNKNOWN, Domain.UNKNOWN.value, Scope.UNKNOWN.value), 0.0)

    def owner(self, record: JobRecord) -> Labels:
        """Scheduler, namespace, team, queue and kind under which a job is counted."""
        told = _owner(record)
        return told if told in self._owners else (told[0], _OTHER, _OTHER, _OTHER, told[4])

    def left_out(self, records: Iterable[JobRecord]) -> int:
        """How many owners of these jobs have no counters of their own."""
        return len({_owner(record) for record in records} - self._owners)

    def created(self, record: JobRecord) -> None:
        """A job was submitted."""
        self._ledger.count(m.JOBS_CREATED, self.owner(record))

    def ended(self, record: JobRecord, outcome: Outcome) -> None:
        """A job ended for good."""
        self._ledger.count(m.JOBS_ENDED, (*self.owner(record), outcome.value))

    def forgotten(self, record: JobRecord) -> None:
        """A job went away and nobody learned how it ended."""
        self._ledger.count(m.FORGOTTEN, self.owner(record))

    def attempt(self, record: JobRecord, outcome: Outcome) -> None:
        """An attempt ended."""
        self._ledger.count(m.ATTEMPTS, (*self.owner(record), outcome.value))

    def unseen(self, record: JobRecord, attempts: int, restarts: int) -> None:
        """Attempts began and ended of which nobody tells more than their number."""
        team = self.owner(record)[:3]
        self._ledger.count(m.ATTEMPTS, (*self.owner(record), Outcome.UNKNOWN.value), attempts)
        self._ledger.count(m.RESTARTS, (*self.owner(record), Trigger.UNKNOWN.value, _UNKNOWN), restarts)
        self._ledger.count(m.INTERRUPTIONS, (*team, Domain.UNKNOWN.value), attempts)
        self._ledger.count(m.FAULTS, (*team, _UNKNOWN, Domain.UNKNOWN.value, Scope.UNKNOWN.value), attempts)

    def restart(self, record: JobRecord, trigger: str, fault_type: str = _UNKNOWN) -> None:
        """An attempt began after another one."""
        self._ledger.count(m.RESTARTS, (*self.owner(record), trigger, fault_type))

    def interruption(self, record: JobRecord, what: Classification) -> None:
        """The end of an attempt got its final verdict."""
        team = self.owner(record)[:3]
        self._ledger.count(m.INTERRUPTIONS, (*team, what.domain.value))
        if what.domain is not Domain.PLANNED:
            self._ledger.count(m.FAULTS, (*team, what.fault_type, what.domain.value, what.scope.value))

    def recovery(self, record: JobRecord, episode: Episode, domain: Domain) -> None:
        """More may be known of the recovery after an episode; what was counted of it is not counted again."""
        for metric, labels, seconds in phases(episode, domain.value, record.key.scheduler):
            self._ledger.observe(metric, labels, seconds)

    def gpu_time(self, record: JobRecord, state: JobState, seconds: float) -> None:
        """The job's GPUs were held for so long."""
        if record.facts.gpus:
            labels = (*self.owner(record)[:4], state.value)
            self._ledger.count(m.STATE_GPU_SECONDS, labels, seconds * record.facts.gpus)


def _owner(record: JobRecord) -> Labels:
    facts = record.facts
    return record.key.scheduler, record.key.namespace, facts.team, facts.queue, facts.kind

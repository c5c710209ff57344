"""What the book remembers of one job, and how it is written down."""

import json
from dataclasses import dataclass, field, replace

from gpuscope.workloads.episode import KEPT, Episode, read_episode
from gpuscope.workloads.observation import JobFacts, JobKey, JobState, ObservedJob, Outcome, Progress
from gpuscope.workloads.plausible import is_time, mended, mended_attempt, mended_facts

__all__ = ["JobRecord", "read_record", "state_since", "write_record"]


@dataclass(slots=True)
class JobRecord:
    """One job.

    Attributes:
        key: identity.
        facts: what it is, as last seen.
        created: unix time of its submission.
        seen_at: unix time of the last look at which it was there.
        state: what it did then.
        seconds: state -> seconds.
        closed: numbers of attempts whose end was counted.
        opened: numbers of attempts whose beginning was counted as a restart.
        restarts: restarts counted so far.
        episodes: ends of its attempts that were no success, in the order of their numbers.
        outcome: how the job ended, once that was counted.
        ended: unix time of its end.
        progress: what it reported last.
        holds: whether an attempt held its GPUs at the last look.
        since: unix time at which its state began; ``None`` where that is not known.
        last_fault: fault type of the last interruption, also while the next attempt runs.
        still_since: unix time since which its progress stands still while all ranks run.
        forgotten: whether its outcome is only that it went away.
        counted_end: number of its last attempt when its end was counted, -1 for none; ``None`` while none was.
        went_on_after: number of the attempt after whose end the job was over, and yet another one came.
        retracted: numbers of attempts that go on although their end was counted.
        settled: attempts with lower numbers are done with, whether anybody told of them or not.
        gap_since: unix time since which attempts are missing among those that are told.
        why: why it waits, as its scheduler said at the last look; not read from the state file.
        nodes: where it held resources then; not read from the state file.
    """

    key: JobKey
    facts: JobFacts
    created: float
    seen_at: float
    state: JobState
    seconds: dict[str, float] = field(default_factory=dict)
    closed: set[int] = field(default_factory=set)
    opened: set[int] = field(default_factory=set)
    restarts: int = 0
    episodes: list[Episode] = field(default_factory=list)
    outcome: Outcome | None = None
    ended: float | None = None
    progress: Progress | None = None
    holds: bool = False
    since: float | None = None
    last_fault: str = ""
    still_since: float | None = None
    forgotten: bool = False
    counted_end: int | None = None
    went_on_after: int | None = None
    retracted: set[int] = field(default_factory=set)
    settled: int = 0
    gap_since: float | None = None
    why: str = ""
    nodes: tuple[str, ...] = ()

    @property
    def waits(self) -> bool:
        """Whether the end of an attempt has no final verdict yet, or attempts are missing."""
        return self.gap_since is not None or any(not episode.final for episode in self.episodes)

    def episode_before(self, number: int) -> Episode | None:
        """The episode that an attempt of this number came after."""
        return next((one for one in reversed(self.episodes) if one.number < number), None)

    def add(self, episode: Episode) -> None:
        """Adds an episode; of those that were judged only the latest are kept."""
        self.episodes.append(episode)
        self.episodes.sort(key=lambda one: one.number)
        judged = [one for one in self.episodes if one.final]
        for one in judged[: max(0, len(self.episodes) - KEPT)]:
            self.episodes.remove(one)


def state_since(job: ObservedJob) -> float | None:
    """Unix time at which the job's present state began, as its scheduler tells; ``None`` where it does not."""
    last = max(job.attempts, key=lambda attempt: attempt.number, default=None)
    if job.since is not None:
        return job.since
    if job.state is JobState.QUEUED:
        return job.created
    if last is None:
        return None
    if job.state is JobState.RECOVERING:
        return last.ended
    if job.state is JobState.TRAINING and last.running is not None:
        return last.running
    return last.started if job.state in (JobState.INITIALIZING, JobState.TRAINING) else None


def write_record(record: JobRecord) -> str:
    """The record as JSON. Thousands are written at each look, so that nothing is copied on the way."""
    return _encode(_plain(record))


def _plain(value: object) -> object:
    if isinstance(value, set):
        return sorted(value)
    names: tuple[str, ...] = value.__slots__  # type: ignore[attr-defined]
    return {name: getattr(value, name) for name in names}


_encode = json.JSONEncoder(separators=(",", ":"), default=_plain).encode


def read_record(text: str) -> JobRecord:
    """The record that ``write_record`` wrote.

    Raises:
        ValueError: it is none, or of a later release.
    """
    try:
        fields = json.loads(text)
        record = JobRecord(
            key=JobKey(*fields["key"]),
            facts=JobFacts(**fields["facts"]),
            created=fields["created"],
            seen_at=fields["seen_at"],
            state=JobState(fields["state"]),
            seconds=fields["seconds"],
            closed=set(fields["closed"]),
            opened=set(fields["opened"]),
            restarts=fields["restarts"],
            episodes=[read_episode(one) for one in fields["episodes"]],
            outcome=None if fields["outcome"] is None else Outcome(fields["outcome"]),
            ended=fields["ended"],
            progress=None if fields["progress"] is None else Progress(**fields["progress"]),
            holds=fields["holds"],
            since=fields.get("since"),
            last_fault=fields.get("last_fault", ""),
            still_since=fields.get("still_since"),
            forgotten=fields.get("forgotten", False),
            counted_end=fields.get("counted_end"),
            went_on_after=fields.get("went_on_after"),
            retracted=set(fields.get("retracted", ())),
            settled=fields.get("settled", 0),
            gap_since=fields.get("gap_since"),
        )
        return _checked(record)
    except (KeyError, TypeError, AttributeError, OverflowError) as error:
        raise ValueError(f"not a job of this release: {error}") from error


def _checked(record: JobRecord) -> JobRecord:
    """The record, as it can be told.

    Raises:
        ValueError: a time is none; an earlier release wrote down what it was told.
    """
    ends = (episode.ended for episode in record.episodes)
    for one in (record.created, record.seen_at, record.ended, record.since, record.still_since, *ends):
        if not is_time(one):
            raise ValueError(f"{one} is no time")
    record.facts = mended_facts(record.facts)
    for episode in record.episodes:
        episode.attempt = mended_attempt(episode.attempt)
        if episode.verdict is not None:
            episode.verdict = replace(episode.verdict, why=mended(episode.verdict.why))
    return record

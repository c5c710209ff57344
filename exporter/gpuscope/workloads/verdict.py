"""The verdict on the end of an attempt: when enough is known for it, and out of what.

A scheduler tells an end before everything that explains it is known: kernels log, agents are read, and other jobs end,
a little later. So a verdict is provisional until nothing can come any more, unless what is known decides already.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from gpuscope.workloads.attribution_window import AFTER_S, BEFORE_S, AttemptEnd, in_window, jobs_sharing, window_closed
from gpuscope.workloads.episode import Episode
from gpuscope.workloads.fault import Classification, Domain
from gpuscope.workloads.node_faults import FaultView
from gpuscope.workloads.observation import Attempt, JobKey, ObservedJob
from gpuscope.workloads.record import JobRecord
from gpuscope.workloads.recovery import ALL_PHASES

__all__ = ["Classify", "Verdicts"]

AGENT_CYCLE_S = 10.0
"""An agent that is read so long after a fault tells of it."""

Classify = Callable[[Attempt], Classification]
Holders = Mapping[str, Sequence[tuple[JobKey, Attempt]]]
"""Node -> attempts on it."""


class Verdicts:
    """Judges ends of attempts.

    Args:
        classify: tells what the end of an attempt was, out of its evidence.
        faults: what the agents tell; ``None`` where nobody reads them.
    """

    def __init__(self, classify: Classify, faults: FaultView | None) -> None:
        self._classify = classify
        self._faults = faults
        self._ends: dict[tuple[JobKey, int], AttemptEnd] = {}

    def judge(self, waiting: Sequence[tuple[JobRecord, Episode]], jobs: Iterable[ObservedJob], now: float) -> None:
        """Gives each episode its verdict of this moment, and says whether it is final.

        Args:
            waiting: episodes without a final verdict.
            jobs: all jobs of the look.
            now: unix time of the look.
        """
        holders = _holders(jobs)
        for record, episode in waiting:
            episode.attempt = self._completed(record.key, episode.attempt, holders)
            episode.verdict = self._remember(record, episode)
        by_type: dict[str, list[AttemptEnd]] = {}
        for end in self._ends.values():
            by_type.setdefault(end.what.fault_type, []).append(end)
        for record, episode in waiting:
            if not self._stands(episode, now):
                continue
            end = self._ends[record.key, episode.number]
            shared = jobs_sharing(end, by_type[end.what.fault_type])
            evidence = replace(episode.attempt.evidence, shared_by=shared)
            episode.attempt = replace(episode.attempt, evidence=evidence)
            episode.verdict = self._classify(episode.attempt)
            episode.final = True

    def settled(self, record: JobRecord, attempt: Attempt) -> Episode:
        """An episode of before anybody looked: with the verdict of what its scheduler tells, and never counted."""
        episode = Episode(attempt, final=True, counted=list(ALL_PHASES))
        episode.verdict = self._remember(record, episode)
        return episode

    def remember(self, records: Iterable[JobRecord]) -> None:
        """Takes up ends that were judged in an earlier run."""
        for record in records:
            for episode in record.episodes:
                self._remember(record, episode)

    def forget(self, before: float) -> None:
        """Drops ends that nothing can share any more."""
        old = [key for key, end in self._ends.items() if end.at < before - 2 * BEFORE_S - AFTER_S]
        for key in old:
            del self._ends[key]

    def detection_s(self, episode: Episode) -> float | None:
        """Seconds from the XID that decided the verdict to the end of the attempt.

        Returns:
            ``None`` where no XID decided, or only one after the end: then nobody knows when the fault began.
        """
        attempt = _alone(episode.attempt)
        told = attempt.evidence.xids
        first = self._classify(attempt)
        if not told or self._classify(_with_xids(attempt, ())) == first:
            return None
        for code, before in sorted(told, key=lambda xid: -xid[1]):
            if before >= 0 and self._classify(_with_xids(attempt, ((code, before),))).fault_type == first.fault_type:
                return before
        return None

    def _remember(self, record: JobRecord, episode: Episode) -> Classification:
        what = self._classify(_alone(episode.attempt))
        self._ends[record.key, episode.number] = AttemptEnd(
            record.key,
            record.facts.user or record.facts.team,
            frozenset(episode.attempt.nodes),
            episode.ended,
            what,
        )
        return what

    def _stands(self, episode: Episode, now: float) -> bool:
        what, ended = episode.verdict, episode.ended
        if what is not None and what.domain is Domain.PLANNED:
            return True
        if self._faults is None:
            decided, known_until = True, now
        else:
            read = self._faults.read_at
            decided, known_until = read >= ended + AGENT_CYCLE_S, min(now, read)
        if what is not None and what.confidence == "high" and decided:
            return True
        # Agents that stay silent for long hold nothing up: what is not known then stays unknown.
        return window_closed(ended, known_until) or now - ended > 3 * AFTER_S

    def _completed(self, key: JobKey, attempt: Attempt, holders: Holders) -> Attempt:
        evidence, ended = attempt.evidence, attempt.ended
        assert ended is not None
        others = [
            (whose, other)
            for node in attempt.nodes
            for whose, other in holders.get(node, ())
            if (whose, other.number) != (key, attempt.number) and other.started is not None
        ]
        began = attempt.started if attempt.started is not None else ended - BEFORE_S
        shared = any(
            whose != key and other.started < ended and (other.ended is None or other.ended > began)
            for whose, other in others
            if other.started is not None
        )
        evidence = replace(evidence, nodes_shared=evidence.nodes_shared or shared)
        if self._faults is not None:
            later = [other.started for _, other in others if other.started is not None and other.started >= ended]
            until = min(later, default=None)
            xids = in_window(self._faults.xids(attempt.nodes), attempt.nodes, ended, until=until)
            signals = in_window(self._faults.signals(attempt.nodes), attempt.nodes, ended, until=until)
            evidence = replace(
                evidence,
                xids=_merged(evidence.xids, xids),
                node_signals=_merged(evidence.node_signals, signals),
                nodes_watched=evidence.nodes_watched or self._faults.watched(attempt.nodes, ended),
            )
        return replace(attempt, evidence=evidence)


def _merged(known: Sequence[tuple], new: Sequence[tuple]) -> tuple:  # type: ignore[type-arg]
    """Both, each once, in the order of time: what an earlier run learned from a node that is gone stays known."""
    return tuple(sorted({*known, *new}, key=lambda event: (-event[1], event[0])))


def _alone(attempt: Attempt) -> Attempt:
    return replace(attempt, evidence=replace(attempt.evidence, shared_by=0))


def _with_xids(attempt: Attempt, xids: tuple[tuple[int, float], ...]) -> Attempt:
    return replace(attempt, evidence=replace(attempt.evidence, xids=xids))


def _holders(jobs: Iterable[ObservedJob]) -> Holders:
    found: dict[str, list[tuple[JobKey, Attempt]]] = {}
    for job in jobs:
        for attempt in job.attempts:
            for node in attempt.nodes:
                found.setdefault(node, []).append((job.key, attempt))
    return found

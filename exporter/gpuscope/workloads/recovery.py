"""How long each phase of a recovery took, where both of its ends are known."""

from collections.abc import Iterator, Sequence

from gpuscope.catalogue import training as m
from gpuscope.catalogue.metric import Metric
from gpuscope.workloads.episode import Episode
from gpuscope.workloads.observation import Attempt, ObservedJob

__all__ = ["ALL_PHASES", "measure", "phases"]

_PHASES = ("detection", "action", "start", "first_step")
_UNTIL = {"until_resources": "resources", "until_running": "running", "until_first_step": "first_step"}
ALL_PHASES = (*_PHASES, *_UNTIL)
"""Everything that is measured of one recovery."""


def measure(episodes: Sequence[Episode], job: ObservedJob, *, live: bool) -> None:
    """Notes what a look tells of the recovery after each episode.

    Args:
        episodes: of the job.
        job: the job now.
        live: whether the look before this one was short ago; else the first report of progress was missed.
    """
    attempts = sorted(job.attempts, key=lambda attempt: attempt.number)
    stepped = _stepped(job, attempts)
    for episode in episodes:
        later = [attempt for attempt in attempts if attempt.number > episode.number]
        if not later:
            continue
        after, ended = later[0], episode.ended
        _note(episode, "action", ended, after.started)
        _note(episode, "until_resources", ended, after.started)
        _note(episode, "start", after.started, after.running)
        running = next((attempt.running for attempt in later if attempt.running is not None), None)
        _note(episode, "until_running", ended, running)
        if stepped is None or attempts[-1].number <= episode.number:
            continue
        if not live:
            episode.counted += [name for name in ("first_step", "until_first_step") if name not in episode.measured]
        if after is attempts[-1]:
            _note(episode, "first_step", after.running, stepped)
        _note(episode, "until_first_step", ended, stepped)


def phases(episode: Episode, domain: str, scheduler: str) -> Iterator[tuple[Metric, tuple[str, ...], float]]:
    """What is known of a recovery and was not counted yet: histogram, labels, seconds. It counts as counted then."""
    for name, seconds in episode.measured.items():
        if name in episode.counted:
            continue
        episode.counted.append(name)
        if name in _PHASES:
            yield m.PHASE_SECONDS, (scheduler, name, domain), seconds
        else:
            yield m.RECOVERY_SECONDS, (scheduler, _UNTIL[name], domain), seconds


def _stepped(job: ObservedJob, attempts: Sequence[Attempt]) -> float | None:
    """When the present attempt reported progress, if that was after all of its ranks ran."""
    if not attempts or job.progress is None:
        return None
    running = attempts[-1].running
    return job.progress.at if running is not None and job.progress.at > running else None


def _note(episode: Episode, name: str, began: float | None, ended: float | None) -> None:
    if began is None or ended is None or name in episode.measured or name in episode.counted:
        return
    if ended >= began:  # clocks of a scheduler that differ make no negative time
        episode.measured[name] = ended - began

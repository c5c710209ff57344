"""An episode: one attempt that ended without success, what that was, and how long it took to recover from it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gpuscope.workloads.fault import Classification, Domain, Scope
from gpuscope.workloads.observation import Attempt, Evidence, Outcome

__all__ = ["KEPT", "Episode", "read_attempt", "read_episode"]

KEPT = 20
"""So many episodes of a job are remembered once they have been judged, the latest ones."""


@dataclass(slots=True)
class Episode:
    """One end of an attempt.

    Attributes:
        attempt: the attempt, with all that the scheduler told of its end so far.
        verdict: what its end was, as far as known now.
        final: whether the verdict stands, and was counted.
        trigger: who began the next attempt; empty while none began.
        measured: phase of the recovery -> seconds, as far as known.
        counted: phases whose time was counted.
    """

    attempt: Attempt
    verdict: Classification | None = None
    final: bool = False
    trigger: str = ""
    measured: dict[str, float] = field(default_factory=dict)
    counted: list[str] = field(default_factory=list)

    @property
    def number(self) -> int:
        """Number of the attempt."""
        return self.attempt.number

    @property
    def ended(self) -> float:
        """Unix time of the end."""
        assert self.attempt.ended is not None
        return self.attempt.ended

    @property
    def outcome(self) -> Outcome:
        """How it ended."""
        return self.attempt.outcome or Outcome.UNKNOWN

    @property
    def fault_type(self) -> str:
        """Type of its fault, ``unknown`` before anything is known."""
        return self.verdict.fault_type if self.verdict else "unknown"


def read_episode(fields: Mapping[str, Any]) -> Episode:
    """The episode of whose fields, as JSON, these were read.

    Raises:
        KeyError, TypeError, ValueError: it is none, or of another release.
    """
    verdict = fields["verdict"]
    return Episode(
        attempt=read_attempt(fields["attempt"]),
        verdict=None
        if verdict is None
        else Classification(
            verdict["fault_type"],
            Domain(verdict["domain"]),
            Scope(verdict["scope"]),
            verdict["confidence"],
            verdict["why"],
        ),
        final=fields["final"],
        trigger=fields["trigger"],
        measured=dict(fields["measured"]),
        counted=list(fields["counted"]),
    )


def read_attempt(fields: Mapping[str, Any]) -> Attempt:
    """The attempt of whose fields, as JSON, these were read.

    Raises:
        KeyError, TypeError, ValueError: it is none, or of another release.
    """
    rest = dict(fields)
    outcome, evidence = rest.pop("outcome"), rest.pop("evidence")
    return Attempt(
        **{**rest, "nodes": tuple(rest["nodes"])},
        outcome=None if outcome is None else Outcome(outcome),
        evidence=Evidence(**{name: _frozen(value) for name, value in evidence.items()}),
    )


def _frozen(value: Any) -> Any:
    return tuple(_frozen(one) for one in value) if isinstance(value, list) else value

"""What lies close enough to the end of an attempt to explain it, and what several jobs met together.

The window reaches from ten minutes before the end to five minutes after it: a scheduler notices late that a node is
gone, and clocks differ.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from gpuscope.workloads.fault import Classification, Domain
from gpuscope.workloads.observation import JobKey

__all__ = ["AFTER_S", "BEFORE_S", "AttemptEnd", "NodeEvent", "explains", "in_window", "jobs_sharing", "window_closed"]

BEFORE_S = 600.0
AFTER_S = 300.0

What = TypeVar("What", int, str)
"""A code of an XID, or a word."""


@dataclass(frozen=True, slots=True)
class NodeEvent(Generic[What]):
    """One fault or finding of an agent.

    Attributes:
        node: where.
        what: the code of an XID, or a word such as ``rdma_port_down``.
        at: unix time.
        uuid: GPU, empty where it belongs to the node or nobody knows.
    """

    node: str
    what: What
    at: float
    uuid: str = ""


@dataclass(frozen=True, slots=True)
class AttemptEnd:
    """The end of one attempt, to be compared with others.

    Attributes:
        key: its job.
        owner: user or team; jobs of one owner may share a mistake.
        nodes: where it ran.
        at: unix time of its end.
        what: its classification, without regard to other jobs.
    """

    key: JobKey
    owner: str
    nodes: frozenset[str]
    at: float
    what: Classification


def explains(seconds_before: float, *, only_before: bool = False) -> bool:
    """Whether an event so many seconds before an end (negative: after it) may explain it.

    Args:
        seconds_before: distance in seconds; what is no number explains nothing.
        only_before: leave out what came after the end, where work on the node may have caused it.
    """
    return (0.0 if only_before else -AFTER_S) <= seconds_before <= BEFORE_S


def window_closed(ended: float, now: float) -> bool:
    """Whether everything that may explain an end has happened by now; before that a classification is provisional."""
    return now - ended > AFTER_S


def in_window(
    events: Iterable[NodeEvent[What]],
    nodes: Iterable[str],
    ended: float,
    *,
    gpus: Iterable[str] = (),
    until: float | None = None,
) -> tuple[tuple[What, float], ...]:
    """The events that may explain the end of an attempt, as ``Evidence`` takes them.

    Args:
        events: of any node and time, in any order.
        nodes: nodes of the attempt.
        ended: unix time of its end.
        gpus: UUIDs of its GPUs, where they are known; then those of other GPUs on its nodes are left out.
        until: unix time at which others began to use its nodes; what comes later is theirs.

    Returns:
        What, and seconds before the end, in the order of time.
    """
    here, own = frozenset(nodes), frozenset(gpus)
    near = [
        event
        for event in events
        if event.node in here
        and explains(ended - event.at)
        and (until is None or event.at < until)
        and (not own or not event.uuid or event.uuid in own)
    ]
    near.sort(key=lambda event: (event.at, event.what))
    return tuple((event.what, ended - event.at) for event in near)


def jobs_sharing(end: AttemptEnd, others: Sequence[AttemptEnd]) -> int:
    """Other, unrelated jobs that met the same fault type within the window: ``Evidence.shared_by``.

    Jobs on a common node are related: one broken node explains both. Jobs of one owner are related too, unless the
    fault was the infrastructure's: forty runs of one sweep share one mistake.
    """
    return len(
        {
            other.key
            for other in others
            if other.key != end.key
            and other.what.fault_type == end.what.fault_type
            and abs(other.at - end.at) <= BEFORE_S
            and not (other.nodes & end.nodes)
            and (end.what.domain is Domain.INFRASTRUCTURE or other.owner != end.owner)
        }
    )

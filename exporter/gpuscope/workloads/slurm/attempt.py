"""One attempt of a job, and the evidence of its end, from one record."""

from collections.abc import Mapping
from dataclasses import replace

from gpuscope.errors import SourceError
from gpuscope.workloads.observation import Attempt, Evidence, NodeState, ObservedNode, Outcome
from gpuscope.workloads.slurm.hostlist import expand
from gpuscope.workloads.slurm.problems import Problems
from gpuscope.workloads.slurm.row import JobRow
from gpuscope.workloads.slurm.states import base_of, outcome

__all__ = ["attempt_of", "has_run", "requeued_attempt", "with_nodes"]

_NEAR_S: Mapping[Outcome, tuple[float, float]] = {
    # A job may fail because a node of it died, which slurmctld notices only after ``SlurmdTimeout``.
    Outcome.FAILED: (600.0, 300.0),
    # Where slurmctld itself ends an attempt because of a node, it does both at once.
    Outcome.INTERRUPTED: (5.0, 5.0),
}
"""A node that went down so long before or after an attempt's end may have ended it."""

_SAYS_NOTHING = frozenset({"BeginTime", "Resources", "Priority", "Dependency", "ReqNodeNotAvail", "JobArrayTaskLimit"})
"""Reasons to wait, which slurmdbd keeps after a job has started: they say nothing of its end."""

_STOPPED = frozenset({(0, 15), (0, 9), (143, 0), (137, 0)})
_CODES_OF_SLURM = frozenset({"NODE_FAIL", "BOOT_FAIL", "PREEMPTED"})
"""Ends to which Slurm itself gives an exit code, differently in each release: it is not the job's."""


def has_run(row: JobRow) -> bool:
    """Whether the record is of an attempt that got nodes. One that waits has a time to start too, in the future."""
    return row.started is not None and bool(row.nodes) and base_of(row.states) != "PENDING"


def attempt_of(row: JobRow, number: int, problems: Problems) -> Attempt:
    """The attempt of a record that has run."""
    ended_as = Outcome.INTERRUPTED if base_of(row.states) == "REQUEUED" else outcome(row.states)
    if base_of(row.states) == "REQUEUED" and _by_itself(row):
        ended_as = Outcome.FAILED
    nodes = _expand(row.nodes, problems)
    if ended_as is None or row.ended is None:
        return Attempt(number, started=row.started, nodes=nodes)
    return Attempt(number, row.started, None, row.ended, ended_as, nodes, _evidence(row, problems))


def requeued_attempt(now_waits: JobRow, number: int, before: Attempt | None, problems: Problems) -> Attempt:
    """The attempt before a requeue, from the record that took its place.

    Slurm sets the time of submission to that of the requeue, and keeps the last exit code.

    Args:
        now_waits: record of the attempt after it.
        number: of the attempt that ended.
        before: what was seen of it while it went on.
        problems: gets what cannot be read.
    """
    row = replace(now_waits, states=("REQUEUED",), killed_by=None)
    if now_waits.preempted is not None:
        ended_as = Outcome.PREEMPTED
    else:
        ended_as = Outcome.FAILED if _by_itself(row) else Outcome.INTERRUPTED
    seen = before or Attempt(number)
    return replace(seen, number=number, ended=now_waits.submitted, outcome=ended_as, evidence=_evidence(row, problems))


def with_nodes(attempt: Attempt, nodes: Mapping[str, ObservedNode]) -> Attempt:
    """Adds what the attempt's nodes say of its end: which went down around it, and whether one is in maintenance."""
    if attempt.ended is None or attempt.outcome in (None, Outcome.SUCCEEDED):
        return attempt
    before, after = _NEAR_S.get(attempt.outcome, (-1.0, -1.0))
    own = [nodes[name] for name in attempt.nodes if name in nodes]
    lost = [
        node.name
        for node in own
        if node.state in (NodeState.DOWN, NodeState.UNKNOWN)
        and node.since is not None
        and -before <= node.since - attempt.ended <= after
    ]
    evidence = replace(
        attempt.evidence,
        nodes_lost=tuple(dict.fromkeys((*attempt.evidence.nodes_lost, *lost))),
        maintenance=any(_taken_out(node, attempt.ended) for node in own),
    )
    return replace(attempt, evidence=evidence)


def _taken_out(node: ObservedNode, ended: float) -> bool:
    """Whether maintenance of a node began as the attempt ended; one that began a day later explains nothing."""
    began_before, began_after = 600.0, 5.0
    return (
        node.state is NodeState.MAINTENANCE
        and node.since is not None
        and -began_before <= node.since - ended <= began_after
    )


def _by_itself(row: JobRow) -> bool:
    """Whether the job's own exit code had it requeued (``RequeueExit``)."""
    return row.exit is not None and any(row.exit) and row.exit not in _STOPPED


def _evidence(row: JobRow, problems: Problems) -> Evidence:
    state = base_of(row.states)
    exits = () if state in _CODES_OF_SLURM else (row.derived_exit, row.exit)
    reason = "" if row.reason.partition(",")[0] in _SAYS_NOTHING else row.reason
    told = [reason, row.comment, "" if row.killed_by is None else f"cancelled by uid {row.killed_by}"]
    return Evidence(
        state=state,
        reason="; ".join(filter(None, told)),
        exit_codes=tuple(dict.fromkeys(code for code, _ in filter(None, exits) if code)),
        signals=tuple(dict.fromkeys(signal for _, signal in filter(None, exits) if signal)),
        nodes_lost=_expand(row.failed_node, problems),
        requested_by_user=_requested(row, state),
    )


def _requested(row: JobRow, state: str) -> bool | None:
    """Its own user, who cancelled it, is a person. Root or somebody else may be an administrator or a health check."""
    if state == "CANCELLED":
        return True if row.killed_by is not None and row.killed_by == row.uid else None
    return False if state in {"NODE_FAIL", "BOOT_FAIL", "PREEMPTED", "FAILED", "OUT_OF_MEMORY"} else None


def _expand(hosts: str, problems: Problems) -> tuple[str, ...]:
    try:
        return expand(hosts)
    except SourceError:
        problems.add("malformed_hosts", hosts)
        return ()

"""What is known of why an attempt ended."""

from collections.abc import Sequence

from gpuscope.workloads.kubernetes.ends import PodEnd
from gpuscope.workloads.kubernetes.job_view import JobView
from gpuscope.workloads.observation import Evidence, NodeState, Outcome

__all__ = ["evidence_of", "outcome_of"]

_KEPT = 16
_BEFORE_S = 600.0
_INFRASTRUCTURE_REASONS = frozenset(
    {
        "Evicted", "NodeLost", "NodeShutdown", "Terminated", "Shutdown", "NodeAffinity", "UnexpectedAdmissionError",
        "OutOfnvidia.com/gpu", "OutOfcpu", "OutOfmemory", "OutOfpods",
    }
)  # fmt: skip
_SIGNAL_EXITS = range(129, 160)


def evidence_of(ends: Sequence[PodEnd], view: JobView, word: str) -> Evidence:
    """Evidence of the ends of one attempt, the first one first.

    Args:
        ends: by time.
        view: the job around them.
        word: the scheduler's own word for the end, empty where it has none.
    """
    containers = sorted(
        (one for end in ends for one in end.containers),
        key=lambda one: float("inf") if one.ended is None else one.ended,
    )
    failures = [one for one in containers if one.exit_code or one.signal]
    signals = [
        one.signal or (one.exit_code - 128 if one.exit_code in _SIGNAL_EXITS else 0)
        for one in failures
    ]  # fmt: skip
    pod_reasons = [reason for end in ends for reason in (end.disruption, end.pod_reason) if reason]
    nodes = {end.node: end.ended for end in reversed(ends) if end.node}
    evicted = any(end.disruption == "EvictionByEvictionAPI" for end in ends)
    return Evidence(
        state=word,
        reason=next((end.message for end in ends if end.message), view.job.message if word else ""),
        exit_codes=tuple(one.exit_code for one in failures[:_KEPT]),
        signals=tuple(signal for signal in signals[:_KEPT] if signal),
        container_reasons=tuple(dict.fromkeys(one.reason for one in containers if one.reason))[:_KEPT],
        pod_reasons=tuple(dict.fromkeys(pod_reasons))[:_KEPT],
        nodes_lost=tuple(node for node, ended in nodes.items() if _lost(node, ended, view)),
        maintenance=evicted and any(view.nodes[node].maintenance for node in nodes if node in view.nodes),
    )


def outcome_of(ends: Sequence[PodEnd], evidence: Evidence) -> Outcome:
    """How the attempt ended, after what happened first in it."""
    first = next((end for end in ends if end.failed), None)
    if "PreemptionByScheduler" in evidence.pod_reasons:
        return Outcome.PREEMPTED
    if evidence.nodes_lost or (first and (first.disruption or first.pod_reason in _INFRASTRUCTURE_REASONS)):
        return Outcome.INTERRUPTED
    if first and first.pod_reason == "DeadlineExceeded":
        return Outcome.TIMED_OUT
    return Outcome.FAILED if first else Outcome.UNKNOWN


def _lost(name: str, ended: float, view: JobView) -> bool:
    """Whether a node is gone, or went away around that time."""
    node = view.nodes.get(name)
    if node is None:
        return view.nodes_known
    if node.state is not NodeState.DOWN:
        return False
    return node.since is None or node.since >= ended - _BEFORE_S

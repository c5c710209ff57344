"""Slurm's words for states of jobs and nodes -> ours. Words of all releases from 21.08 to 26.05."""

from collections.abc import Collection

from gpuscope.workloads.observation import JobState, NodeState, Outcome

__all__ = ["base_of", "is_held", "job_state", "node_state", "outcome", "strange_words"]

_OUTCOMES = {
    "COMPLETED": Outcome.SUCCEEDED,
    "FAILED": Outcome.FAILED,
    "OUT_OF_MEMORY": Outcome.FAILED,
    "CANCELLED": Outcome.CANCELLED,
    "PREEMPTED": Outcome.PREEMPTED,
    "TIMEOUT": Outcome.TIMED_OUT,
    "DEADLINE": Outcome.TIMED_OUT,
    "NODE_FAIL": Outcome.INTERRUPTED,
    "BOOT_FAIL": Outcome.INTERRUPTED,
    "REVOKED": Outcome.UNKNOWN,  # another cluster of the federation runs it
}
_ALIVE = frozenset({"PENDING", "RUNNING", "SUSPENDED"})
# Where a release tells only one word, a flag stands in the place of the base state.
_ENDING = frozenset({"COMPLETING", "STAGE_OUT", "SIGNALING", "RESIZING", "EXPEDITING", "UPDATE_DB"})
_STARTING = frozenset({"CONFIGURING", "POWER_UP_NODE"})
_AGAIN = frozenset({"REQUEUED", "REQUEUE_FED", "RECONFIG_FAIL", "LAUNCH_FAILED"})
_HELD_STATES = frozenset({"REQUEUE_HOLD", "SPECIAL_EXIT", "RESV_DEL_HOLD"})
_HELD_REASONS = frozenset({"JobHeldUser", "JobHeldAdmin", "JobHoldMaxRequeue"})
_JOB_WORDS = _OUTCOMES.keys() | _ALIVE | _ENDING | _STARTING | _AGAIN | _HELD_STATES | {"STOPPED"}

_BUSY = frozenset({"ALLOCATED", "MIXED", "COMPLETING", "DRAINING", "FAILING"})
_NODE_BASES = frozenset({"IDLE", "ALLOCATED", "MIXED", "DOWN", "ERROR", "UNKNOWN", "FUTURE"})
_PLAIN = frozenset({"COMPLETING", "DRAINING", "DRAINED", "FAILING", "PLANNED", "RESERVED", "MAINT"})
_NODE_FLAGS = frozenset(
    {
        "BLOCKED", "CLOUD", "DRAIN", "DYNAMIC_FUTURE", "DYNAMIC_NORM", "EXTERNAL", "FAIL", "INVALID_REG", "MAINTENANCE",
        "NOT_RESPONDING", "PERFCTRS", "POWERED_DOWN", "POWERING_DOWN", "POWERING_UP", "POWER_DOWN", "POWER_DRAIN",
        "POWER_UP", "REBOOT", "REBOOT_CANCELED", "REBOOT_ISSUED", "REBOOT_REQUESTED", "RESUME", "UNDRAIN",
    }
)  # fmt: skip


def base_of(states: Collection[str]) -> str:
    """The word that decides: an end, else what it does, else the first one."""
    for group in (_OUTCOMES, _ALIVE):
        for state in states:
            if state in group:
                return state
    return next(iter(states), "")


def outcome(states: Collection[str]) -> Outcome | None:
    """How it ended; ``None`` while it lives, and for words that say only that it is ending."""
    return _OUTCOMES.get(base_of(states))


def is_held(states: Collection[str], reason: str) -> bool:
    """Whether somebody must release it before it can run."""
    return reason in _HELD_REASONS or not _HELD_STATES.isdisjoint(states)


def job_state(states: Collection[str], reason: str, restarts: int) -> JobState:
    """What a job does that has not ended.

    A job that waits after a requeue is recovering: it was interrupted, and the next attempt does not run yet.
    """
    base = base_of(states)
    if base == "SUSPENDED" or "STOPPED" in states or is_held(states, reason):
        return JobState.SUSPENDED
    if base == "PENDING" or base in _AGAIN:
        return JobState.RECOVERING if restarts > 0 or base in _AGAIN else JobState.QUEUED
    if not _STARTING.isdisjoint(states):
        return JobState.INITIALIZING
    if base == "RUNNING" or base in _ENDING:
        return JobState.TRAINING
    return JobState.UNKNOWN


def node_state(states: Collection[str]) -> NodeState | None:
    """What a node is good for; ``None`` for one that only a future configuration will have.

    A node that power saving switched off is ready: Slurm wakes it for the next job.
    """
    base = next((state for state in states if state in _NODE_BASES), "")
    if base == "FUTURE" or "DYNAMIC_FUTURE" in states:
        return None
    if not {"MAINTENANCE", "MAINT", "REBOOT_ISSUED"}.isdisjoint(states):
        return NodeState.MAINTENANCE
    if base in {"DOWN", "ERROR"}:
        return NodeState.DOWN
    if "NOT_RESPONDING" in states or base == "UNKNOWN":
        return NodeState.UNKNOWN
    if not {"DRAIN", "DRAINING", "DRAINED", "FAIL", "FAILING", "POWER_DRAIN"}.isdisjoint(states):
        return NodeState.DRAINED if _BUSY.isdisjoint(states) else NodeState.DRAINING
    if base or not _PLAIN.isdisjoint(states):
        return NodeState.READY
    return NodeState.UNKNOWN


def strange_words(states: Collection[str], *, of_node: bool) -> list[str]:
    """Words that this release of gpuscope does not know: counted, so that a new Slurm is noticed."""
    known = _NODE_BASES | _NODE_FLAGS | _PLAIN if of_node else _JOB_WORDS
    return [state for state in states if state not in known]

"""Slurm's words and what they mean."""

import pytest

from gpuscope.workloads.observation import JobState, NodeState, Outcome
from gpuscope.workloads.slurm.states import job_state, node_state, outcome, strange_words

J, N, E = JobState, NodeState, Outcome


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        (("COMPLETED",), E.SUCCEEDED),
        (("COMPLETED", "COMPLETING"), E.SUCCEEDED),
        (("FAILED",), E.FAILED),
        (("FAILED", "LAUNCH_FAILED"), E.FAILED),
        (("OUT_OF_MEMORY",), E.FAILED),
        (("TIMEOUT",), E.TIMED_OUT),
        (("DEADLINE",), E.TIMED_OUT),
        (("CANCELLED",), E.CANCELLED),
        (("PREEMPTED",), E.PREEMPTED),
        (("NODE_FAIL",), E.INTERRUPTED),
        (("BOOT_FAIL",), E.INTERRUPTED),
        (("REVOKED",), E.UNKNOWN),
        (("COMPLETING",), None),
        (("PENDING", "REQUEUED"), None),
        (("RUNNING",), None),
        (("NEW_WORD",), None),
    ],
)
def test_how_a_job_ended(states: tuple[str, ...], expected: Outcome | None) -> None:
    assert outcome(states) == expected


@pytest.mark.parametrize(
    ("states", "reason", "restarts", "expected"),
    [
        (("PENDING",), "Resources", 0, J.QUEUED),
        (("PENDING",), "JobHeldUser", 0, J.SUSPENDED),
        (("PENDING",), "JobHeldAdmin", 2, J.SUSPENDED),
        (("PENDING",), "BeginTime", 1, J.RECOVERING),
        (("PENDING", "REQUEUED"), "None", 1, J.RECOVERING),
        (("PENDING", "SPECIAL_EXIT"), "None", 1, J.SUSPENDED),
        (("REQUEUE_HOLD",), "", 1, J.SUSPENDED),
        (("REQUEUED",), "", 0, J.RECOVERING),
        (("RUNNING",), "None", 0, J.TRAINING),
        (("RUNNING", "CONFIGURING"), "None", 0, J.INITIALIZING),
        (("CONFIGURING",), "None", 0, J.INITIALIZING),
        (("RUNNING", "POWER_UP_NODE"), "None", 1, J.INITIALIZING),
        (("RUNNING", "RESIZING"), "None", 0, J.TRAINING),
        (("COMPLETING",), "None", 0, J.TRAINING),
        (("STAGE_OUT",), "None", 0, J.TRAINING),
        (("SUSPENDED",), "None", 0, J.SUSPENDED),
        (("RUNNING", "STOPPED"), "None", 0, J.SUSPENDED),
        (("NEW_WORD",), "None", 0, J.UNKNOWN),
        ((), "", 0, J.UNKNOWN),
    ],
)
def test_what_a_job_does(states: tuple[str, ...], reason: str, restarts: int, expected: JobState) -> None:
    assert job_state(states, reason, restarts) == expected


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        (("IDLE",), N.READY),
        (("ALLOCATED",), N.READY),
        (("MIXED", "PLANNED"), N.READY),
        (("IDLE", "RESERVED"), N.READY),
        (("IDLE", "CLOUD", "POWERED_DOWN"), N.READY),
        (("IDLE", "POWERING_UP"), N.READY),
        (("IDLE", "REBOOT_REQUESTED"), N.READY),
        (("RESERVED",), N.READY),
        (("IDLE", "DRAIN"), N.DRAINED),
        (("DRAINED",), N.DRAINED),
        (("IDLE", "DRAIN", "INVALID_REG"), N.DRAINED),
        (("ALLOCATED", "DRAIN"), N.DRAINING),
        (("MIXED", "DRAIN"), N.DRAINING),
        (("DRAINING",), N.DRAINING),
        (("IDLE", "COMPLETING", "DRAIN"), N.DRAINING),
        (("IDLE", "FAIL"), N.DRAINED),
        (("ALLOCATED", "FAIL"), N.DRAINING),
        (("DOWN",), N.DOWN),
        (("DOWN", "DRAIN"), N.DOWN),
        (("DOWN", "NOT_RESPONDING"), N.DOWN),
        (("DOWN", "CLOUD", "POWERED_DOWN"), N.DOWN),
        (("ERROR",), N.DOWN),
        (("IDLE", "MAINTENANCE", "RESERVED"), N.MAINTENANCE),
        (("DOWN", "MAINTENANCE"), N.MAINTENANCE),
        (("DOWN", "REBOOT_ISSUED"), N.MAINTENANCE),
        (("ALLOCATED", "NOT_RESPONDING"), N.UNKNOWN),
        (("IDLE", "DRAIN", "NOT_RESPONDING"), N.UNKNOWN),
        (("UNKNOWN",), N.UNKNOWN),
        (("NEW_WORD",), N.UNKNOWN),
        (("FUTURE",), None),
        (("IDLE", "DYNAMIC_FUTURE"), None),
    ],
)
def test_what_a_node_is_good_for(states: tuple[str, ...], expected: NodeState | None) -> None:
    assert node_state(states) == expected


def test_a_new_word_is_noticed() -> None:
    assert strange_words(("IDLE", "SLEEPY"), of_node=True) == ["SLEEPY"]
    assert strange_words(("RUNNING", "TIRED"), of_node=False) == ["TIRED"]

"""Who started an attempt again, beyond the failure stories."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuscope.workloads.fault import Trigger
from gpuscope.workloads.observation import Attempt, Evidence, JobFacts, JobKey, JobState, ObservedJob, Outcome
from gpuscope.workloads.trigger import RESUBMISSION_S, is_resubmission, resubmission_trigger, trigger_of

ENDED = 1_700_000_000.0


def started_again(scheduler: str, *attempts: Attempt) -> Trigger:
    job = ObservedJob(JobKey(scheduler, "", "7"), JobFacts("a", "Job"), 0.0, JobState.TRAINING, attempts)
    return trigger_of(job, attempts[-1])


def ended(number: int = 0, outcome: Outcome = Outcome.FAILED, **evidence: object) -> Attempt:
    return Attempt(number, ENDED - 9, None, ENDED, outcome, (), Evidence(**evidence))  # type: ignore[arg-type]


def test_the_attempt_just_before_decides() -> None:
    first = ended(0, state="REQUEUED", requested_by_user=True)
    second = ended(1, Outcome.INTERRUPTED, state="NODE_FAIL")
    assert started_again("slurm", first, second, Attempt(2)) is Trigger.AUTOMATIC


def test_attempts_that_the_scheduler_forgot() -> None:
    assert started_again("slurm", Attempt(3)) is Trigger.UNKNOWN
    assert started_again("kubernetes", Attempt(3)) is Trigger.AUTOMATIC
    assert started_again("other", Attempt(3)) is Trigger.UNKNOWN
    assert started_again("other", ended(state="NODE_FAIL"), Attempt(1)) is Trigger.UNKNOWN


def test_a_pod_that_a_person_deleted_comes_back_by_hand() -> None:
    assert started_again("kubernetes", ended(requested_by_user=True), Attempt(1)) is Trigger.MANUAL


@pytest.mark.parametrize("state", ["REQUEUE_HOLD", "SPECIAL_EXIT", "NODE_FAIL+REQUEUE_HOLD"])
def test_what_slurm_holds_was_released_by_nobody_knows_whom(state: str) -> None:
    assert started_again("slurm", ended(state=state), Attempt(1)) is Trigger.UNKNOWN


def test_what_was_cancelled_is_started_by_nobody_knows_whom() -> None:
    for scheduler in ("slurm", "kubernetes"):
        assert started_again(scheduler, ended(outcome=Outcome.CANCELLED), Attempt(1)) is Trigger.UNKNOWN


def test_slurm_requeues_what_it_preempted() -> None:
    assert started_again("slurm", ended(outcome=Outcome.PREEMPTED, state="REQUEUED"), Attempt(1)) is Trigger.AUTOMATIC


def test_a_lost_node_explains_a_requeue() -> None:
    requeued = ended(outcome=Outcome.INTERRUPTED, state="REQUEUED", nodes_lost=("n1",))
    assert started_again("slurm", requeued, Attempt(1)) is Trigger.AUTOMATIC


def test_a_job_that_reached_its_goal_is_not_taken_up_again() -> None:
    done = ended(outcome=Outcome.SUCCEEDED)
    assert not is_resubmission(done, ENDED + 1)
    assert resubmission_trigger(done, ENDED + 1, by_user=True) is Trigger.UNKNOWN
    assert not is_resubmission(Attempt(0, ENDED), ENDED + 1)


def test_the_time_within_which_a_new_job_counts_can_be_set() -> None:
    failed = ended()
    assert is_resubmission(failed, ENDED + RESUBMISSION_S)
    assert not is_resubmission(failed, ENDED + RESUBMISSION_S + 1)
    assert resubmission_trigger(failed, ENDED + 60, by_user=True, within_s=59) is Trigger.UNKNOWN
    assert resubmission_trigger(failed, ENDED + 60, by_user=True, within_s=60) is Trigger.MANUAL


@given(
    st.sampled_from(["slurm", "kubernetes", ""]),
    st.sampled_from(Outcome),
    st.text(max_size=12),
    st.text(max_size=12),
    st.none() | st.booleans(),
)
def test_nothing_is_too_odd(scheduler: str, outcome: Outcome, state: str, reason: str, asked: bool | None) -> None:
    found = started_again(
        scheduler, ended(outcome=outcome, state=state, reason=reason, requested_by_user=asked), Attempt(1)
    )
    assert (found is Trigger.MANUAL) == (asked is True)

"""Two clocks that differ: what is learned of it, and that every time of a look is brought over."""

from dataclasses import fields, replace

import pytest

from gpuscope.workloads.observation import (
    Attempt,
    JobFacts,
    JobKey,
    JobState,
    NodeState,
    Observation,
    ObservedJob,
    ObservedNode,
    Outcome,
    Progress,
)
from gpuscope.workloads.scheduler_clock import SchedulerClock, on_our_clock

T0 = 1_796_000_000.0


class _Machine:
    """A clock that is set, and one that is not."""

    def __init__(self) -> None:
        self.wall = T0
        self.monotonic = 50.0

    def pass_time(self, seconds: float) -> None:
        self.wall += seconds
        self.monotonic += seconds

    def clock(self) -> SchedulerClock:
        return SchedulerClock(lambda: self.wall, lambda: self.monotonic)


def _answer(machine: _Machine, clock: SchedulerClock, ahead: float, took_s: float = 0.2) -> None:
    asked = clock.now()
    machine.pass_time(took_s / 2)
    told = float(int(machine.wall + ahead))
    machine.pass_time(took_s / 2)
    clock.heard(told, asked)


def test_nothing_is_known_before_an_answer_and_clocks_that_agree_are_not_corrected() -> None:
    machine = _Machine()
    clock = machine.clock()
    assert clock.offset is None
    for step in range(200):
        machine.pass_time(0.37)
        _answer(machine, clock, ahead=0.9 if step % 2 else -0.9)
        assert clock.offset == 0.0


@pytest.mark.parametrize("ahead", [7200.0, -7200.0, 61.3, -5.5])
def test_an_offset_is_known_to_a_second_and_stands_still(ahead: float) -> None:
    machine = _Machine()
    clock = machine.clock()
    _answer(machine, clock, ahead)
    known = clock.offset
    assert known == pytest.approx(ahead, abs=1.0)
    for _ in range(200):
        machine.pass_time(1.3)
        _answer(machine, clock, ahead, took_s=1.0)
        assert clock.offset == known
    _answer(machine, clock, 0.0)
    assert clock.offset == 0.0


def test_a_step_of_our_clock_is_known_before_the_next_answer() -> None:
    machine = _Machine()
    clock = machine.clock()
    _answer(machine, clock, -10_800.0)  # ours is three hours ahead
    machine.wall -= 10_800.0
    assert clock.offset == 0.0
    machine.pass_time(86_400.0)
    machine.wall += 0.3  # slewed
    assert clock.offset == 0.0
    machine.wall += 3600.0
    assert clock.offset == pytest.approx(-3600.0, abs=1.0)


def test_an_answer_during_which_our_clock_was_set_back_says_nothing() -> None:
    machine = _Machine()
    clock = machine.clock()
    asked = clock.now()
    machine.wall -= 3600.0
    clock.heard(machine.wall, asked)
    assert clock.offset is None


def _look(now: float) -> Observation:
    attempt = Attempt(0, now - 80, now - 70, now - 10, Outcome.FAILED, ("n1",))
    progress = Progress(now - 20, 0.5, 100.0, 7.0, now - 30)
    job = ObservedJob(
        JobKey("slurm", "", "7", int(now) - 90), JobFacts("llama", "job"), now - 90, JobState.RECOVERING, (attempt,),
        Outcome.FAILED, now - 10, 1, progress, "Resources", ("n1",), now - 40,
    )  # fmt: skip
    return Observation("slurm", T0, (job, replace(job, ended=None, progress=None, attempts=(Attempt(1),))),
                       (ObservedNode("n1", NodeState.DOWN, "x", now - 5),), clock_offset=now - T0)  # fmt: skip


def test_every_time_of_a_look_is_brought_to_our_clock() -> None:
    for ahead in (7200.0, -7200.0):
        mine = on_our_clock(_look(T0 + ahead))
        ours = _look(T0)
        for told, wanted in zip(mine.jobs, ours.jobs, strict=True):
            # What a job is known by does not change with a clock.
            assert replace(told, key=wanted.key) == wanted
        assert mine.jobs[0].key.submitted == int(T0 + ahead) - 90
        assert mine.nodes == ours.nodes


def test_a_look_of_a_clock_that_agrees_or_is_not_known_stays_as_it_is() -> None:
    for offset in (None, 0.0):
        look = replace(_look(T0 + 50), clock_offset=offset)
        assert on_our_clock(look) is look


def test_no_time_was_forgotten() -> None:
    """A new field with a time has to be brought over as well."""
    told = {one.name for kind in (ObservedJob, Attempt, Progress, ObservedNode) for one in fields(kind)}
    assert told == {
        "key", "facts", "created", "state", "attempts", "outcome", "ended", "restarts", "progress", "why", "nodes",
        "number", "started", "running", "evidence", "at", "ratio", "remaining_s", "step", "checkpoint_at", "name",
        "reason", "since", "gpus", "gpus_allocated", "partitions",
    }  # fmt: skip

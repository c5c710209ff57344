"""Numbers that Slurm uses again: what is the same job, and what is another one."""

import json
from collections.abc import Callable
from datetime import UTC
from pathlib import Path

import pytest

from gpuscope.workloads.observation import JobKey, ObservedJob, Outcome
from gpuscope.workloads.slurm import KnownNumber, SlurmSource

Slurm = Callable[[str], Path]
NOW = 1796035240.0
NO_DBD = "Slurm accounting storage is disabled\n"
FIRST = 1796035110
"""When job 7 was submitted; a node that died had it requeued at 1796035157, its second submission."""
AGAIN = 1796035157


@pytest.fixture
def folder(slurm: Slurm) -> Path:
    """24.11 with slurmdbd; job 7 waits for its second attempt."""
    return slurm("24.11-nodedead")


def without_slurmdbd(folder: Path) -> None:
    (folder / "sacct.fail").write_text(NO_DBD)


def change(folder: Path, job_id: int, **fields: object) -> None:
    answer = json.loads((folder / "jobs.json").read_text())
    for one in answer["jobs"]:
        if one["job_id"] == job_id:
            one.update(fields)
    (folder / "jobs.json").write_text(json.dumps(answer))


def drop(folder: Path, job_id: int) -> None:
    answer = json.loads((folder / "jobs.json").read_text())
    answer["jobs"] = [one for one in answer["jobs"] if one["job_id"] != job_id]
    (folder / "jobs.json").write_text(json.dumps(answer))


def look(source: SlurmSource, now: float = NOW, uid: str = "7") -> ObservedJob:
    (found,) = [one for one in source.observe(now).jobs if one.key.uid == uid]
    return found


def test_a_job_is_its_number_and_its_first_submission(folder: Path) -> None:
    job = look(SlurmSource(folder))
    assert job.key == JobKey("slurm", "", "7", FIRST)
    assert job.created == FIRST


def test_a_requeue_keeps_the_identity_that_was_seen(folder: Path) -> None:
    without_slurmdbd(folder)
    change(folder, 7, restart_cnt=0, submit_time=FIRST, job_state=["RUNNING"], start_time=FIRST + 3, nodes="gpu-2")
    source = SlurmSource(folder)
    before = look(source)
    change(folder, 7, restart_cnt=1, submit_time=AGAIN, job_state=["PENDING"], nodes="")
    assert look(source, NOW + 60).key == before.key == JobKey("slurm", "", "7", FIRST)


@pytest.mark.parametrize("seen_at", [AGAIN - 30.0, AGAIN + 30.0])
def test_a_restarted_collector_goes_on_with_a_job_whose_first_attempt_nobody_tells(
    folder: Path, seen_at: float
) -> None:
    without_slurmdbd(folder)
    known = {"7": KnownNumber(FIRST, seen_at, 0 if seen_at < AGAIN else 1)}
    job = look(SlurmSource(folder, known=known))
    assert (job.key.submitted, job.created) == (FIRST, FIRST)


def test_what_slurmdbd_tells_later_does_not_change_who_a_job_is(folder: Path) -> None:
    without_slurmdbd(folder)
    source = SlurmSource(folder, accounting_every_s=0)
    assert look(source).key.submitted == AGAIN
    (folder / "sacct.fail").unlink()
    job = look(source, NOW + 60)
    assert (job.key.submitted, job.created) == (AGAIN, FIRST)
    # The same after a restart: the second submission is one of this job's.
    late = SlurmSource(folder, known={"7": KnownNumber(AGAIN, NOW + 60, 1)})
    assert look(late, NOW + 120).key == job.key


@pytest.mark.parametrize("accounted", [True, False])
def test_a_number_that_is_used_again_is_another_job_with_nothing_of_the_old(folder: Path, accounted: bool) -> None:
    """slurmctld lost its state and began anew at 1; slurmdbd still has the attempts of the old job."""
    if not accounted:
        without_slurmdbd(folder)
    source = SlurmSource(folder)
    old = look(source)
    fresh = int(NOW) - 10
    change(folder, 7, restart_cnt=0, submit_time=fresh, name="other", job_state=["PENDING"], nodes="")
    for one in (source, SlurmSource(folder, known={"7": KnownNumber(FIRST, NOW, 1)})):
        new = look(one, NOW + 1)
        assert new.key == JobKey("slurm", "", "7", fresh)
        assert new.key != old.key
        assert (new.created, new.attempts, new.restarts) == (fresh, (), 0)


def test_a_number_that_was_used_again_and_restarted_while_nobody_looked(folder: Path) -> None:
    without_slurmdbd(folder)
    known = {"7": KnownNumber(FIRST - 9000, FIRST - 5000.0, 3)}  # it had been restarted more often than this one
    job = look(SlurmSource(folder, known=known))
    assert (job.key.submitted, job.created) == (AGAIN, AGAIN)


def test_a_job_with_the_id_of_one_that_was_restarted_as_often_has_its_attempts_alone(folder: Path) -> None:
    without_slurmdbd(folder)
    ended = {"job_state": ["COMPLETED"], "submit_time": AGAIN, "start_time": AGAIN + 5, "end_time": AGAIN + 9}
    change(folder, 7, **ended, restart_cnt=1, nodes="gpu-2")
    source = SlurmSource(folder)
    assert [one.nodes for one in look(source).attempts] == [(), ("gpu-2",)]
    fresh = int(NOW) + 30
    change(folder, 7, restart_cnt=1, submit_time=fresh, job_state=["PENDING"], nodes="")
    job = look(source, NOW + 60)
    assert (job.key.submitted, job.created) == (fresh, fresh)
    assert [(one.number, one.ended) for one in job.attempts] == [(0, fresh)]


def test_an_ended_job_whose_record_only_slurmdbd_has_is_the_same(folder: Path) -> None:
    source = SlurmSource(folder)
    before = look(source, uid="1")
    drop(folder, 1)
    after = look(source, NOW + 1, "1")
    assert (after.key, after.outcome) == (before.key, Outcome.SUCCEEDED)
    known = {"1": KnownNumber(before.key.submitted, NOW, 0)}
    assert look(SlurmSource(folder, known=known), NOW + 2, "1").key == before.key


def test_a_completion_log_whose_clock_was_put_back_names_the_same_job(folder: Path, slurm: Slurm) -> None:
    folder = slurm("22.05-nodedead")
    without_slurmdbd(folder)
    log = {"completion_log": folder / "jobcomp.log", "completion_zone": UTC}
    told = look(SlurmSource(folder, **log), uid="1")
    drop(folder, 1)
    known = {"1": KnownNumber(told.key.submitted + 3600, NOW, 0)}
    assert look(SlurmSource(folder, known=known, **log), NOW, "1").key.submitted == told.key.submitted + 3600


def test_components_that_were_submitted_a_second_apart_are_one_job(folder: Path) -> None:
    without_slurmdbd(folder)
    both = {"het_job_id": {"set": True, "number": 1}, "het_job_id_set": "1-2"}
    change(folder, 1, **both, het_job_offset={"set": True, "number": 0}, submit_time=FIRST, restart_cnt=0)
    change(folder, 2, **both, het_job_offset={"set": True, "number": 1}, submit_time=FIRST + 1, restart_cnt=0)
    source = SlurmSource(folder)
    whole = look(source, uid="1")
    assert (whole.facts.kind, whole.key.submitted) == ("het_job", FIRST)
    drop(folder, 1)
    assert look(source, NOW + 1, "1").key == whole.key


def test_a_number_is_forgotten_a_day_after_its_job(folder: Path) -> None:
    without_slurmdbd(folder)
    source = SlurmSource(folder, known={"7": KnownNumber(FIRST, AGAIN, 0)})
    answer = (folder / "jobs.json").read_text()
    drop(folder, 7)
    source.observe(NOW + 26 * 3600)
    (folder / "jobs.json").write_text(answer)
    assert look(source, NOW + 26 * 3600).key.submitted == AGAIN

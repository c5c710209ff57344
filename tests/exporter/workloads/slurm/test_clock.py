"""Slurm's clock, when it is not the collector's."""

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gpuscope.workloads.observation import Outcome
from gpuscope.workloads.slurm import KnownNumber, SlurmSource

Slurm = Callable[[str], Path]
NOW = 1796035240.0


def told_at(folder: Path, moment: float | str | None) -> None:
    """Slurmctld puts its next lists together at that time."""
    answer = json.loads((folder / "jobs.json").read_text())
    answer["last_update"] = {"set": moment is not None, "infinite": False, "number": moment}
    (folder / "jobs.json").write_text(json.dumps(answer))


@pytest.mark.parametrize("ahead", [-7200, 7200])
def test_how_far_it_is_ahead_is_told_and_its_times_are_left_as_they_are(slurm: Slurm, ahead: int) -> None:
    folder = slurm("24.11-nodedead")
    told_at(folder, NOW)
    before = SlurmSource(folder).observe(NOW)
    seen = SlurmSource(folder).observe(NOW - ahead)
    assert seen.clock_offset == pytest.approx(ahead, abs=30)
    assert seen.at == NOW - ahead
    assert seen.jobs == before.jobs
    assert "--starttime=2026-11-29T10:4" in (folder / "calls").read_text().splitlines()[-1]


@pytest.mark.parametrize("ahead", [-7200, 7200])
@pytest.mark.parametrize(("recorded", "use_json"), [("22.05-requeued", True), ("24.11-nodedead", False)])
def test_where_lists_do_not_tell_the_time_the_configuration_does(
    slurm: Slurm, recorded: str, use_json: bool, ahead: int
) -> None:
    folder = slurm(recorded)
    (folder / "ahead").write_text(f"{ahead}")
    seen = SlurmSource(folder, use_json=use_json).observe(time.time())
    assert seen.clock_offset == pytest.approx(ahead, abs=30)
    (folder / "ahead").unlink()  # it answers nothing then
    seen = SlurmSource(folder, use_json=use_json).observe(time.time())
    assert (seen.complete, seen.clock_offset) == (True, None)


def test_a_clock_that_agrees_is_not_corrected(slurm: Slurm) -> None:
    folder = slurm("24.11-nodedead")
    told_at(folder, "@NOW@")
    source = SlurmSource(folder)
    assert {source.observe(time.time()).clock_offset for _ in range(3)} == {0.0}


@pytest.mark.parametrize("ahead", [-7200, 7200])
def test_a_job_that_was_requeued_while_the_collector_restarted_is_the_same_whatever_the_clock(
    slurm: Slurm, ahead: int
) -> None:
    """The collector saw the job by its own clock; its requeue is by Slurm's."""
    folder = slurm("24.11-nodedead")
    told_at(folder, NOW)
    (folder / "sacct.fail").write_text("Slurm accounting storage is disabled\n")
    (requeued,) = (one for one in SlurmSource(folder).observe(NOW).jobs if one.key.uid == "7")
    assert requeued.attempts[0].outcome is Outcome.INTERRUPTED
    first = requeued.key.submitted - 47
    known = {"7": KnownNumber(first, requeued.key.submitted + 1 - ahead, 1)}
    (again,) = (one for one in SlurmSource(folder, known=known).observe(NOW - ahead).jobs if one.key.uid == "7")
    assert again.key.submitted == first
    known = {"7": KnownNumber(first, requeued.key.submitted - 60 - ahead, 1)}
    (other,) = (one for one in SlurmSource(folder, known=known).observe(NOW - ahead).jobs if one.key.uid == "7")
    assert other.key.submitted == requeued.key.submitted

"""Why a job waits, and where one runs."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from gpuscope.workloads.observation import WHY_LENGTH, Observation, ObservedJob
from gpuscope.workloads.slurm import SlurmSource

Slurm = Callable[[str], Path]
NOW = 1796035240.0


def job(seen: Observation, uid: str) -> ObservedJob:
    return next(one for one in seen.jobs if one.key.uid == uid)


def change_job(folder: Path, job_id: int, **fields: object) -> None:
    answer = json.loads((folder / "jobs.json").read_text())
    for one in answer["jobs"]:
        if one["job_id"] == job_id:
            one.update(fields)
    (folder / "jobs.json").write_text(json.dumps(answer))


@pytest.mark.parametrize("use_json", [True, False])
@pytest.mark.parametrize("release", ["22.05-nodedead", "24.11-nodedead"])
def test_why_a_job_waits(slurm: Slurm, release: str, use_json: bool) -> None:
    seen = SlurmSource(slurm(release), use_json=use_json).observe(NOW)
    assert job(seen, "6").why == "JobHeldUser"
    assert job(seen, "7").why == "ReqNodeNotAvail, UnavailableNodes:gpu-2"
    assert job(seen, "10").why == "BeginTime"
    assert (job(seen, "1").why, job(seen, "2").why, job(seen, "4").why) == ("", "", "")


@pytest.mark.parametrize("reason", ["Resources", "Priority", "DependencyNeverSatisfied", "AssocGrpGRES"])
def test_slurms_word_is_told_as_it_is(slurm: Slurm, reason: str) -> None:
    folder = slurm("24.11-nodedead")
    change_job(folder, 12, state_reason=reason, state_description="")
    assert job(SlurmSource(folder).observe(NOW), "12").why == reason
    change_job(folder, 12, state_description="x" * 5000)
    assert len(job(SlurmSource(folder).observe(NOW), "12").why) == WHY_LENGTH


@pytest.mark.parametrize("use_json", [True, False])
def test_where_a_job_runs_now(slurm: Slurm, use_json: bool) -> None:
    seen = SlurmSource(slurm("26.05-after"), use_json=use_json).observe(NOW)
    assert (job(seen, "7").nodes, job(seen, "7").why) == (("gpu-2",), "")
    assert job(seen, "15").nodes == ("gpu-1",)  # suspended, it keeps its nodes
    assert job(seen, "9").nodes == job(seen, "1").nodes == ()

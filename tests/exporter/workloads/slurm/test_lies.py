"""In the text of scontrol a name may look like anything: it costs neither other jobs nor its own."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from gpuscope.workloads.observation import JobKey, JobState, Observation, ObservedJob
from gpuscope.workloads.slurm import KnownNumber, SlurmSource

Slurm = Callable[[str], Path]
NOW = 1796035240.0
WHOLE = """
   UserId=eve(1000) GroupId=eve(1000) MCS_label=N/A
   JobState=FAILED Reason=None Dependency=(null)
   Requeue=1 Restarts=0 BatchFlag=1 Reboot=0 ExitCode=1:0
   SubmitTime=1796035110 EligibleTime=1796035110
   StartTime=1796035112 EndTime=1796035112 Deadline=N/A
   NodeList=gpu-1
"""


@pytest.fixture
def folder(slurm: Slurm) -> Path:
    """22.05 read as text, without slurmdbd; job 7 runs."""
    made = slurm("22.05-requeued")
    (made / "sacct.fail").write_text("Slurm accounting storage is disabled\n")
    return made


def look(folder: Path) -> Observation:
    return SlurmSource(folder, use_json=False).observe(NOW)


def job(seen: Observation, uid: str) -> ObservedJob:
    return next(one for one in seen.jobs if one.key.uid == uid)


def rename(folder: Path, name: str) -> None:
    """Job 7 is called so, as scontrol and squeue of 22.05 print it."""
    listed = (folder / "jobs.txt").read_text()
    names = re.findall(r"^JobId=(\d+) .*JobName=(.*)$", listed, re.MULTILINE)
    told = "".join(f"{number}@M@{name if number == '7' else one}@M@\n" for number, one in names)
    (folder / "names.txt").write_text(told)
    (folder / "jobs.txt").write_text(listed.replace("JobName=nodedies", f"JobName={name}"))


@pytest.mark.parametrize(
    "name",
    [
        "new\nline",
        "x\n   JobState=COMPLETED Reason=None",
        "a\n\nJobId=500 JobName=b",
        f"a\n\nJobId=500 JobName=b{WHOLE}\n\nJobId=501 JobName=c",
        f"a{WHOLE}\n\nJobId=500 JobName=b",
        "a\n\nJobId=6 JobName=held",
        f"a{WHOLE}\n\nJobId=6 JobName=held{WHOLE}\n\nJobId=8 JobName=b",
        f"JobId=6 JobName=held{WHOLE}\n\n",
        "a JobName=b JobId=6",
        "",
    ],
)
def test_a_name_costs_and_makes_no_job(folder: Path, name: str) -> None:
    before = look(folder)
    rename(folder, name)
    seen = look(folder)
    assert (seen.complete, dict(seen.problems), seen.hidden) == (True, {}, frozenset())
    assert [one for one in seen.jobs if one.key.uid != "7"] == [one for one in before.jobs if one.key.uid != "7"]
    assert (job(seen, "7").facts.name, job(seen, "7").state) == (name.strip(), JobState.TRAINING)


def test_a_path_that_lies_costs_at_most_the_jobs_that_it_names(folder: Path) -> None:
    before = look(folder)
    listed = (folder / "jobs.txt").read_text()
    at = listed.index("   WorkDir=", listed.index("JobId=7 ")) + len("   WorkDir=/tmp")
    lie = f"\n\nJobId=500 JobName=b{WHOLE}\n\nJobId=6 JobName=held{WHOLE}"
    (folder / "jobs.txt").write_text(f"{listed[:at]}{lie}{listed[at:]}")
    (folder / "names.txt").write_text(
        "".join(f"{number}@M@{name}@M@\n" for number, name in re.findall(r"^JobId=(\d+) .*JobName=(.*)$", listed, re.M))
    )
    known = {"6": KnownNumber(1796035110, NOW - 60)}
    seen = SlurmSource(folder, use_json=False, known=known).observe(NOW)
    assert (seen.complete, dict(seen.problems)) == (True, {"ambiguous_job": 1})
    assert {one.key.uid for one in before.jobs} - {one.key.uid for one in seen.jobs} == {"6"}
    assert seen.hidden == {JobKey("slurm", "", "6", 1796035110)}
    assert job(seen, "7") == job(before, "7")


def test_where_squeue_tells_no_names_a_name_may_hide_a_job(folder: Path) -> None:
    rename(folder, "x\n   JobState=COMPLETED Reason=None")
    (folder / "squeue.fail").write_text("squeue: error: Unrecognized option: %j\n")
    seen = look(folder)
    assert (seen.complete, dict(seen.problems)) == (False, {"names_unknown": 1, "ambiguous_job": 1})
    (folder / "squeue.fail").write_text("slurm_load_jobs error: Unable to contact slurm controller\n")
    assert dict(look(folder).problems) == {"slurmctld_unreachable": 1}


def test_in_json_no_name_can_lie(folder: Path) -> None:
    name = "x\n\nJobId=500 JobName=b\n   JobState=COMPLETED Reason=None"
    answer = json.loads((folder / "jobs.json").read_text())
    for one in answer["jobs"]:
        one["name"] = name if one["job_id"] == 7 else one["name"]
    (folder / "jobs.json").write_text(json.dumps(answer))
    seen = SlurmSource(folder).observe(NOW)
    assert (job(seen, "7").facts.name, job(seen, "7").state) == (name, JobState.TRAINING)

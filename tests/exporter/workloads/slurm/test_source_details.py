"""The source over time and when things fail, with recorded answers that a test changes."""

import json
import logging
from collections.abc import Callable
from datetime import UTC
from pathlib import Path

import pytest

from gpuscope.workloads.observation import JobState, Observation, ObservedJob, Outcome
from gpuscope.workloads.slurm import SlurmSource
from gpuscope.workloads.slurm.completion import CompletionLog
from gpuscope.workloads.slurm.problems import Problems

Slurm = Callable[[str], Path]
NOW = 1796035240.0
NO_DBD = "Slurm accounting storage is disabled\n"


def job(seen: Observation, uid: str) -> ObservedJob:
    return next(one for one in seen.jobs if one.key.uid == uid)


def change_job(folder: Path, job_id: int, **fields: object) -> None:
    answer = json.loads((folder / "jobs.json").read_text())
    for one in answer["jobs"]:
        if one["job_id"] == job_id:
            one.update(fields)
    (folder / "jobs.json").write_text(json.dumps(answer))


def without_job(folder: Path, job_id: int) -> None:
    answer = json.loads((folder / "jobs.json").read_text())
    answer["jobs"] = [one for one in answer["jobs"] if one["job_id"] != job_id]
    (folder / "jobs.json").write_text(json.dumps(answer))


TEXT = """JobId=21 JobName=two nodes
   UserId=ada(1000) GroupId=ml(1000) MCS_label=N/A
   Priority=1 Nice=0 Account=(null) QOS=(null)
   JobState=PENDING Reason=Resources Dependency=(null)
   Requeue=1 Restarts=0 BatchFlag=1 Reboot=0 ExitCode=0:0
   SubmitTime=2026-11-30T10:38:27 EligibleTime=2026-11-30T10:38:27
   StartTime=Unknown EndTime=Unknown Deadline=N/A
   NodeList=
   NumNodes=2-2 NumCPUs=2 NumTasks=4 CPUs/Task=1
   TRES=cpu=2,node=2
   Comment=JobState=FAILED SubmitTime=never
   {request}

JobId=22 JobName=broken
   JobState=PENDING

"""


@pytest.mark.parametrize(
    ("request_", "gpus"),
    [
        ("TresPerNode=gres:gpu:h100:4", 8),
        ("TresPerTask=gres/gpu:1", 4),
        ("TresPerJob=gres:gpu:6", 6),
        ("TresPerSocket=gres:gpu:2", None),
        ("TresPerNode=gres:gpu:9999999999999", None),
        ("JOB_GRES=gpu:h100:16", 16),
        ("Power=", 0),
    ],
)
def test_gpus_that_a_waiting_job_asks_for(slurm: Slurm, request_: str, gpus: int | None) -> None:
    folder = slurm("22.05-requeued")
    (folder / "sacct.fail").write_text(NO_DBD)
    (folder / "jobs.txt").write_text(TEXT.format(request=request_))
    seen = SlurmSource(folder, use_json=False).observe(NOW)
    assert dict(seen.problems) == {"malformed_job": 1}
    (waits,) = seen.jobs
    assert (waits.facts.name, waits.facts.user, waits.facts.team, waits.facts.gpus) == ("two nodes", "ada", "", gpus)
    assert (waits.state, waits.created) == (JobState.QUEUED, 1796035107.0)


@pytest.mark.parametrize("count", ["9999999999999999999", "-8", "many"])
def test_a_number_of_gpus_that_cannot_be_read_is_unknown_and_not_0(slurm: Slurm, count: str) -> None:
    folder = slurm("22.05-requeued")
    change_job(folder, 7, tres_alloc_str=f"cpu=2,gres/gpu={count}", tres_req_str="cpu=2")
    (folder / "sacct.fail").write_text(NO_DBD)
    assert job(SlurmSource(folder).observe(NOW), "7").facts.gpus is None


def test_gpus_that_only_the_detail_of_a_node_tells(slurm: Slurm) -> None:
    """Without slurmdbd the TRES of 22.05 name no GPUs, even while a job holds some."""
    folder = slurm("22.05-requeued")
    bare = {"tres_alloc_str": "cpu=2,node=2,billing=2", "tres_req_str": "cpu=2,node=2"}
    change_job(folder, 7, **bare, gres_detail=["gpu:h100:8(IDX:0-7)", "gpu:h100:8(IDX:0-7)"])
    (folder / "sacct.fail").write_text(NO_DBD)
    assert job(SlurmSource(folder).observe(NOW), "7").facts.gpus == 16
    change_job(folder, 7, gres_detail=[], tres_per_node="", tres_per_socket="gres:gpu:1")
    assert job(SlurmSource(folder).observe(NOW), "7").facts.gpus is None


@pytest.mark.parametrize("what", ["job", "node"])
def test_a_cluster_of_nothing_in_text(slurm: Slurm, what: str) -> None:
    folder = slurm("22.05-requeued")
    (folder / "sacct.fail").write_text(NO_DBD)
    (folder / f"{what}s.txt").write_text(f"No {what}s in the system\n")
    seen = SlurmSource(folder, use_json=False).observe(NOW)
    assert (seen.complete, dict(seen.problems)) == (True, {})
    assert not (seen.jobs if what == "job" else seen.nodes)


def test_nodes_in_text_with_marks_and_without_sense(slurm: Slurm) -> None:
    folder = slurm("22.05-requeued")
    (folder / "nodes.txt").write_text(
        "NodeName=a State=IDLE*+DRAIN Partitions=ml,long\n   Gres=(null) GresUsed=gpu:0\n   OS=Linux State=DOWN\n\n"
        "NodeName=b State=IDLE~\n   Reason=no bracket\n\nNodeName=c\n"
    )
    seen = SlurmSource(folder, use_json=False).observe(NOW)
    assert dict(seen.problems) == {"malformed_node": 1}
    assert [(one.name, one.state.value, one.gpus) for one in seen.nodes] == [("a", "unknown", 0), ("b", "ready", None)]
    assert (seen.nodes[0].partitions, seen.nodes[1].reason) == (("ml", "long"), "no bracket")


def test_of_a_long_completion_log_only_the_end_is_read(slurm: Slurm) -> None:
    log = slurm("26.05-after") / "jobcomp.log"
    lines = log.read_text().splitlines(keepends=True)
    problems = Problems()
    rows = CompletionLog(log, UTC, max_bytes=len(lines[-1]) + 10).read(0.0, problems)
    assert [row.job_id for row in rows] == [int(lines[-1].split()[0].partition("=")[2])]
    assert CompletionLog(log, UTC).read(NOW * 2, problems) == []
    log.write_text(lines[0].replace("EndTime=2", "EndTime=x"))
    assert CompletionLog(log, UTC).read(0.0, problems) == []
    assert dict(problems.counts) == {"malformed_completion": 1}


def test_an_attempt_that_slurmdbd_still_believes_to_run(slurm: Slurm) -> None:
    """slurmdbd is asked less often than slurmctld, so that its answer may be older than a requeue."""
    folder = slurm("24.11-nodedead")
    accounted = (folder / "sacct.txt").read_text().splitlines(keepends=True)
    stale = [line for line in accounted if not line.startswith("7|") or "NODE_FAIL" in line]
    told = "".join(stale).replace("NODE_FAIL|1796035110|1796035113|1796035157", "RUNNING|1796035110|1796035113|Unknown")
    (folder / "sacct.txt").write_text(told)
    (attempt,) = job(SlurmSource(folder).observe(NOW), "7").attempts
    assert (attempt.started, attempt.ended, attempt.outcome) == (1796035113.0, 1796035157.0, Outcome.INTERRUPTED)


def test_a_history_that_is_ahead_of_slurmctld_waits(slurm: Slurm) -> None:
    folder = slurm("22.05-requeued")
    (folder / "sacct.txt").write_bytes((slurm("22.05-nodedead") / "sacct.txt").read_bytes())
    by_hand = job(SlurmSource(folder).observe(NOW), "9")
    assert [(a.number, a.evidence.state) for a in by_hand.attempts] == [(0, "REQUEUED")]


def test_a_name_that_is_no_text_costs_no_json(slurm: Slurm) -> None:
    folder = slurm("24.11-nodedead")
    change_job(folder, 1, name="cafe", account="\ud83d half")
    told = (folder / "jobs.json").read_bytes()
    (folder / "jobs.json").write_bytes(told.replace(b'"cafe"', b'"caf\xe9"'))
    seen = SlurmSource(folder).observe(NOW)
    assert (seen.complete, dict(seen.problems)) == (True, {"malformed_text": 1})
    assert (job(seen, "1").facts.name, job(seen, "1").facts.team) == ("caf\ufffd", "\ufffd half")


def test_a_row_that_stays_malformed_is_told_once_though_answers_are_kept(
    slurm: Slurm, caplog: pytest.LogCaptureFixture
) -> None:
    folder = slurm("24.11-nodedead")
    whole = (folder / "sacct.txt").read_text()
    (folder / "sacct.txt").write_text(whole.replace("|COMPLETED|", "|???|", 1))
    source = SlurmSource(folder, accounting_every_s=120)
    caplog.set_level(logging.INFO)
    counted = [source.observe(NOW + later).problems.get("malformed_accounting", 0) for later in range(0, 600, 40)]
    assert sum(counted) == 5  # one for each time that slurmdbd was asked
    (folder / "sacct.fail").write_text("sacct: error: Problem talking to the database: Connection refused\n")
    assert dict(source.observe(NOW + 600).problems) == {"slurmdbd_unreachable": 1}
    (folder / "sacct.fail").unlink()
    (folder / "scontrol.fail").write_text("Unable to contact slurm controller\n")
    assert dict(source.observe(NOW + 620).problems) == {"slurmctld_unreachable": 1}
    (folder / "scontrol.fail").unlink()
    assert dict(source.observe(NOW + 640).problems) == {"malformed_accounting": 1}
    told = [one.getMessage() for one in caplog.records if "malformed_accounting" in one.getMessage()]
    assert len(told) == 1
    (folder / "sacct.txt").write_text(whole)
    source.observe(NOW + 800)
    told = [one.getMessage() for one in caplog.records if "malformed_accounting" in one.getMessage()]
    assert told[1:] == ["slurm: malformed_accounting is over"]


def test_a_source_that_is_stopped_tells_nothing(slurm: Slurm, caplog: pytest.LogCaptureFixture) -> None:
    source = SlurmSource(slurm("24.11-nodedead"))
    source.stop()
    seen = source.observe(NOW)
    assert (seen.complete, seen.jobs, dict(seen.problems), caplog.records) == (False, (), {}, [])

"""The source over time and when things fail, with recorded answers that a test changes."""

import json
import logging
from collections.abc import Callable
from datetime import UTC
from pathlib import Path

import pytest

from gpuscope.workloads.observation import JobState, Observation, ObservedJob, Outcome
from gpuscope.workloads.slurm import SlurmSource

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


def test_without_slurmdbd_slurmctld_tells_of_the_last_requeue(slurm: Slurm) -> None:
    folder = slurm("24.11-nodedead")
    (folder / "sacct.fail").write_text(NO_DBD)
    seen = SlurmSource(folder).observe(NOW)
    assert (seen.complete, dict(seen.problems)) == (True, {})
    by_node, by_hand, by_code = job(seen, "7"), job(seen, "9"), job(seen, "10")
    assert [(a.number, a.ended, a.outcome) for a in by_node.attempts] == [(0, 1796035157.0, Outcome.INTERRUPTED)]
    assert [(a.number, a.ended, a.outcome) for a in by_hand.attempts] == [(1, 1796035157.0, Outcome.INTERRUPTED)]
    assert [(a.number, a.outcome) for a in by_code.attempts] == [(2, Outcome.FAILED)]
    assert by_code.attempts[0].evidence.exit_codes == (99,)


def test_without_slurmdbd_what_was_seen_is_remembered(slurm: Slurm) -> None:
    folder = slurm("22.05-requeued")
    (folder / "sacct.fail").write_text(NO_DBD)
    source = SlurmSource(folder)
    first = source.observe(NOW - 120)
    assert job(first, "7").state is JobState.TRAINING
    later = slurm("22.05-nodedead")
    for name in ("jobs.json", "nodes.json"):
        (folder / name).write_bytes((later / name).read_bytes())
    struck = job(source.observe(NOW), "7")
    (attempt,) = struck.attempts
    assert (attempt.number, attempt.started, attempt.ended) == (0, 1796035115.0, 1796035162.0)
    assert (attempt.nodes, attempt.evidence.nodes_lost) == (("gpu-2",), ("gpu-2",))
    assert struck.created == job(first, "7").created
    # It starts again: the old attempt stays as it ended.
    change_job(folder, 7, job_state="RUNNING", state_reason="None", start_time=1796035225, nodes="gpu-2")
    again = job(source.observe(NOW + 60), "7")
    assert [(a.number, a.started, a.ended) for a in again.attempts] == [
        (0, 1796035115.0, 1796035162.0),
        (1, 1796035225.0, None),
    ]
    assert again.attempts[0].evidence == attempt.evidence
    assert again.state is JobState.TRAINING


def test_a_requeue_counts_before_the_old_attempt_is_cleaned_up(slurm: Slurm) -> None:
    folder = slurm("24.11-nodedead")
    (folder / "sacct.fail").write_text(NO_DBD)
    running = {"job_state": ["RUNNING"], "restart_cnt": 0, "start_time": 1796035113, "submit_time": 1796035110}
    change_job(folder, 7, **running, nodes="gpu-2")
    source = SlurmSource(folder)
    source.observe(NOW)
    for state in (["PENDING", "COMPLETING"], ["COMPLETING"]):
        change_job(folder, 7, job_state=state, restart_cnt=1)
        (attempt,) = job(source.observe(NOW + 5), "7").attempts
        assert (attempt.number, attempt.started, attempt.ended) == (0, 1796035113.0, None)


def test_a_preempted_job_that_waits_again_was_preempted(slurm: Slurm) -> None:
    folder = slurm("24.11-nodedead")
    (folder / "sacct.fail").write_text(NO_DBD)
    change_job(folder, 7, preempt_time=1796035156)
    assert job(SlurmSource(folder).observe(NOW), "7").attempts[0].outcome is Outcome.PREEMPTED


def test_a_number_that_is_used_again_is_another_job(slurm: Slurm) -> None:
    folder = slurm("24.11-nodedead")
    (folder / "sacct.fail").write_text(NO_DBD)
    source = SlurmSource(folder)
    source.observe(NOW)
    change_job(folder, 7, restart_cnt=0, submit_time=1796035230, name="other")
    fresh = job(source.observe(NOW), "7")
    assert (fresh.created, fresh.attempts, fresh.restarts, fresh.state) == (1796035230.0, (), 0, JobState.QUEUED)


@pytest.mark.parametrize("recorded", ["22.05-nodedead", "26.05-after"])
def test_the_completion_log_tells_attempts_where_there_is_no_slurmdbd(slurm: Slurm, recorded: str) -> None:
    folder = slurm(recorded)
    (folder / "sacct.fail").write_text(NO_DBD)
    seen = SlurmSource(folder, completion_log=folder / "jobcomp.log", completion_zone=UTC).observe(NOW)
    assert (seen.complete, dict(seen.problems)) == (True, {})
    by_hand = job(seen, "9")
    assert [(a.number, a.outcome, a.evidence.state, a.nodes) for a in by_hand.attempts[:2]] == [
        (0, Outcome.INTERRUPTED, "REQUEUED", ("gpu-2",)),
        (1, Outcome.INTERRUPTED, "NODE_FAIL", ("gpu-2",)),
    ]
    assert job(seen, "7").attempts[0].evidence.state == "NODE_FAIL"
    assert job(seen, "1").facts.team == "alpha"


def test_a_completion_log_that_is_gone_or_odd(slurm: Slurm) -> None:
    folder = slurm("22.05-nodedead")
    (folder / "sacct.fail").write_text(NO_DBD)
    log = folder / "jobcomp.log"
    whole = log.read_text()
    log.write_text("rubbish\n" + whole + "JobId=99 UserId=a(1) Gro")  # the last line is being written
    source = SlurmSource(folder, completion_log=log, completion_zone=UTC)
    seen = source.observe(NOW)
    assert dict(seen.problems) == {"malformed_completion": 1}
    assert len(job(seen, "9").attempts) == 2
    log.unlink()
    seen = source.observe(NOW)
    assert (seen.complete, dict(seen.problems)) == (False, {"completion_log": 1})
    assert seen.jobs


def test_a_job_that_only_slurmdbd_knows_is_told(slurm: Slurm) -> None:
    folder = slurm("24.11-nodedead")
    for job_id in (1, 8):
        without_job(folder, job_id)
    seen = SlurmSource(folder).observe(NOW)
    assert (job(seen, "1").outcome, job(seen, "8").outcome) == (Outcome.SUCCEEDED, Outcome.CANCELLED)


@pytest.mark.parametrize(
    ("user", "killed_by", "asked"),
    [
        (1000, 1000, True),
        (0, 0, True),
        (1000, 0, None),
        (1000, 990, None),
        (0, 1000, None),
        (None, 1000, None),
        (1000, None, None),
    ],
)
def test_only_its_own_user_is_known_to_have_cancelled_a_job(
    slurm: Slurm, user: int | None, killed_by: int | None, asked: bool | None
) -> None:
    folder = slurm("24.11-nodedead")
    by = "" if killed_by is None else f" by {killed_by}"
    head, *rows = (folder / "sacct.txt").read_text().replace("CANCELLED by 0", f"CANCELLED{by}").splitlines()
    at, of = head.split("|").index("UID"), [row.split("|") for row in rows]
    told = ["|".join([*row[:at], "" if user is None else str(user), *row[at + 1 :]]) for row in of]
    (folder / "sacct.txt").write_text("\n".join([head, *told, ""]))
    change_job(folder, 8, user_id=user)
    for _ in range(2):
        evidence = job(SlurmSource(folder).observe(NOW), "8").attempts[0].evidence
        assert evidence.requested_by_user is asked
        assert evidence.reason == ("" if killed_by is None else f"cancelled by uid {killed_by}")
        without_job(folder, 8)  # only slurmdbd knows it now


def test_a_job_that_slurmdbd_believes_to_run_and_slurmctld_does_not_know(slurm: Slurm) -> None:
    folder = slurm("22.05-requeued")
    without_job(folder, 4)
    seen = SlurmSource(folder).observe(NOW)
    assert "4" not in {one.key.uid for one in seen.jobs}
    assert dict(seen.problems) == {"runaway_job": 1}
    assert seen.complete


def test_slurmdbd_is_asked_seldom_and_at_once_when_a_job_is_gone(slurm: Slurm) -> None:
    folder = slurm("24.11-nodedead")
    answer = json.loads((folder / "jobs.json").read_text()) | {"last_update": {"set": False}}
    (folder / "jobs.json").write_text(json.dumps(answer))
    source = SlurmSource(folder, accounting_every_s=120)

    def asked() -> int:
        return sum("--starttime" in line for line in (folder / "calls").read_text().splitlines())

    source.observe(NOW)
    source.observe(NOW + 60)
    assert asked() == 1
    source.observe(NOW + 120)
    assert asked() == 2
    without_job(folder, 12)
    source.observe(NOW + 130)
    assert asked() == 3
    source.observe(NOW + 140)
    assert asked() == 3
    assert "--starttime=2026-11-29T10:40:40" in (folder / "calls").read_text()


def test_slurmdbd_that_fails_keeps_what_it_told_and_is_incomplete(slurm: Slurm) -> None:
    folder = slurm("24.11-nodedead")
    source = SlurmSource(folder, accounting_every_s=0)
    before = source.observe(NOW)
    (folder / "sacct.fail").write_text("sacct: error: Problem talking to the database: Connection refused\n")
    seen = source.observe(NOW + 60)
    assert (seen.complete, dict(seen.problems)) == (False, {"slurmdbd_unreachable": 1})
    assert seen.jobs == before.jobs
    (folder / "sacct.fail").unlink()
    assert source.observe(NOW + 120).complete


@pytest.mark.parametrize("recorded", ["22.05-nodedead", "24.11-nodedead"])
@pytest.mark.parametrize("use_json", [True, False])
def test_slurmctld_down_is_incomplete_and_not_an_empty_cluster(slurm: Slurm, recorded: str, use_json: bool) -> None:
    folder = slurm(recorded)
    source = SlurmSource(folder, use_json=use_json)
    assert source.observe(NOW).complete
    for name in ("scontrol", "squeue", "sinfo"):
        (folder / f"{name}.fail").write_text(
            "slurm_load_jobs error: Unable to contact slurm controller (connect failure)"
        )
    seen = source.observe(NOW + 60)
    assert (seen.complete, seen.jobs, seen.nodes) == (False, (), ())
    assert dict(seen.problems) == {"slurmctld_unreachable": 1}


DOWN_22 = {"meta": {}, "errors": [{"description": "Failed while looking for jobs", "error_number": -1}], "jobs": []}
DOWN_24 = {"jobs": [], "last_update": {"set": True, "infinite": False, "number": 0}, "errors": [], "warnings": []}


@pytest.mark.parametrize(("recorded", "answer"), [("22.05-nodedead", DOWN_22), ("24.11-nodedead", DOWN_24)])
def test_a_client_that_calls_silence_a_success(slurm: Slurm, recorded: str, answer: dict[str, object]) -> None:
    """As recorded from 22.05, 24.11 and 26.05 with slurmctld stopped: exit code 0 and no jobs."""
    folder = slurm(recorded)
    (folder / "jobs.json").write_text(json.dumps(answer))
    seen = SlurmSource(folder).observe(NOW)
    assert (seen.complete, dict(seen.problems)) == (False, {"slurmctld_unreachable": 1})


def test_a_cluster_without_jobs_is_complete(slurm: Slurm) -> None:
    folder = slurm("24.11-nodedead")
    (folder / "sacct.fail").write_text(NO_DBD)
    (folder / "jobs.json").write_text(json.dumps(DOWN_24 | {"last_update": {"set": True, "number": 1796035000}}))
    seen = SlurmSource(folder).observe(NOW)
    assert (seen.complete, seen.jobs, len(seen.nodes)) == (True, [], 3)


@pytest.mark.parametrize("broken", ["not json", "[]", '{"jobs": 7}'])
def test_json_that_is_none_gives_way_to_text(slurm: Slurm, broken: str) -> None:
    folder = slurm("24.11-nodedead")
    (folder / "jobs.json").write_text(broken)
    seen = SlurmSource(folder).observe(NOW)
    assert dict(seen.problems) == {"json_unusable": 1}
    assert seen.complete
    assert job(seen, "1").outcome is Outcome.SUCCEEDED


def test_a_slurm_without_a_json_plugin(slurm: Slurm) -> None:
    folder = slurm("26.05-after")
    (folder / "jobs.json").unlink()
    assert dict(SlurmSource(folder).observe(NOW).problems) == {"json_unusable": 1}


def test_a_job_that_is_malformed_costs_only_itself_and_is_logged_once(
    slurm: Slurm, caplog: pytest.LogCaptureFixture
) -> None:
    folder = slurm("24.11-nodedead")
    whole = (folder / "jobs.json").read_text()
    change_job(folder, 1, submit_time={"set": False})
    change_job(folder, 2, job_state=["FAILED", "SHINY"])
    change_job(folder, 12, required_nodes="", nodes="gpu-[", job_state=["RUNNING"], start_time=1796035200)
    accounted = (folder / "sacct.txt").read_text()
    (folder / "sacct.txt").write_text(accounted.replace("|COMPLETED|", "|???|", 1))
    source = SlurmSource(folder)
    with caplog.at_level(logging.INFO):
        seen = source.observe(NOW)
        source.observe(NOW + 60)
    assert seen.problems == {
        "malformed_job": 1,
        "malformed_accounting": 1,
        "unknown_job_state": 1,
        "malformed_hosts": 1,
    }
    assert not seen.complete
    assert job(seen, "2").outcome is Outcome.FAILED
    assert sum("malformed_job" in record.message for record in caplog.records) == 1
    (folder / "jobs.json").write_text(whole)
    with caplog.at_level(logging.INFO):
        assert source.observe(NOW + 60).complete
    assert "malformed_job is over" in caplog.text


def test_a_node_that_is_malformed_or_new_costs_only_itself(slurm: Slurm) -> None:
    folder = slurm("24.11-nodedead")
    answer = json.loads((folder / "nodes.json").read_text())
    answer["nodes"][0]["state"] = ["IDLE", "SLEEPY"]
    answer["nodes"] += [{"name": "gpu-9"}, 7, {"name": "gpu-8", "state": ["FUTURE"]}]
    (folder / "nodes.json").write_text(json.dumps(answer))
    seen = SlurmSource(folder).observe(NOW)
    assert dict(seen.problems) == {"malformed_node": 2, "unknown_node_state": 1}
    assert [one.name for one in seen.nodes] == ["gpu-1", "gpu-2", "gpu-3"]


def test_an_unknown_release_is_read_as_text(slurm: Slurm) -> None:
    folder = slurm("22.05-requeued")
    (folder / "version.txt").write_text("something else\n")
    seen = SlurmSource(folder).observe(NOW)
    assert (seen.complete, dict(seen.problems)) == (True, {})


def test_a_sacct_that_knows_no_fields_of_ours(slurm: Slurm) -> None:
    folder = slurm("22.05-requeued")
    (folder / "fields.txt").write_text("What Ever\n")
    seen = SlurmSource(folder).observe(NOW)
    assert (seen.complete, dict(seen.problems)) == (False, {"slurmdbd_error": 1})


def test_no_slurm_here(tmp_path: Path) -> None:
    seen = SlurmSource(tmp_path).observe(NOW)
    assert (seen.complete, dict(seen.problems)) == (False, {"slurmctld_missing": 1})

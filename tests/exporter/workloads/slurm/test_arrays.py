"""Arrays of which more tasks wait than can be told."""

import json
import logging
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from gpuscope.workloads.observation import JobKey, JobState, Observation
from gpuscope.workloads.slurm import KnownNumber, SlurmSource

Slurm = Callable[[str], Path]
NOW = 1796035240.0


def waiting(folder: Path, tasks: str | None) -> None:
    """These tasks of array 5 wait; without any its record is gone."""
    answer = json.loads((folder / "jobs.json").read_text())
    for one in answer["jobs"]:
        if one["job_id"] == 5:
            one["array_task_string"] = tasks
    if tasks is None:
        answer["jobs"] = [one for one in answer["jobs"] if one["job_id"] != 5]
    (folder / "jobs.json").write_text(json.dumps(answer))


def tasks(seen: Observation) -> Mapping[str, int]:
    return {one.key.uid: one.facts.tasks for one in seen.jobs if one.facts.kind == "array_task"}


@pytest.mark.parametrize("use_json", [True, False])
def test_a_long_array_is_its_first_task_that_waits_and_costs_nothing_else(
    slurm: Slurm, use_json: bool, caplog: pytest.LogCaptureFixture
) -> None:
    folder = slurm("22.05-requeued")
    whole = {one.key.uid for one in SlurmSource(folder, use_json=use_json).observe(NOW).jobs}
    waiting(folder, "2-5000%1")
    text = (folder / "jobs.txt").read_text()
    (folder / "jobs.txt").write_text(text.replace("ArrayTaskId=2-4%1", "ArrayTaskId=2-5000%1"))
    source = SlurmSource(folder, use_json=use_json)
    for _ in range(3):
        seen = source.observe(NOW)
        assert (seen.complete, seen.reason, dict(seen.problems)) == (True, "", {"array_too_long": 1})
        assert {one.key.uid for one in seen.jobs} == whole - {"5_3", "5_4"}
        assert tasks(seen) == {"5_1": 1, "5_2": 4999}
    (first,) = (one for one in seen.jobs if one.key.uid == "5_2")
    assert (first.state, first.why) == (JobState.QUEUED, "JobArrayTaskLimit")
    assert sum("array_too_long" in one.getMessage() for one in caplog.records) == 1


def test_slurms_default_limit_of_tasks_is_not_too_long(slurm: Slurm) -> None:
    folder = slurm("22.05-requeued")
    waiting(folder, "2-1001")
    seen = SlurmSource(folder).observe(NOW)
    assert (len(tasks(seen)), set(tasks(seen).values()), dict(seen.problems)) == (1001, {1}, {})


def test_it_stays_one_until_none_of_its_tasks_waits(slurm: Slurm, caplog: pytest.LogCaptureFixture) -> None:
    folder = slurm("22.05-requeued")
    caplog.set_level(logging.INFO)
    source = SlurmSource(folder)
    for told, expected in (("2-5000%1", {"5_2": 4999}), ("3-4,7", {"5_3": 3}), ("7", {"5_7": 1})):
        waiting(folder, told)
        assert tasks(source.observe(NOW)) == {"5_1": 1} | expected
    assert "is over" not in caplog.text
    waiting(folder, None)
    assert tasks(source.observe(NOW)) == {"5_1": 1}
    assert "array_too_long is over" in caplog.text


def test_tasks_that_were_known_are_hidden_and_not_gone(slurm: Slurm) -> None:
    folder = slurm("22.05-requeued")
    waiting(folder, "2-5000%1")
    known = {uid: KnownNumber(1796035110, NOW - 60) for uid in ("5_1", "5_2", "5_9", "5", "55_9", "6_1")}
    seen = SlurmSource(folder, known=known).observe(NOW)
    assert seen.hidden == {JobKey("slurm", "", "5_9", 1796035110)}


def test_tasks_that_cannot_be_read_hide_a_job(slurm: Slurm) -> None:
    folder = slurm("22.05-requeued")
    waiting(folder, "2,4-...")
    seen = SlurmSource(folder).observe(NOW)
    assert (seen.complete, dict(seen.problems)) == (False, {"malformed_job": 1})
    assert tasks(seen) == {"5_1": 1, "5_2": 1}

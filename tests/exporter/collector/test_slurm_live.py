"""The collector beside a Slurm whose jobs come as the test goes on: its clock may be off, its arrays may be long."""

import json
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest
from tests.exporter.collector.conftest import Running

Start = Callable[..., Running]


class _Slurm:
    """Slurm 24.11 whose clock is ahead or behind."""

    def __init__(self, folder: Path, ahead_s: int) -> None:
        self.folder = folder
        self._ahead_s = ahead_s
        self._jobs: dict[int, dict[str, object]] = {}
        (folder / "ahead").write_text(f"{ahead_s}")
        (folder / "sacct.fail").write_text("Slurm accounting storage is disabled\n")

    @property
    def second(self) -> int:
        return int(time.time()) + self._ahead_s

    def put(self, job_id: int, state: str, **fields: object) -> None:
        own = {"job_id": job_id, "job_state": [state], "name": "llama", "account": "nlp", "restart_cnt": 0}
        self._jobs[job_id] = self._jobs.get(job_id, {"submit_time": self.second}) | own | fields
        answer = {"jobs": list(self._jobs.values()), "errors": [], "last_update": {"set": True, "number": "@NOW@"}}
        new = self.folder / "jobs.new"
        new.write_text(json.dumps(answer))
        new.replace(self.folder / "jobs.json")


@pytest.mark.parametrize("ahead", [-7200, 7200])
def test_clock_of_slurm_that_is_off_loses_nothing(collector: Start, slurm: Callable[[str], Path], ahead: int) -> None:
    cluster = _Slurm(slurm("24.11-nodedead"), ahead)
    cluster.put(1, "RUNNING", start_time=cluster.second, nodes="gpu-1")
    one = collector("--slurm", "--slurm.commands", str(cluster.folder))
    one.wait(Running.ready, "an answer of Slurm")
    time.sleep(2.1)  # both clocks are known to a second only: job 1 was there before
    began = cluster.second
    cluster.put(2, "RUNNING", start_time=began, nodes="gpu-1")
    one.wait(lambda one: len(one.jobs("?state=training")) == 2, "the second job")
    (told,) = (job for job in one.jobs() if job["job_id"] == "2")
    assert abs(datetime.fromisoformat(told["state_since"]).timestamp() - time.time()) < 60
    cluster.put(2, "FAILED", end_time=cluster.second)
    cluster.put(3, "FAILED", start_time=cluster.second, end_time=cluster.second, nodes="gpu-1")  # between two looks
    one.wait(lambda one: one.total("gpuscope_training_jobs_ended_total", 'outcome="failed"') == 2, "both ends")
    assert one.total("gpuscope_training_jobs_created_total") == 2
    assert one.total("gpuscope_training_attempts_ended_total", 'outcome="failed"') == 2
    known = one.value('gpuscope_collector_clock_offset_seconds{scheduler="slurm"}')
    assert known == pytest.approx(ahead, abs=2)
    assert one.total("gpuscope_collector_problems_total", 'reason="clock_skew"') == 1
    assert one.log.count("its clock is 7") == 1


def test_collector_that_starts_beside_a_long_array_becomes_ready(
    collector: Start, slurm: Callable[[str], Path]
) -> None:
    cluster = _Slurm(slurm("24.11-nodedead"), 0)
    array = {"array_job_id": 42, "array_task_string": "0-4999%8", "state_reason": "Priority"}
    cluster.put(42, "PENDING", **array)
    cluster.put(1, "RUNNING", start_time=cluster.second, nodes="gpu-1")
    one = collector("--slurm", "--slurm.commands", str(cluster.folder))
    one.wait(Running.ready, "an answer of Slurm")
    told = {job["job_id"]: (job["tasks"], job["state"], job["why"]) for job in one.jobs()}
    assert told == {"42_0": (5000, "queued", "Priority"), "1": (1, "training", None)}
    assert one.value('gpuscope_collector_source_up{scheduler="slurm"}') == 1
    assert one.total("gpuscope_collector_problems_total", 'reason="array_too_long"') >= 1
    assert "does not answer" not in one.log

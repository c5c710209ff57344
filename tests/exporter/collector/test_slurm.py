"""The collector beside a recorded Slurm."""

import json
import signal
import time
from collections.abc import Callable
from pathlib import Path

from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse_text
from tests.exporter.collector.conftest import RecordedSlurm, Running
from tests.exporter.workloads.slurm.test_command import is_gone

Start = Callable[..., Running]
ENDED = "gpuscope_training_jobs_ended_total"


def counters(one: Running) -> dict[str, float]:
    """All that counts jobs, attempts and faults; not seconds, which go on."""
    return {
        text: value
        for text, value in one.metrics().items()
        if text.startswith("gpuscope_training_") and "_total{" in text and "seconds" not in text
    }


def test_metrics_are_clean_and_both_formats_can_be_read(
    collector: Start, recorded: RecordedSlurm, promtool: Callable[[str], str]
) -> None:
    one = collector("--slurm", "--slurm.commands", str(recorded.commands))
    one.wait(Running.ready, "an answer of Slurm")
    recorded.go_on()
    one.wait(lambda one: one.total(ENDED, 'outcome="timed_out"') == 1, "the end of a job")
    answer = one.get("/metrics")
    assert promtool(answer.text) == ""
    names = {family.name for family in parse_text(answer.text)}
    assert {"gpuscope_training_jobs_ended", "gpuscope_training_faults", "gpuscope_scheduler_node_state"} <= names
    other = one.get("/metrics", Accept="application/openmetrics-text; version=1.0.0")
    assert other.headers["Content-Type"].startswith("application/openmetrics-text")
    assert {family.name for family in parse_openmetrics(other.text)} == names


def test_metrics_are_compressed_on_request(collector: Start, recorded: RecordedSlurm) -> None:
    one = collector("--slurm", "--slurm.commands", str(recorded.commands))
    one.wait(Running.ready, "an answer of Slurm")
    answer = one.get("/metrics", **{"Accept-Encoding": "gzip"})
    assert answer.headers["Content-Encoding"] == "gzip"
    assert "gpuscope_collector_leader 1" in answer.text
    assert "Content-Encoding" not in one.get("/metrics", **{"Accept-Encoding": "identity"}).headers


def test_what_happens_is_counted_once_through_a_kill(collector: Start, recorded: RecordedSlurm, tmp_path: Path) -> None:
    flags = ("--slurm", "--slurm.commands", str(recorded.commands), "--state-file", str(tmp_path / "state"))
    one = collector(*flags)
    one.wait(Running.ready, "an answer of Slurm")
    assert one.total(ENDED) == 0
    recorded.go_on()
    one.wait(lambda one: one.total(ENDED, 'outcome="timed_out"') == 1, "the end of a job")
    told = counters(one)
    assert one.total(ENDED, 'outcome="succeeded"') == 4
    assert one.total("gpuscope_training_attempts_ended_total", 'outcome="interrupted"') > 0
    assert one.end(signal.SIGKILL) == -signal.SIGKILL
    two = collector(*flags)
    two.wait(Running.ready, "an answer of Slurm")
    # slurmdbd, which knows of older attempts, is asked less often than slurmctld: at the restart, but not before.
    late = counters(two)
    assert {text: value for text, value in late.items() if "attempts" not in text and "faults" not in text} == {
        text: value for text, value in told.items() if "attempts" not in text and "faults" not in text
    }
    assert all(late[text] >= value for text, value in told.items())
    two.end(signal.SIGKILL)
    three = collector(*flags)
    three.wait(Running.ready, "an answer of Slurm")
    assert counters(three) == late


def test_what_happened_while_it_was_dead_is_counted(collector: Start, recorded: RecordedSlurm, tmp_path: Path) -> None:
    flags = ("--slurm", "--slurm.commands", str(recorded.commands), "--state-file", str(tmp_path / "state"))
    one = collector(*flags)
    one.wait(Running.ready, "an answer of Slurm")
    one.end(signal.SIGKILL)
    recorded.go_on()
    two = collector(*flags)
    two.wait(Running.ready, "an answer of Slurm")
    assert two.total(ENDED, 'outcome="succeeded"') == 4
    assert two.total(ENDED, 'outcome="timed_out"') == 1


def test_scheduler_that_is_away_takes_no_job_with_it(collector: Start, recorded: RecordedSlurm) -> None:
    one = collector("--slurm", "--slurm.commands", str(recorded.commands))
    one.wait(Running.ready, "an answer of Slurm")
    lived = one.jobs()
    assert lived
    recorded.away()
    up = 'gpuscope_collector_source_up{scheduler="slurm"}'
    one.wait(lambda one: one.value(up) == 0, "the failure")
    failure = [text for text in one.metrics() if text.startswith("gpuscope_collector_source_failure_info")]
    assert len(failure) == 1
    assert "unreachable" in failure[0]
    assert [job["job_id"] for job in one.jobs()] == [job["job_id"] for job in lived]
    assert one.total("gpuscope_training_jobs_forgotten_total") == 0
    assert one.ready()
    answer = one.get("/api/v1/jobs").json()["sources"][0]
    assert "unreachable" in answer["reason"]
    recorded.back()
    one.wait(lambda one: one.value(up) == 1, "the recovery")
    assert one.log.count("does not answer") == 1
    assert one.log.count("answers again") == 1


def test_collector_without_its_scheduler_is_not_ready_and_says_why(collector: Start, recorded: RecordedSlurm) -> None:
    recorded.away()
    one = collector("--slurm", "--slurm.commands", str(recorded.commands))
    one.wait(lambda one: "unreachable" in one.get("/-/ready").text, "the reason")
    assert one.get("/-/ready").status_code == 503
    assert one.get("/-/healthy").status_code == 200
    recorded.back()
    one.wait(Running.ready, "an answer of Slurm")


def test_malformed_job_is_counted_and_costs_no_other(collector: Start, recorded: RecordedSlurm) -> None:
    one = collector("--slurm", "--slurm.commands", str(recorded.commands))
    one.wait(Running.ready, "an answer of Slurm")
    others = {job["job_id"] for job in one.jobs()} - {"4"}
    recorded.replace("jobs.json", '"job_id":4,', '"job_id":"four",')
    one.wait(lambda one: one.total("gpuscope_collector_problems_total", "malformed") >= 3, "the problem")
    assert others <= {job["job_id"] for job in one.jobs()}
    assert one.total(ENDED) == 0
    assert one.total("gpuscope_training_jobs_forgotten_total") == 0
    assert one.log.count("malformed_job") <= 2


def test_job_whose_time_or_name_is_none_spoils_no_page(collector: Start, recorded: RecordedSlurm) -> None:
    one = collector("--slurm", "--slurm.commands", str(recorded.commands))
    one.wait(Running.ready, "an answer of Slurm")
    others = {job["job_id"] for job in one.jobs()} - {"4"}
    told = json.loads((recorded.commands / "jobs.json").read_text())
    for job in told["jobs"]:
        job["account"] = f"\ud83d{job['account']}"
        if job["job_id"] == 4:
            job["submit_time"] = job["start_time"] = 999_999_999_999
    recorded._write("jobs.json", json.dumps(told))
    one.wait(lambda one: one.total("gpuscope_collector_problems_total", "malformed_time") >= 2, "the time")
    one.wait(lambda one: one.total("gpuscope_collector_problems_total", "malformed_text") >= 2, "the text")
    assert one.get("/api/v1/jobs").status_code == 200
    assert others <= {job["job_id"] for job in one.jobs()}
    assert {job["team"] for job in one.jobs("?state=training")} == {"\ufffdalpha"}
    assert one.value('gpuscope_collector_source_up{scheduler="slurm"}') == 1
    assert one.log.count("malformed_text") == 1


def test_jobs_can_be_filtered(collector: Start, recorded: RecordedSlurm) -> None:
    one = collector("--slurm", "--slurm.commands", str(recorded.commands))
    one.wait(Running.ready, "an answer of Slurm")
    every = one.jobs()
    training = one.jobs("?state=training")
    assert {job["state"] for job in training} == {"training"}
    assert 0 < len(training) < len(every)
    assert {job["outcome"] for job in one.jobs("?outcome=failed&outcome=cancelled")} == {"failed", "cancelled"}
    assert one.jobs("?team=alpha") == every
    assert one.jobs("?team=nobody") == []
    for query in ("?state=sleeping", "?outcome=good", "?nonsense=1"):
        answer = one.get(f"/api/v1/jobs{query}")
        assert answer.status_code == 400
        assert answer.json()["error"]["message"]


def test_it_ends_at_once_when_asked(collector: Start, recorded: RecordedSlurm, tmp_path: Path) -> None:
    one = collector("--slurm", "--slurm.commands", str(recorded.commands), "--state-file", str(tmp_path / "state"))
    one.wait(Running.ready, "an answer of Slurm")
    assert one.end(signal.SIGTERM) == 0
    two = collector("--slurm", "--slurm.commands", str(recorded.commands), "--state-file", str(tmp_path / "state"))
    two.wait(Running.ready, "an answer of Slurm")
    assert two.end(signal.SIGINT) == 0


def test_command_that_runs_ends_with_it(collector: Start, recorded: RecordedSlurm) -> None:
    one = collector("--slurm", "--slurm.commands", str(recorded.commands))
    one.wait(Running.ready, "an answer of Slurm")
    hangs = recorded.commands / "hangs"
    recorded._write("scontrol", f"#!/bin/sh\nsleep 600 & echo $! > {hangs}.new; mv {hangs}.new {hangs}; wait\n", 0o755)
    one.wait(lambda _: hangs.exists(), "a command that hangs")
    assert one.end(signal.SIGTERM) == 0
    assert is_gone(int(hangs.read_text()))
    assert "stopped" not in one.log


def test_clock_that_is_ahead_of_slurms_or_behind_makes_no_negative_time(
    collector: Start, recorded: RecordedSlurm
) -> None:
    recorded._shift += 600
    recorded.go_on()
    one = collector("--slurm", "--slurm.commands", str(recorded.commands))
    one.wait(Running.ready, "an answer of Slurm")
    time.sleep(2)
    assert all(value >= 0 for value in one.metrics().values())

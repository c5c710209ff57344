"""The table of jobs: rows out of a collector's JSON, and how they look."""

import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from gpuscope.table.cell import printable
from gpuscope.table.jobs import JobRow, JobsLook, read_jobs
from gpuscope.table.jobs_view import ENDED_MOST, ENDED_S, job_table, jobs_screenful, jobs_summary, shown


def _document(**fields: object) -> dict[str, object]:
    job = {
        "scheduler": "slurm", "namespace": None, "job_id": "42", "workload": "llama", "workload_kind": "job",
        "team": "nlp", "queue": "h100", "user": "eve", "gpus": 16, "created": "2026-11-30T10:00:00.000Z",
        "state": "training", "state_since": "2026-11-30T10:00:30.000Z", "outcome": None, "ended": None, "restarts": 1,
        "last_fault": "node_down", "state_seconds": {}, "progress_ratio": None, "remaining_seconds": None,
    }  # fmt: skip
    sources = [{"name": "slurm", "answered_at": None, "reason": None}]
    return {"generated_at": "2026-11-30T10:02:00.000Z", "sources": sources, "jobs": [{**job, **fields}]}


def _draw(jobs: list[JobRow], width: int) -> str:
    stream = io.StringIO()
    Console(file=stream, width=width, no_color=True, force_terminal=True).print(job_table(jobs, width=width))
    return re.sub(r"\x1b\[[0-9;]*m", "", stream.getvalue())


def _job(number: int = 1, **fields: object) -> JobRow:
    return JobRow(**{"workload": f"job-{number}", "job_id": str(number), "scheduler": "slurm", **fields})


def test_a_row_tells_how_long_the_job_has_been_in_its_state() -> None:
    look = read_jobs(_document())
    assert (look.answered, look.problem) == (True, "")
    assert look.jobs == [
        JobRow("llama", "42", "slurm", "", "training", "", "nlp", "h100", "eve", 16, 90.0, 1, "node_down")
    ]
    over = read_jobs(_document(state=None, state_since=None, outcome="failed", ended="2026-11-30T10:01:55.000Z")).jobs[
        0
    ]
    assert (over.state, over.outcome, over.seconds) == ("", "failed", 5.0)
    assert read_jobs(_document(state="suspended", state_since=None)).jobs[0].seconds is None


def test_a_scheduler_that_does_not_answer_is_named() -> None:
    document = _document()
    document["sources"] = [{"name": "slurm", "answered_at": None, "reason": "slurmctld_unreachable"}]
    assert read_jobs(document).problem == "slurm: slurmctld_unreachable"


@pytest.mark.parametrize(
    "document", [None, [], {}, {"jobs": []}, {**_document(), "jobs": [{}]}, {**_document(), "generated_at": "x"}]
)
def test_what_is_not_of_a_collector_is_refused(document: object) -> None:
    with pytest.raises(ValueError):
        read_jobs(document)


def test_what_needs_somebody_comes_first_and_the_last_ended_comes_last() -> None:
    jobs = [
        _job(1, state="queued", seconds=5.0),
        _job(2, outcome="failed", seconds=60.0),
        _job(3, state="training", seconds=10.0),
        _job(4, state="recovering"),
        _job(5, state="training", seconds=20.0),
        _job(6, outcome="succeeded", seconds=30.0),
        _job(7, outcome="succeeded", seconds=ENDED_S + 1),
        _job(8, outcome="unknown"),
        _job(9, state="a-new-word"),
    ]
    assert [int(job.job_id) for job in shown(jobs)] == [9, 4, 5, 3, 1, 6, 2]
    many = [_job(number, outcome="succeeded", seconds=float(number)) for number in range(100)]
    assert [int(job.job_id) for job in shown(many)] == list(range(ENDED_MOST))


@pytest.mark.parametrize("width", [80, 94, 100, 110, 124, 140, 200])
def test_the_table_fits_its_width_and_numbers_stay_whole(width: int) -> None:
    jobs = [
        _job(
            namespace="a-namespace-with-a-long-name", workload="a-workload-with-a-name-that-never-ends-" * 3,
            job_id="0b9c7a52-1f7e-4e0f-8a6b-0d7f6f0a7c11", scheduler="kubernetes", state="checkpointing", gpus=10_240,
            team="a-team-with-a-long-name", queue="a-queue-with-a-long-name", user="somebody-with-a-long-name",
            seconds=12 * 86_400.0, restarts=123, fault="nvlink_or_fabric_and_more", progress=0.4, remaining_s=7500.0,
            why="0/4 nodes are available: 4 Insufficient nvidia.com/gpu",
        ),
        _job(outcome="interrupted", seconds=3599.0),
    ]  # fmt: skip
    text = _draw(jobs, width)
    assert max(len(line) for line in text.splitlines()) <= width
    first, second = (
        next(line for line in text.splitlines() if word in line) for word in ("checkpointing", "interrupted")
    )
    assert {"10240", "12d00h", "123", "40%", *(["2h05m"] if width >= 140 else [])} <= set(first.split())
    assert "59m59s ago" in second
    assert ("0b9c7a52" in text) == (width == 94 or width >= 110)
    assert ("Nodes / why" in text) == (width >= 100)
    assert "7c11" not in text


def test_progress_has_columns_only_where_a_job_tells_it() -> None:
    assert "Done" not in _draw([_job(state="training")], 120)
    text = _draw([_job(1, state="training", progress=0.5, remaining_s=45.0), _job(2, state="training")], 120)
    assert "Done" in text
    assert "50%" in text
    assert "45s" in text
    assert " 0%" not in text


def test_why_a_job_waits_and_where_it_runs_fit_a_hundred_columns_beside_its_id_and_user() -> None:
    jobs = [
        _job(1, state="queued", why="AssocGrpGRES", user="eve", team="nlp"),
        _job(2, state="training", nodes=("n1", "n2", "n3", "n4"), user="mei", fault="node_down"),
        _job(3, outcome="failed", why="stale", nodes=("n9",)),
    ]
    told = {line.split()[1]: line for line in _draw(jobs, 100).splitlines() if "job-" in line}
    assert told["job-1"].split()[2:6] == ["1", "nlp", "·", "eve"]
    assert told["job-1"].rstrip().endswith("AssocGrpGRES")
    assert told["job-2"].rstrip().endswith("n1 n2 +2")
    assert "stale" not in told["job-3"]
    assert "n9" not in told["job-3"]
    assert "Nodes / why" not in _draw(jobs[2:], 200)
    long = _draw([_job(state="scheduling", why="0/4 nodes are available: 4 Insufficient nvidia.com/gpu")], 200)
    assert "4 Insufficient nvidia.com/gpu" in long


def test_a_collector_of_an_earlier_release_tells_no_reason() -> None:
    look = read_jobs(_document(why="Priority", nodes=["n1", "n2"]))
    assert (look.jobs[0].why, look.jobs[0].nodes) == ("Priority", ("n1", "n2"))
    assert (read_jobs(_document()).jobs[0].why, read_jobs(_document(why=None)).jobs[0].nodes) == ("", ())


def test_what_nobody_knows_is_a_dot() -> None:
    line = next(line for line in _draw([JobRow("", "7", state="queued")], 140).splitlines() if "queued" in line)
    assert line.split() == ["queued", "·", "7", "·", "·", "·", "·", "·"]


def test_hostile_names_can_neither_draw_nor_steer() -> None:
    evil = "\x1b[2J[red]x[/red]\r\n\x9b31m\u202e"
    text = _draw([_job(workload=evil, team=evil, queue=evil, user=evil, fault=evil, state=evil, job_id=evil)], 200)
    assert "[red]x[/red]" in text
    assert not any(letter in text for letter in "\x1b\r\x9b\u202e")
    assert len([line for line in text.splitlines() if "red" in line]) == 1
    assert "\x1b" not in jobs_summary([_job(state="\x1b[2J")])


@given(st.text())
def test_printable_keeps_the_length_and_leaves_nothing_that_steers(text: str) -> None:
    kept = printable(text)
    assert len(kept) == len(text)
    assert kept.isprintable()


def test_the_summary_counts_what_lives_and_how_the_others_ended() -> None:
    jobs = [
        _job(1, state="training", gpus=8), _job(2, state="checkpointing", gpus=16), _job(3, state="queued", gpus=64),
        _job(4, state="recovering", gpus=8), _job(5, state="pulling"), _job(6, outcome="succeeded", gpus=8),
        _job(7, outcome="timed_out"), _job(8, outcome="timed_out"),
    ]  # fmt: skip
    assert jobs_summary(jobs) == (
        "2 running on 24 GPUs, 1 queued, 1 recovering, 1 starting; in 24 h 1 succeeded, 0 failed, 2 timed out"
    )
    assert jobs_summary([]) == "0 running on 0 GPUs, 0 queued; in 24 h 0 succeeded, 0 failed"


def test_pages_hold_every_job_once_and_an_empty_one_where_there_is_none() -> None:
    jobs = [_job(number, state="queued") for number in range(25)]
    screenful = jobs_screenful(JobsLook(jobs, "slurm: timeout"), 100, 10)
    assert (len(screenful.pages), screenful.trouble) == (3, "slurm: timeout")
    stream = io.StringIO()
    console = Console(file=stream, width=100)
    for page in screenful.pages:
        console.print(page.body)
    assert sorted(re.findall(r"job-\d+", stream.getvalue())) == sorted(f"job-{number}" for number in range(25))
    assert len(jobs_screenful(JobsLook(), 100, 10).pages) == 1

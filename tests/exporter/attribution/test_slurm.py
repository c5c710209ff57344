"""Job files in folders like those of dcgm-exporter's, NVIDIA's, Slinky's and jobstats' prologs."""

import os
import socket
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuscope.attribution.job_facts import JobFacts
from gpuscope.attribution.problems import Problem
from gpuscope.attribution.slurm import JobFiles, assign_jobs, read_job_files
from gpuscope.nvml.identity import GpuIdentity, MigInstance

_GPU0 = "GPU-5a4c9a3e-0000-1111-2222-333344445555"
_GPU1 = "GPU-6b5d0b4f-0000-1111-2222-333344445555"
_MIG_A = "MIG-1c2d3e4f-0000-1111-2222-333344445555"
_MIG_B = "MIG-2d3e4f50-0000-1111-2222-333344445555"
_MIG_C = "MIG-3e4f5061-0000-1111-2222-333344445555"
_GPUS = {
    GpuIdentity(index=0, uuid=_GPU0, model="H100"): (),
    GpuIdentity(index=1, uuid=_GPU1, model="H100"): (
        MigInstance(_MIG_A, 0, gi=3, ci=0, profile="1g.10gb"),
        MigInstance(_MIG_B, 1, gi=5, ci=0, profile="1c.2g.20gb"),
        MigInstance(_MIG_C, 2, gi=5, ci=1, profile="1c.2g.20gb"),
    ),
}


def _files(folder: Path, **content: str) -> JobFiles:
    for name, text in content.items():
        (folder / name).write_text(text, encoding="utf-8")
    return read_job_files(folder)


def _reasons(files: JobFiles, folder: Path) -> dict[str, str]:
    return {str(Path(name).relative_to(folder)): reason for name, reason in files.problems}


def test_a_file_per_gpu_tells_its_jobs(tmp_path: Path) -> None:
    files = _files(tmp_path, **{"0": "42\n", "1": "job1-1\njob2-1\n", "3.0": "job3.0-0", "12": "\r\n7\r\n\n"})
    assert files == JobFiles(
        {("0", None): ("42",), ("1", None): ("job1-1", "job2-1"), ("12", None): ("7",), ("3", 0): ("job3.0-0",)}, {}
    )


def test_a_job_that_stands_twice_counts_once_and_keeps_the_order(tmp_path: Path) -> None:
    assert _files(tmp_path, **{"0": "2\n1\n2\n3\n1\n"}).jobs == {("0", None): ("2", "1", "3")}


def test_files_may_be_named_by_uuids(tmp_path: Path) -> None:
    files = _files(tmp_path, **{_GPU0: "1", _MIG_A: "2", f"{_GPU1}.5": "3"})
    assert files.jobs == {(_GPU0, None): ("1",), (_MIG_A, None): ("2",), (_GPU1, 5): ("3",)}
    assert files.problems == ()


def test_a_user_id_may_stand_behind_the_job_id(tmp_path: Path) -> None:
    files = _files(tmp_path, **{"0": "45916256 262563\n"})
    assert files.jobs == {("0", None): ("45916256",)}
    assert files.facts == {"45916256": JobFacts(uid=262563)}


def test_an_empty_file_holds_nothing(tmp_path: Path) -> None:
    assert _files(tmp_path, **{"0": "", "1": "\n \n"}) == JobFiles({}, {})


def test_hidden_files_are_being_written_and_are_no_problem(tmp_path: Path) -> None:
    assert _files(tmp_path, **{".lock": "", ".0.123": "42"}) == JobFiles({}, {})


def test_a_missing_folder_is_not_a_node_without_jobs(tmp_path: Path) -> None:
    missing = tmp_path / "gone"
    assert read_job_files(missing) == JobFiles({}, {}, (Problem(str(missing), "missing"),), readable=False)
    (tmp_path / "file").touch()
    assert read_job_files(tmp_path / "file").problems[0].reason == "not_a_folder"


@pytest.mark.parametrize(
    "name", ["00", "+3", "-2", "1e5", ".5x", "1.2.3", "0.", "0.123", "foo", "bar.txt", "GPU-1", f"{_MIG_A}.0", "99999"]
)
def test_an_odd_name_is_a_problem_and_costs_nothing_else(name: str, tmp_path: Path) -> None:
    files = _files(tmp_path, **{name: "41", "0": "42"})
    assert files.jobs == {("0", None): ("42",)}
    assert _reasons(files, tmp_path) == ({} if name.startswith(".") else {name: "odd_name"})


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"42\0", "binary"),
        (b"\xff\xfe4\x002\x00", "binary"),
        (b"\xe9t\xe9", "binary"),
        (b"4" * 70_000, "too_large"),
        (b"\n" * 300, "too_many_lines"),
    ],
)
def test_a_file_that_is_no_job_file_is_not_taken_in_part(content: bytes, reason: str, tmp_path: Path) -> None:
    (tmp_path / "1").write_bytes(b"41\n" + content)
    files = _files(tmp_path, **{"0": "42"})
    assert files.jobs == {("0", None): ("42",)}
    assert _reasons(files, tmp_path) == {"1": reason}


def test_an_odd_line_is_a_problem_and_the_others_are_taken(tmp_path: Path) -> None:
    files = _files(tmp_path, **{"0": f"42\nno job at all\n{'9' * 200}\n43\n\x1b[31m\nö\n"})
    assert files.jobs == {("0", None): ("42", "43")}
    assert [problem.reason for problem in files.problems] == ["odd_line"] * 4


def test_what_is_no_file_is_never_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "0")
    (tmp_path / "1").mkdir()
    (tmp_path / "3").symlink_to("3")
    (tmp_path / "4").symlink_to("/dev/zero")
    with socket.socket(socket.AF_UNIX) as listener:
        here = os.open(tmp_path, os.O_RDONLY)
        try:
            # The path of a socket is short; that of a test's folder is not always.
            listener.bind(f"/proc/self/fd/{here}/2")
        finally:
            os.close(here)
        (tmp_path / "5").write_text("42")
        found: list[JobFiles] = []
        reader = threading.Thread(target=lambda: found.append(read_job_files(tmp_path)), daemon=True)
        reader.start()
        reader.join(60)
        waited = reader.is_alive()
        if waited:  # lets it go on
            os.close(os.open(tmp_path / "0", os.O_RDWR))
    assert not waited
    (files,) = found
    assert files.jobs == {("5", None): ("42",)}
    assert _reasons(files, tmp_path) == {
        "0": "not_a_file",
        "1": "not_a_file",
        "2": "not_a_file",
        "3": "link_loop",
        "4": "not_a_file",
    }


def test_a_file_whose_epilog_ran_meanwhile_is_no_problem(tmp_path: Path) -> None:
    (tmp_path / "0").symlink_to("removed")
    assert _files(tmp_path, **{"1": "42"}) == JobFiles({("1", None): ("42",)}, {})


def test_a_file_that_may_not_be_read_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Root reads every file: the refusal is made here.
    opening = os.open

    def refuse(path: Path, flags: int) -> int:
        if path.name == "0":
            raise PermissionError(13, "Permission denied")
        return opening(path, flags)

    monkeypatch.setattr(os, "open", refuse)
    files = _files(tmp_path, **{"0": "41", "1": "42"})
    assert files.jobs == {("1", None): ("42",)}
    assert _reasons(files, tmp_path) == {"0": "no_permission"}


def test_a_folder_without_end_is_cut(tmp_path: Path) -> None:
    for number in range(5000):
        (tmp_path / str(number)).touch()
    assert Problem(str(tmp_path), "too_many_files") in read_job_files(tmp_path).problems


def test_facts_of_a_job(tmp_path: Path) -> None:
    (tmp_path / "jobs").mkdir()
    _files(tmp_path / "jobs", **{"42": "user=alice\nuid=1000\naccount=vision\npartition=h100\nsluid=sEKNKTV3WPV500\n"})
    _files(
        tmp_path / "jobs", **{"43": "uid=99999999999\nuser=\x07\nfuture=1\n=\nnonsense\n", ".44": "", "45": "user=b=c"}
    )
    files = _files(tmp_path, **{"0": "42 7"})
    assert files.facts == {
        "42": JobFacts("alice", 1000, "vision", "h100", "sEKNKTV3WPV500"),
        "43": JobFacts(),
        "45": JobFacts(user="b=c"),
    }
    assert files.problems == ()
    assert files.job_of("sEKNKTV3WPV500") == "42"
    assert files.job_of("sEKNKTV3WPV501") is None


def test_odd_facts_are_problems_and_cost_nothing_else(tmp_path: Path) -> None:
    facts = tmp_path / "jobs"
    facts.mkdir()
    (facts / "x").touch()
    (facts / "1").write_bytes(b"\0")
    (facts / "2").mkdir()
    (facts / "3").symlink_to("removed")
    (facts / "5").symlink_to("5")
    files = _files(facts, **{"4": "user=bob"})
    files = _files(tmp_path, **{"0": "4"})
    assert files.jobs == {("0", None): ("4",)}
    assert files.facts == {"4": JobFacts(user="bob")}
    assert _reasons(files, tmp_path) == {
        "jobs/1": "binary",
        "jobs/2": "not_a_file",
        "jobs/5": "link_loop",
        "jobs/x": "odd_name",
    }


def test_facts_that_are_no_folder_are_a_problem(tmp_path: Path) -> None:
    files = _files(tmp_path, jobs="user=alice", **{"0": "4"})
    assert files.jobs == {("0", None): ("4",)}
    assert _reasons(files, tmp_path) == {"jobs": "not_a_folder"}


def test_jobs_come_to_the_devices_that_exist() -> None:
    files = JobFiles(
        {("0", None): ("1",), (_GPU0, None): ("1", "2"), ("1", 3): ("3",), ("1", 5): ("4",), (_MIG_C, None): ("5",)}, {}
    )
    assert assign_jobs(files, _GPUS) == (
        {_GPU0: ("1", "2"), _MIG_A: ("3",), _MIG_B: ("4",), _MIG_C: ("4", "5")},
        (),
    )


def test_a_job_on_a_whole_gpu_in_mig_mode_is_told_for_the_gpu() -> None:
    assert assign_jobs(JobFiles({("1", None): ("1",)}, {}), _GPUS) == ({_GPU1: ("1",)}, ())


def test_a_job_on_a_device_that_does_not_exist_is_a_problem() -> None:
    gone = _GPU0.replace("5a", "ff")
    files = JobFiles(
        {("7", None): ("1",), ("0", 1): ("2",), ("1", 9): ("3",), (gone, None): ("4",), ("0", None): ("5",)}, {}
    )
    jobs, problems = assign_jobs(files, _GPUS)
    assert jobs == {_GPU0: ("5",)}
    assert set(problems) == {Problem(name, "no_such_device") for name in ("7", "0.1", "1.9", gone)}
    assert assign_jobs(files, {})[0] == {}


@given(st.binary(max_size=300))
def test_any_content_has_an_answer(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    folder = tmp_path_factory.mktemp("jobs")
    (folder / "0").write_bytes(content)
    files = read_job_files(folder)
    assert set(files.jobs) <= {("0", None)}
    assert all(job and job.isascii() and job.isprintable() for jobs in files.jobs.values() for job in jobs)

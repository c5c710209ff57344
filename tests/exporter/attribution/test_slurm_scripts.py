"""The prolog and the epilog, run by bash as slurmd runs them, and what the agent reads of them."""

import os
import subprocess
import time
from importlib.resources import as_file, files
from pathlib import Path

import pytest

from gpuscope.attribution.job_facts import JobFacts
from gpuscope.attribution.slurm import JobFiles, read_job_files

_GPU0 = "GPU-5a4c9a3e-0000-1111-2222-333344445555"
_GPU1 = "GPU-6b5d0b4f-0000-1111-2222-333344445555"
_MIG = "MIG-1c2d3e4f-0000-1111-2222-333344445555"


def _start(script: str, folder: Path, job: str, **environment: str) -> subprocess.Popen[str]:
    # Slurm gives its variables and no search path.
    settings = {"SLURM_JOB_ID": job, "GPUSCOPE_JOB_FOLDER": str(folder), **environment}
    with as_file(files("gpuscope.attribution") / f"slurm_{script}.sh") as path:
        return subprocess.Popen(
            ["/bin/bash", path],
            env=settings,
            cwd=folder.parent,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )


def _finish(process: subprocess.Popen[str]) -> str:
    """Waits for the end; returns what was said on stderr."""
    try:
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 0
    assert out == ""
    return err


def _prolog(folder: Path, job: str = "42", **environment: str) -> JobFiles:
    assert _finish(_start("prolog", folder, job, **environment)) == ""
    return read_job_files(folder)


def _epilog(folder: Path, job: str = "42", **environment: str) -> JobFiles:
    assert _finish(_start("epilog", folder, job, **environment)) == ""
    return read_job_files(folder)


@pytest.mark.parametrize(
    ("environment", "devices"),
    [
        ({"SLURM_JOB_GPUS": "0,1"}, ["0", "1"]),
        ({"SLURM_JOB_GPUS": "0-3"}, ["0", "1", "2", "3"]),
        ({"SLURM_JOB_GPUS": "[0-1,6] "}, ["0", "1", "6"]),
        ({"SLURM_JOB_GPUS": "7"}, ["7"]),
        ({"SLURM_JOB_GPUS": "08,008,8"}, ["8"]),
        ({"SLURM_JOB_GPUS": "2", "CUDA_VISIBLE_DEVICES": "0"}, ["2"]),
        ({"CUDA_VISIBLE_DEVICES": "0,3"}, ["0", "3"]),
        ({"GPU_DEVICE_ORDINAL": "1", "CUDA_VISIBLE_DEVICES": "0"}, ["1"]),
        ({"SLURM_JOB_GPUS": "0,1", "CUDA_VISIBLE_DEVICES": f"{_GPU0},{_GPU1}"}, [_GPU0, _GPU1]),
        ({"SLURM_JOB_GPUS": "4", "CUDA_VISIBLE_DEVICES": _MIG}, [_MIG]),
        ({"SLURM_JOB_GPUS": "0,4", "CUDA_VISIBLE_DEVICES": f"{_GPU1},{_MIG}"}, [_GPU1, _MIG]),
    ],
)
def test_each_gpu_of_the_job_has_a_file(environment: dict[str, str], devices: list[str], tmp_path: Path) -> None:
    found = _prolog(tmp_path / "jobs", **environment)
    assert found.jobs == {(device, None): ("42",) for device in devices}
    assert found.problems == ()
    assert _epilog(tmp_path / "jobs") == JobFiles({}, {})


def test_an_old_mig_name_becomes_the_gpu_and_its_instance(tmp_path: Path) -> None:
    assert _prolog(tmp_path, CUDA_VISIBLE_DEVICES=f"MIG-{_GPU0}/7/0").jobs == {(_GPU0, 7): ("42",)}


@pytest.mark.parametrize(
    "environment", [{}, {"SLURM_JOB_GPUS": ""}, {"SLURM_JOB_GPUS": "", "CUDA_VISIBLE_DEVICES": "NoDevFiles"}]
)
def test_a_job_without_gpus_leaves_nothing(environment: dict[str, str], tmp_path: Path) -> None:
    _prolog(tmp_path / "jobs", **environment)
    assert not (tmp_path / "jobs").exists()


@pytest.mark.parametrize(
    "value",
    [
        "../../x",
        "*",
        "$(id)",
        "`id`",
        "3-1",
        "0-9999",
        "0-99999",
        "-1",
        "GPU-1",
        f"{_MIG}/../x",
        "gpu:2",
        "(null)",
        "\x1b[0m",
    ],
)
def test_odd_values_are_said_and_cost_nothing_else(value: str, tmp_path: Path) -> None:
    (tmp_path / "7").touch()  # what a "*" would find
    said = _finish(_start("prolog", tmp_path / "jobs", "42", SLURM_JOB_GPUS=f"0,{value},1"))
    assert said.startswith("gpuscope prolog: not a")
    assert said.replace("\n", "").isprintable()
    found = read_job_files(tmp_path / "jobs")
    assert found.jobs == {("0", None): ("42",), ("1", None): ("42",)}
    assert found.problems == ()
    assert sorted(one.name for one in tmp_path.iterdir()) == ["7", "jobs"]


@pytest.mark.parametrize("job", ["", "abc", "../1", "1;2", "99999999999"])
def test_an_odd_job_id_does_nothing(job: str, tmp_path: Path) -> None:
    _prolog(tmp_path / "jobs", job, SLURM_JOB_GPUS="0")
    assert not (tmp_path / "jobs").exists()
    _prolog(tmp_path, "1", SLURM_JOB_GPUS="0")
    assert _epilog(tmp_path, job).jobs == {("0", None): ("1",)}


def test_jobs_that_share_a_gpu_come_and_go(tmp_path: Path) -> None:
    _prolog(tmp_path, "41", SLURM_JOB_GPUS="0,1")
    assert _prolog(tmp_path, "42", SLURM_JOB_GPUS="0").jobs == {("0", None): ("41", "42"), ("1", None): ("41",)}
    # The same job again, as after a requeue.
    assert _prolog(tmp_path, "41", SLURM_JOB_GPUS="0,1").jobs == {("0", None): ("41", "42"), ("1", None): ("41",)}
    assert (tmp_path / "0").read_text() == "41\n42\n"
    assert _epilog(tmp_path, "4").jobs == {("0", None): ("41", "42"), ("1", None): ("41",)}
    assert _epilog(tmp_path, "41").jobs == {("0", None): ("42",)}
    assert _epilog(tmp_path, "42").jobs == {}
    assert _epilog(tmp_path, "42") == JobFiles({}, {})


def test_an_epilog_takes_back_what_another_prolog_wrote(tmp_path: Path) -> None:
    (tmp_path / "0").write_text("42 1000\n421\n")
    (tmp_path / "1").write_text("42\n")
    assert _epilog(tmp_path).jobs == {("0", None): ("421",)}


def test_the_job_has_facts_while_it_runs(tmp_path: Path) -> None:
    who = {
        "SLURM_JOB_USER": "alice",
        "SLURM_JOB_UID": "1000",
        "SLURM_JOB_ACCOUNT": "vision",
        "SLURM_JOB_PARTITION": "h100",
        "SLURM_JOB_SLUID": "sEKNKTV3WPV500",
    }
    found = _prolog(tmp_path, SLURM_JOB_GPUS="0", **who)
    assert found.facts == {"42": JobFacts("alice", 1000, "vision", "h100", "sEKNKTV3WPV500")}
    found = _prolog(tmp_path, "43", SLURM_JOB_GPUS="0", SLURM_JOB_USER="a\nuid=0\x1b", SLURM_JOB_ACCOUNT="x" * 5000)
    assert found.facts["43"] == JobFacts(user="auid=0", account="x" * 256)
    assert _epilog(tmp_path).facts.keys() == {"43"}


def test_a_uuid_becomes_the_index_for_programs_that_know_no_uuids(tmp_path: Path) -> None:
    for bus, uuid, excluded in [
        ("0000:1b:00.0", "GPU-00000000-0000-1111-2222-333344445555", "No"),
        ("0000:43:00.0", "GPU-11111111-0000-1111-2222-333344445555", "Yes"),
        ("0000:9d:00.0", _GPU0, "No"),
    ]:
        folder = tmp_path / "proc/driver/nvidia/gpus" / bus
        folder.mkdir(parents=True)
        (folder / "information").write_text(f"Model: \t NVIDIA H100\nGPU UUID: \t {uuid}\nGPU Excluded:\t {excluded}\n")
    settings = {"GPUSCOPE_JOB_NAMES": "index", "GPUSCOPE_PROCFS": str(tmp_path / "proc")}
    assert _prolog(tmp_path / "a", CUDA_VISIBLE_DEVICES=_GPU0, **settings).jobs == {("1", None): ("42",)}
    said = _finish(_start("prolog", tmp_path / "b", "42", CUDA_VISIBLE_DEVICES=_GPU1, **settings))
    assert said == f"gpuscope prolog: no index for {_GPU1}\n"
    assert read_job_files(tmp_path / "b").jobs == {(_GPU1, None): ("42",)}


def test_prologs_at_one_time_lose_no_job(tmp_path: Path) -> None:
    jobs = [str(number) for number in range(100, 108)]
    for script, expected in (("prolog", jobs), ("epilog", [])):
        running = [_start(script, tmp_path, job, SLURM_JOB_GPUS="0") for job in jobs]
        seen = set()
        while any(process.poll() is None for process in running):
            found = read_job_files(tmp_path)
            assert found.problems == ()
            seen |= set(found.jobs.get(("0", None), ()))
            time.sleep(0.01)
        assert [_finish(process) for process in running] == [""] * len(jobs)
        assert seen <= set(jobs)
        assert sorted(read_job_files(tmp_path).jobs.get(("0", None), ())) == expected
    assert [one for one in os.listdir(tmp_path) if one not in {".lock", "jobs"}] == []


def test_a_folder_that_cannot_be_written_does_not_fail_the_prolog(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for script in ("prolog", "epilog"):
        process = _start(script, tmp_path / "file", "42", SLURM_JOB_GPUS="0")
        _finish(process)
    (tmp_path / "jobs/0").mkdir(parents=True)
    said = _finish(_start("prolog", tmp_path / "jobs", "42", SLURM_JOB_GPUS="0,1"))
    assert read_job_files(tmp_path / "jobs").jobs == {("1", None): ("42",)}
    assert "cannot write" in said
    assert os.listdir(tmp_path / "jobs/0") == []
    _finish(_start("epilog", tmp_path / "jobs", "42"))
    assert read_job_files(tmp_path / "jobs").jobs == {}

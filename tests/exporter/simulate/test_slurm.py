"""The simulated Slurm, read by the source that reads real ones."""

import re
import subprocess
import time
from pathlib import Path

import pytest

from gpuscope.simulate.slurm import SimulatedSlurm
from gpuscope.simulate.slurm.answers import COLUMNS, host_list
from gpuscope.simulate.slurm.story import CYCLE_S, Host
from gpuscope.workloads.observation import JobState, NodeState, ObservedJob, Outcome
from gpuscope.workloads.slurm import SlurmSource

NOW = 1_796_035_000
ALIVE = {JobState.QUEUED, JobState.TRAINING, JobState.RECOVERING, JobState.SUSPENDED}


def _run(folder: Path, name: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([folder / name, *arguments], capture_output=True, text=True, check=False, timeout=30)


def test_a_turn_of_the_story_holds_every_kind_of_end_and_adds_up(tmp_path: Path) -> None:
    slurm, source = SimulatedSlurm(tmp_path, NOW), SlurmSource(tmp_path)
    jobs: dict[str, ObservedJob] = {}
    states: set[JobState] = set()
    nodes: set[NodeState] = set()
    for now in range(NOW, NOW + CYCLE_S, 8):
        slurm.go_on(now)
        seen = source.observe(now)
        assert (seen.complete, dict(seen.problems)) == (True, {})
        jobs |= {job.key.uid: job for job in seen.jobs}
        states |= {job.state for job in seen.jobs if job.outcome is None}
        nodes |= {node.state for node in seen.nodes}
        held = sum(job.facts.gpus or 0 for job in seen.jobs if job.state is JobState.TRAINING and not job.outcome)
        assert sum(node.gpus_allocated or 0 for node in seen.nodes) == held
        assert all((node.gpus_allocated or 0) <= (node.gpus or 0) for node in seen.nodes)
    assert {job.outcome for job in jobs.values()} >= {
        Outcome.SUCCEEDED, Outcome.FAILED, Outcome.CANCELLED, Outcome.TIMED_OUT,
    }  # fmt: skip
    assert states == ALIVE
    assert nodes == {NodeState.READY, NodeState.DOWN, NodeState.DRAINING, NodeState.DRAINED, NodeState.MAINTENANCE}
    struck = next(job for job in jobs.values() if job.facts.name == "llama-70b-pretrain")
    assert (struck.restarts, struck.facts.gpus, struck.facts.team) == (1, 32, "foundation")
    assert struck.attempts[0].evidence.state == "NODE_FAIL"
    assert "train-2" in struck.attempts[0].nodes
    ended = {job.attempts[-1].evidence.state for job in jobs.values() if job.outcome is Outcome.FAILED}
    assert ended == {"FAILED", "OUT_OF_MEMORY"}


def test_it_goes_on_without_growing(tmp_path: Path) -> None:
    slurm = SimulatedSlurm(tmp_path, NOW)
    slurm.go_on(NOW + 16 * CYCLE_S)
    first = len(slurm.cluster.jobs), len(slurm.cluster.past)
    slurm.go_on(NOW + 26 * CYCLE_S)
    assert len(slurm.cluster.jobs) < 2 * first[0]
    assert len(slurm.cluster.past) < 2 * first[1]
    assert len([job for job in slurm.cluster.jobs.values() if job.state == "PENDING"]) < 20


def test_sacct_gives_the_fields_asked_for_since_the_time_asked_for(tmp_path: Path) -> None:
    SimulatedSlurm(tmp_path, NOW)
    known = _run(tmp_path, "sacct", "--helpformat").stdout.split()
    assert set(COLUMNS) <= set(known)
    asked = ["--allusers", "--duplicates", "--allocations", "--noheader", "--parsable", "--delimiter=;"]
    whole = _run(tmp_path, "sacct", *asked, "--starttime=2000-01-01T00:00:00", "--format=State,JobID,Comment,End")
    lines = [line.split(";") for line in whole.stdout.splitlines()]
    assert {len(line) for line in lines} == {5}
    assert {line[2] for line in lines} == {""}, "a field that is always empty here"
    assert lines[0][1].isdigit()
    late = _run(tmp_path, "sacct", *asked, "--starttime=2099-01-01T00:00:00", "--format=State,JobID,Comment,End")
    assert {line.split(";")[3] for line in late.stdout.splitlines()} == {"Unknown"}


@pytest.mark.parametrize("name", ["scontrol", "squeue", "sinfo", "sacct"])
def test_a_command_tells_its_release_and_refuses_what_it_does_not_know(tmp_path: Path, name: str) -> None:
    SimulatedSlurm(tmp_path, NOW)
    assert _run(tmp_path, name, "--version").stdout == "slurm-wlm 22.05.8\n"
    refused = _run(tmp_path, name, "--make-coffee")
    assert (refused.returncode, refused.stderr) == (1, f"{name}: unrecognized option\n")


def test_time_passes_by_itself_once_started(tmp_path: Path) -> None:
    slurm = SimulatedSlurm(tmp_path)
    before = slurm.cluster.now
    slurm.start()
    end = time.monotonic() + 30
    while slurm.cluster.now == before:
        assert time.monotonic() < end
        time.sleep(0.1)
    slurm.stop()
    assert (tmp_path / "jobs").stat().st_size > 0


def test_a_folder_that_goes_away_does_not_end_the_clock(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = tmp_path / "slurm"
    slurm = SimulatedSlurm(folder)
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
    slurm.start()
    end = time.monotonic() + 30
    while "cannot write its answers" not in caplog.text:
        assert time.monotonic() < end
        time.sleep(0.1)
    slurm.stop()


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ([], ""),
        (["train-2"], "train-2"),
        (["train-1", "train-2", "train-4"], "train-[1-2,4]"),
        (["train-1", "train-3"], "train-[1,3]"),
        (["dev-2", "train-1"], "dev-2,train-1"),
        (["gpu-001", "gpu-002", "gpu-009"], "gpu-[001-002,009]"),
        (["gpu-009"], "gpu-009"),
        (["n9", "n10", "login", "h"], "n9,n10,login,h"),
    ],
)
def test_host_lists_are_written_as_slurm_writes_them(names: list[str], text: str) -> None:
    assert host_list(Host(name, "train", "h100", 8) for name in names) == text


def test_a_partition_is_drained_while_half_of_its_nodes_are_in_maintenance(tmp_path: Path) -> None:
    slurm = SimulatedSlurm(tmp_path, NOW)
    told = set()
    for second in range(CYCLE_S):
        slurm.go_on(NOW + second)
        answer = (
            _run(tmp_path, "scontrol", "--all", "--oneliner", "show", "partition").stdout if second % 20 == 5 else ""
        )
        told |= set(re.findall(r"PartitionName=(\S+) .* Nodes=(\S+) State=(\S+) ", answer))
    train, dev = "train-[1-6]", "dev-[1-2]"
    assert told == {("train", train, "UP"), ("dev", dev, "UP"), ("dev", dev, "DRAIN")}

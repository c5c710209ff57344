"""Owners of processes from trees like /proc, and of a real process."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuscope.attribution.job_facts import JobFacts
from gpuscope.attribution.pod_names import PodNames
from gpuscope.attribution.process_owner import Owner, ProcessOwners, Unknown
from gpuscope.attribution.slurm import JobFiles
from gpuscope.attribution.users import UserNames

_UID = "1b3e1a0c-9d4f-4c1e-8a77-0f4e2f9c1d23"
_ID = "4f797c53" * 8
_TICKS = os.sysconf("SC_CLK_TCK")
_POD = f"0::/kubepods.slice/kubepods-pod{_UID.replace('-', '_')}.slice/cri-containerd-{_ID}.scope\n"


class _Proc:
    """A /proc tree, kubelet's log folders and a passwd file."""

    def __init__(self, root: Path) -> None:
        self.root = root
        (root / "pods" / f"team-a_trainer_{_UID}" / "main").mkdir(parents=True)
        (root / "passwd").write_text("alice:x:1000:1000::/:/\n")
        self.owners = ProcessOwners(
            root / "proc", PodNames(root / "pods", root / "containers"), UserNames(root / "passwd")
        )

    def process(self, pid: int, cgroup: str, *, started: float = 0.0, uid: int = 0, command: str = "python") -> None:
        folder = self.root / "proc" / str(pid)
        folder.mkdir(parents=True)
        (folder / "cgroup").write_text(cgroup, encoding="utf-8")
        fields = ["S"] + ["0"] * 18 + [str(int(started * _TICKS))] + ["0"] * 30
        (folder / "stat").write_text(f"{pid} ({command}) {' '.join(fields)}\n", encoding="utf-8")
        (folder / "status").write_text(f"Name:\t{command}\nUid:\t{uid}\t0\t0\t0\n", encoding="utf-8")


@pytest.fixture
def proc(tmp_path: Path) -> _Proc:
    return _Proc(tmp_path)


def test_a_process_of_a_pod_has_its_names(proc: _Proc) -> None:
    proc.process(7, _POD)
    assert proc.owners.find(7) == Owner(_UID, "team-a", "trainer", "main")


def test_a_pod_without_names_keeps_its_uid(proc: _Proc) -> None:
    proc.process(7, _POD.replace("1b3e1a0c", "00000000"))
    assert proc.owners.find(7) == Owner(_UID.replace("1b3e1a0c", "00000000"))
    assert ProcessOwners(proc.root / "proc").find(7) == Owner(_UID.replace("1b3e1a0c", "00000000"))


def test_a_program_of_the_host_belongs_to_nobody(proc: _Proc) -> None:
    proc.process(7, "0::/system.slice/nvidia-persistenced.service\n")
    assert proc.owners.find(7) == Owner()


def test_the_user_of_a_job_is_that_of_its_process(proc: _Proc) -> None:
    proc.process(7, "0::/system.slice/slurmstepd.scope/job_42/step_0/user/task_0\n", uid=1000)
    proc.process(8, "0::/system.slice/slurmstepd.scope/job_43/step_0/user/task_0\n", uid=4242)
    assert proc.owners.find(7) == Owner(job_id="42", user="alice")
    assert proc.owners.find(8) == Owner(job_id="43", user="4242")


def test_cgroup_v1_tells_the_user_itself(proc: _Proc) -> None:
    proc.process(7, "4:memory:/slurm/uid_1000/job_42/step_0/task_0\n", uid=0)
    assert proc.owners.find(7) == Owner(job_id="42", user="alice")


def test_the_prolog_knows_the_user_best(proc: _Proc) -> None:
    proc.process(7, "0::/system.slice/slurmstepd.scope/job_42/step_0/user/task_0\n", uid=0)
    named = JobFiles({}, {"42": JobFacts(user="carol", uid=1000)})
    numbered = JobFiles({}, {"42": JobFacts(uid=1000)})
    assert proc.owners.find(7, jobs=named) == Owner(job_id="42", user="carol")
    assert proc.owners.find(7, jobs=numbered) == Owner(job_id="42", user="alice")


def test_a_sluid_becomes_the_job_id_where_the_prolog_tells_it(proc: _Proc) -> None:
    proc.process(7, "0::/system.slice/slurmstepd.scope/sEKNKTV3WPV500/step_0/user/task_0\n", uid=1000)
    jobs = JobFiles({}, {"42": JobFacts(sluid="sEKNKTV3WPV500", user="alice")})
    assert proc.owners.find(7, jobs=jobs) == Owner(job_id="42", user="alice")
    assert proc.owners.find(7) == Owner(job_id="sEKNKTV3WPV500", user="alice")


def test_a_job_inside_a_pod_has_both(proc: _Proc) -> None:
    proc.process(7, _POD.strip() + "/system.slice/slurmstepd.scope/job_5/step_0/user/task_0\n", uid=1000)
    assert proc.owners.find(7) == Owner(_UID, "team-a", "trainer", "main", "5", "alice")


def test_a_job_without_a_user_line_has_no_user(proc: _Proc) -> None:
    proc.process(7, "0::/system.slice/slurmstepd.scope/job_42/step_0\n")
    (proc.root / "proc/7/status").write_text("Name:\tpython\n")
    assert proc.owners.find(7) == Owner(job_id="42")


def test_a_process_that_ended_is_gone(proc: _Proc) -> None:
    assert proc.owners.find(7) is Unknown.GONE
    proc.process(8, _POD)
    (proc.root / "proc/8/stat").unlink()
    assert proc.owners.find(8, listed_at=10.0) is Unknown.GONE


def test_a_process_that_ends_under_the_reader_is_gone(proc: _Proc, monkeypatch: pytest.MonkeyPatch) -> None:
    proc.process(7, _POD)

    def ended(path: Path, *_: object) -> None:
        raise ProcessLookupError(3, "No such process")

    monkeypatch.setattr(Path, "open", ended)
    assert proc.owners.find(7) is Unknown.GONE


def test_a_number_that_a_newer_process_has_is_gone(proc: _Proc) -> None:
    proc.process(7, _POD, started=100.0)
    assert proc.owners.find(7, listed_at=99.0) is Unknown.GONE
    assert proc.owners.find(7, listed_at=100.0) == Owner(_UID, "team-a", "trainer", "main")
    assert proc.owners.find(7) == Owner(_UID, "team-a", "trainer", "main")


def test_the_start_time_is_found_behind_any_command(proc: _Proc) -> None:
    proc.process(7, _POD, started=100.0, command="a) S 1 (b 2) 3")
    assert proc.owners.find(7, listed_at=99.0) is Unknown.GONE
    assert isinstance(proc.owners.find(7, listed_at=101.0), Owner)


@pytest.mark.parametrize("stat", ["", "7 (x)", "7 (x) S 0 0", "7 (x) S" + " 0" * 18 + " soon"])
def test_a_stat_that_is_none_makes_the_owner_unreadable(stat: str, proc: _Proc) -> None:
    proc.process(7, _POD)
    (proc.root / "proc/7/stat").write_text(stat)
    assert proc.owners.find(7, listed_at=1.0) is Unknown.UNREADABLE


def test_what_cannot_be_read_is_not_gone(proc: _Proc) -> None:
    (proc.root / "proc/7/cgroup").mkdir(parents=True)
    assert proc.owners.find(7) is Unknown.UNREADABLE


@pytest.fixture
def child() -> Iterator[int]:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, start_new_session=True)
    try:
        yield process.pid
    finally:
        process.kill()
        process.communicate(timeout=60)


def test_a_real_process_is_read(child: int) -> None:
    owners = ProcessOwners()
    now = time.clock_gettime(time.CLOCK_BOOTTIME)
    assert isinstance(owners.find(child), Owner)
    assert isinstance(owners.find(child, listed_at=now), Owner)
    assert owners.find(child, listed_at=now - 3600) is Unknown.GONE


def test_a_living_process_that_proc_hides_is_not_gone(child: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # As with hidepid=2: the path is not there, the process is.
    opening = Path.open

    def hide(path: Path, *mode: str) -> object:
        if path.parent.name == str(child):
            raise FileNotFoundError(2, "No such file or directory")
        return opening(path, *mode)

    monkeypatch.setattr(Path, "open", hide)
    assert ProcessOwners().find(child) is Unknown.UNREADABLE


@pytest.mark.parametrize("error", [PermissionError(1, "Operation not permitted"), None])
def test_a_hidden_process_of_another_user_is_not_gone(error: OSError | None, monkeypatch: pytest.MonkeyPatch) -> None:
    # The kernel's PID_MAX_LIMIT: no process has it.
    owners, pid = ProcessOwners(), 1 << 22
    assert owners.find(pid) is Unknown.GONE

    def refuse(_pid: int, signal: int) -> None:
        assert signal == 0
        if error:
            raise error

    monkeypatch.setattr(os, "kill", refuse)
    assert owners.find(pid) is Unknown.UNREADABLE
    assert owners.find(0) is Unknown.GONE


def test_a_copy_of_proc_hides_nothing(proc: _Proc, child: int) -> None:
    assert proc.owners.find(child) is Unknown.GONE


@given(st.binary(max_size=200), st.binary(max_size=200))
def test_any_tree_has_an_answer(tmp_path_factory: pytest.TempPathFactory, cgroup: bytes, stat: bytes) -> None:
    root = tmp_path_factory.mktemp("proc")
    (root / "7").mkdir()
    (root / "7/cgroup").write_bytes(cgroup)
    (root / "7/stat").write_bytes(stat)
    assert ProcessOwners(root).find(7, listed_at=1.0) in {Owner(), *Unknown}

"""Running programs: what reaches them, and what stops them."""

import json
import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gpuscope.errors import SourceError
from gpuscope.workloads.slurm.command import SlurmCommands


def program(folder: Path, text: str, mode: int = 0o755) -> Path:
    path = folder / "squeue"
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(mode)
    return path


def is_gone(process: int) -> bool:
    stat = Path(f"/proc/{process}/stat")
    for _ in range(100):
        if not stat.exists() or stat.read_text().split()[2] == "Z":
            return True
        time.sleep(0.1)
    return False


def test_arguments_and_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path, 'echo "$#|$1|$2"; env')
    monkeypatch.setenv("SQUEUE_FORMAT", "%i")
    monkeypatch.setenv("SLURM_CONF", "/etc/other.conf")
    monkeypatch.setenv("SLURM_CLUSTERS", "all")
    first, *environment = SlurmCommands(tmp_path).run("squeue", "a b", "$(id)").splitlines()
    assert first == "2|a b|$(id)"
    told = dict(line.partition("=")[::2] for line in environment)
    assert {
        "LC_ALL": "C",
        "TZ": "UTC",
        "SLURM_CONF": "/etc/other.conf",
        "SLURM_BITSTR_LEN": "0",
    }.items() <= told.items()
    assert not {"SQUEUE_FORMAT", "SLURM_CLUSTERS"} & told.keys()


@pytest.mark.parametrize(
    ("complaint", "reason"),
    [
        ("Slurm accounting storage is disabled", "no_accounting"),
        ("slurm_load_jobs error: Unable to contact slurm controller (connect failure)", "unreachable"),
        ("slurm_load_jobs error: Connection reset by peer", "unreachable"),
        ("sacct: error: Problem talking to the database: Connection refused", "unreachable"),
        ("slurm_load_jobs error: Access/permission denied", "permission"),
        ("squeue: unrecognized option '--json'", "error"),
    ],
)
def test_reasons(tmp_path: Path, complaint: str, reason: str) -> None:
    program(tmp_path, f'echo part; echo "{complaint}" >&2; exit 1')
    with pytest.raises(SourceError, match=rf"^{reason}$"):
        SlurmCommands(tmp_path).run("squeue")


def test_a_program_that_hangs_is_killed_with_its_children(tmp_path: Path) -> None:
    program(tmp_path, f"sleep 600 & echo $! > {tmp_path}/child; wait")
    with pytest.raises(SourceError, match=r"^timeout$"):
        SlurmCommands(tmp_path, timeout_s=1.0).run("squeue")
    assert is_gone(int((tmp_path / "child").read_text()))


def test_output_without_end_is_cut_off(tmp_path: Path) -> None:
    program(tmp_path, "yes")
    with pytest.raises(SourceError, match=r"^too_long$"):
        SlurmCommands(tmp_path, max_bytes=100_000).run("squeue")


def test_a_complaint_longer_than_a_pipe_stops_nothing(tmp_path: Path) -> None:
    program(tmp_path, "head -c 300000 /dev/zero >&2; echo done")
    assert SlurmCommands(tmp_path).run("squeue") == "done\n"


def test_no_program_and_one_that_cannot_run(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"^missing$"):
        SlurmCommands(tmp_path).run("squeue")
    program(tmp_path, "true")
    (tmp_path / "squeue").write_text("no program of any kind")
    with pytest.raises(SourceError, match=r"^error$"):
        SlurmCommands(tmp_path).run("squeue")


def test_the_path_is_searched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path, "echo found")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert SlurmCommands().run("squeue") == "found\n"


def test_bytes_that_are_no_text_stay_one_character(tmp_path: Path) -> None:
    program(tmp_path, r"""printf '"caf\351"'""")
    assert json.loads(SlurmCommands(tmp_path).run("squeue")) == "caf\ufffd"


def test_a_command_that_is_stopped_ends_with_its_children(tmp_path: Path) -> None:
    program(tmp_path, f"sleep 600 & echo $! > {tmp_path}/new; mv {tmp_path}/new {tmp_path}/child; wait")
    commands = SlurmCommands(tmp_path)
    with ThreadPoolExecutor(1) as other:
        answer = other.submit(commands.run, "squeue")
        child = tmp_path / "child"
        for _ in range(600):
            if child.exists():
                break
            time.sleep(0.1)
        commands.stop()
        with pytest.raises(SourceError, match=r"^stopped$"):
            answer.result(timeout=60)
    assert is_gone(int(child.read_text()))
    with pytest.raises(SourceError, match=r"^stopped$"):
        commands.run("squeue")

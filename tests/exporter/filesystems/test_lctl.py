"""The program lctl when it does not behave."""

import os
import resource
import signal
from pathlib import Path

import pytest

from gpuscope.errors import SourceError
from gpuscope.filesystems.lustre.lctl import Lctl
from gpuscope.filesystems.lustre.source import LustreSource


def program(path: Path, script: str) -> Path:
    path.write_text(script)
    path.chmod(0o755)
    return path


def test_lctl_that_hangs_is_killed_with_all_that_it_started(tree, tmp_path: Path, value, eventually) -> None:
    tree.mounts("60 27 0:60 / /lustre01 rw - lustre m@tcp:/lustre01 rw\n")
    script = f'#!/bin/sh\nsleep 300 &\necho $! >> "{tmp_path}/children"\nwait\n'
    source = LustreSource(tree.proc, tree.sys, lctl=Lctl(str(program(tmp_path / "x", script)), timeout_s=1.0))
    samples = source.read()
    assert value(samples, "lustre_source_unavailable_info", param="import", source="lctl", reason="timeout") == 1
    eventually(lambda: all(map(ended, (tmp_path / "children").read_text().split())), "the children to end")
    assert len((tmp_path / "children").read_text().split()) == 1, "it is not run again at once"


def ended(process: str) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return True
    return state in "ZX"  # it waits for somebody to take note of its end


def test_what_lctl_left_behind_at_its_pipes_is_killed_too(tmp_path: Path, eventually) -> None:
    script = f'#!/bin/sh\nsleep 300 &\necho $! > "{tmp_path}/child"\n'
    with pytest.raises(SourceError, match="timeout"):
        Lctl(str(program(tmp_path / "x", script)), timeout_s=1.0).get("stats")
    eventually(lambda: ended((tmp_path / "child").read_text().strip()), "the child to end")


@pytest.mark.parametrize("pipe", ["", " >&2"])
def test_lctl_that_prints_without_an_end_is_stopped(tmp_path: Path, pipe: str) -> None:
    script = f'#!/bin/sh\necho $$ > "{tmp_path}/pid"\nexec yes "stats=0123456789012345678901234567890123456789"{pipe}\n'
    lctl = Lctl(str(program(tmp_path / "x", script)), timeout_s=10.0)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(SourceError, match="error"):
        lctl.get("stats")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 40 << 10, "KiB"
    assert ended((tmp_path / "pid").read_text().strip())


def test_lctl_ends_with_its_source(tree, tmp_path: Path, eventually) -> None:
    tree.mounts("60 27 0:60 / /lustre01 rw - lustre m@tcp:/lustre01 rw\n")
    script = f'#!/bin/sh\necho $$ > "{tmp_path}/new"\nmv "{tmp_path}/new" "{tmp_path}/pid"\nexec sleep 300\n'
    source = LustreSource(tree.proc, tree.sys, lctl=Lctl(str(program(tmp_path / "x", script)), timeout_s=240.0))
    source.start()
    eventually((tmp_path / "pid").exists, "lctl to be run")
    source.stop()
    eventually(lambda: ended((tmp_path / "pid").read_text().strip()), "lctl to end")


def test_lctl_that_cannot_be_killed_is_not_run_again_before_it_ended(
    tmp_path: Path, eventually, monkeypatch: pytest.MonkeyPatch
) -> None:
    pids = tmp_path / "pids"
    script = f'#!/bin/sh\necho $$ >> "{pids}"\nexec sleep 300\n'
    lctl = Lctl(str(program(tmp_path / "x", script)), timeout_s=0.5, pause_s=0.0)
    with monkeypatch.context() as kernel:  # as one in an uninterruptible sleep
        kernel.setattr(os, "killpg", lambda *_: None)
        for _ in range(3):
            with pytest.raises(SourceError, match="timeout"):
                lctl.get("stats")
    first = pids.read_text().split()
    assert len(first) == 1
    os.kill(int(first[0]), signal.SIGKILL)
    eventually(lambda: ended(first[0]), "it to end")
    with pytest.raises(SourceError, match="timeout"):
        lctl.get("stats")
    assert len(pids.read_text().split()) == 2


def test_a_program_that_is_none_is_not_called_missing(tmp_path: Path) -> None:
    path = program(tmp_path / "x", "#!/bin/sh\n")
    path.chmod(0o644)
    with pytest.raises(SourceError, match="permission"):
        Lctl(str(path)).get("stats")
    with pytest.raises(SourceError, match="missing"):
        Lctl(str(tmp_path / "y")).get("stats")

"""Settings that cannot work: one line, exit code 2, nothing begun."""

import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest


def refused(command: Callable[..., "subprocess.Popen[bytes]"], tmp_path: Path, *flags: str) -> str:
    process = command("log", *flags)
    assert process.wait(timeout=60) == 2
    text = (tmp_path / "log").read_text()
    assert text.startswith("gpuscope: error: ")
    assert text.count("\n") == 1
    return text


@pytest.mark.parametrize(
    ("flags", "word"),
    [
        ((), "nothing to follow"),
        (("--slurm", "--interval", "0s"), "interval"),
        (("--slurm", "--web.listen-address", "nowhere"), "--web.listen-address"),
        (("--slurm", "--state-file", "/proc/none/state"), "--state-file"),
        (("--slurm", "--xid-catalogue", "/proc/none"), "/proc/none"),
        (("--kubernetes", "--kubernetes.config", "/proc/none"), "/proc/none"),
        (("--slurm", "--kubernetes.lease", "monitoring/gpuscope"), "--kubernetes.lease"),
        (("--slurm", "--nonsense"), "--nonsense"),
        (("--kubernetes", "--kubernetes.namespace", "../red"), "--kubernetes.namespace '../red'"),
        (("--slurm", "--agents", "http://n1", "--agents.user", "joe"), "--agents.user"),
        (("--slurm", "--agents", "https://n1", "--agents.ca-file", "/proc/none"), "--agents.ca-file /proc/none"),
    ],
)
def test_bad_setting_is_told_in_one_line(command, tmp_path: Path, flags: tuple[str, ...], word: str) -> None:
    assert word in refused(command, tmp_path, *flags)


def test_lease_needs_a_namespace(command, tmp_path: Path, kubeconfig: str) -> None:
    flags = ("--kubernetes", "--kubernetes.config", kubeconfig, "--kubernetes.lease", "gpuscope")
    assert "NAMESPACE/NAME" in refused(command, tmp_path, *flags)


def test_state_file_that_is_no_database_is_refused(command, tmp_path: Path) -> None:
    (tmp_path / "state").write_bytes(b"not a database, but long enough to look at\n" * 100)
    assert "--state-file" in refused(command, tmp_path, "--slurm", "--state-file", str(tmp_path / "state"))


def test_port_in_use_is_told(command, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        assert address in refused(command, tmp_path, "--slurm", "--web.listen-address", address)


def test_missing_client_library_is_named_with_the_extra_that_brings_it(tmp_path: Path) -> None:
    """A site without the extra: an import hook hides its libraries from the real program."""
    program = (
        "import sys\n"
        "class Hidden:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.partition('.')[0] in ('lightkube', 'httpx2', 'msgspec'):\n"
        "            raise ModuleNotFoundError(f'No module named {name!r}', name=name)\n"
        "sys.meta_path.insert(0, Hidden())\n"
        "from gpuscope.cli import main\n"
        "sys.exit(main())\n"
    )
    told = subprocess.run(
        [sys.executable, "-c", program, "collector", "--kubernetes"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert told.returncode == 2
    assert "pip install 'gpuscope[collector]'" in told.stderr
    assert told.stderr.count("\n") == 1

"""Settings that cannot work: one line, exit code 2, nothing begun."""

import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gpuscope.cli import main


def run(*arguments: str) -> int:
    """In this process: nothing is begun."""
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    return int(ended.value.code or 0)


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


KUBECONFIG_OF = """
current-context: test
clusters: [{name: test, cluster: {server: %s}}]
users: [{name: test, user: %s}]
contexts: [{name: test, context: {cluster: test, user: test}}]
"""
EXEC = "{exec: {apiVersion: client.authentication.k8s.io/%s, command: /bin/true}}"


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", "word", "3", "a: [", "\x00", "clusters: 3", "clusters: []\ncontexts: []\n",
        "current-context: a\nclusters: [{name: a}]\ncontexts: [{name: a, context: {cluster: a}}]\n",
        "current-context: a\nclusters: x\ncontexts: y\nusers: z\n",
        "current-context: [a]\nclusters: []\ncontexts: []\n",
        KUBECONFIG_OF % ("nonsense", "{token: x}"),
        KUBECONFIG_OF % ("ftp://127.0.0.1", "{token: x}"),
        KUBECONFIG_OF % ("'http://127.0.0.1:99999'", "{token: x}"),
        KUBECONFIG_OF % ("http://127.0.0.1:1", EXEC % "v1"),
        KUBECONFIG_OF % ("http://127.0.0.1:1", "{tokenFile: /proc/none}"),
        KUBECONFIG_OF % ("http://127.0.0.1:1", "{client-certificate: /proc/none, client-key: /proc/none}"),
        KUBECONFIG_OF % ("http://127.0.0.1:1", "{auth-provider: {name: gcp}}"),
        KUBECONFIG_OF % ("https://127.0.0.1:1, certificate-authority: /proc/none", "{token: x}"),
        KUBECONFIG_OF % ("https://127.0.0.1:1, certificate-authority-data: '*'", "{token: x}"),
    ],
)  # fmt: skip
def test_kubeconfig_that_is_of_no_use_is_told_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    file = tmp_path / "config"
    file.write_text(text)
    flags = ["--kubernetes", "--kubernetes.config", str(file), "--web.listen-address", "127.0.0.1:0"]
    assert run("collector", *flags, "--check-config") == 2
    told = capsys.readouterr().err
    assert told.startswith(f"gpuscope: error: --kubernetes.config {file}: ")
    assert told.count("\n") == 1


@pytest.mark.parametrize("text", [EXEC % "v1beta1", "{token: x}", "{}"])
def test_kubeconfig_that_may_work_is_taken(tmp_path: Path, text: str) -> None:
    file = tmp_path / "config"
    file.write_text(KUBECONFIG_OF % ("http://127.0.0.1:1", text))
    assert run("collector", "--kubernetes", "--kubernetes.config", str(file), "--check-config") == 0


@pytest.mark.parametrize(
    ("flags", "word"),
    [
        (("--kubernetes.lease", "monitoring/gpuscope"), "--kubernetes.lease: needs --kubernetes"),
        (("--kubernetes", "--kubernetes.lease", "Foo/../bar"), "--kubernetes.lease 'Foo/../bar'"),
        (("--kubernetes", "--kubernetes.lease", "gpuscope"), "NAMESPACE/NAME"),
        (("--kubernetes", "--kubernetes.team-label", "not a label!!"), "--kubernetes.team-label 'not a label!!'"),
        (("--kubernetes", "--kubernetes.team-label", "a/b/c"), "--kubernetes.team-label"),
        (("--state-file", "/proc/none/state"), "--state-file /proc/none/state"),
        (("--state-file", "/etc/passwd"), "--state-file /etc/passwd"),
        (("--slurm.commands", "/proc/none"), "--slurm.commands /proc/none"),
        (("--slurm.commands", "/etc/passwd"), "--slurm.commands /etc/passwd"),
        (("--slurm.commands", "/etc"), "--slurm.commands /etc: scontrol"),
        (("--agents", ""), "--agents"),
        (("--agents", "http://{node}:9836/metrics"), "--agents 'http://{node}:9836/metrics'"),
    ],
)
def test_what_the_start_refuses_the_check_refuses_too(
    slurm: Callable[[str], Path], kubeconfig: str, capsys: pytest.CaptureFixture[str], flags: tuple[str, ...],
    word: str
) -> None:  # fmt: skip
    common = ["--web.listen-address", "127.0.0.1:0", "--slurm"]
    if "--slurm.commands" not in flags:
        common += ["--slurm.commands", str(slurm("22.05-requeued"))]
    if "--kubernetes" in flags:
        common += ["--kubernetes.config", kubeconfig]
    assert run("collector", *common, *flags, "--check-config") == 2
    told = capsys.readouterr().err
    assert word in told
    assert told.count("\n") == 1


def test_check_leaves_nothing_behind(slurm: Callable[[str], Path], tmp_path: Path) -> None:
    folder = tmp_path / "state"
    folder.mkdir()
    commands = str(slurm("22.05-requeued"))
    flags = [
        "collector",
        "--slurm",
        "--slurm.commands",
        commands,
        "--state-file",
        str(folder / "jobs"),
        "--check-config",
    ]
    assert run(*flags) == 0
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("label", ["team", "example.com/team", "", "a.b-c/D_e.f"])
def test_label_of_a_team_is_a_label_or_none(kubeconfig: str, label: str) -> None:
    flags = ["--kubernetes", "--kubernetes.config", kubeconfig, "--kubernetes.team-label", label]
    assert run("collector", *flags, "--check-config") == 0


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

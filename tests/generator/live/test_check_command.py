"""`gpuscope-generator check` against servers of all kinds."""

import io
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from tests.generator.live.conftest import END, Running
from tests.generator.quiet_server import QuietServer

from gpuscope_generator.cli import main


@dataclass(frozen=True)
class Done:
    returncode: int
    stdout: str
    stderr: str


def run(*arguments: str | Path, **environment: str) -> Done:
    """The command in this process: starting another one takes longer than all of it."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setenv("NO_PROXY", "127.0.0.1")
        for name, value in environment.items():
            patch.setenv(name, value)
        with pytest.raises(SystemExit) as ended:
            main(["check", *map(str, arguments)])
    assert isinstance(ended.value.code, int)
    return Done(ended.value.code, out.getvalue(), err.getvalue())


@pytest.fixture
def serve() -> Iterator[Callable[..., tuple[str, list[str]]]]:
    """Starts a server that gives the same answer to everything; returns its address and what was asked."""
    servers = []

    def start(status: int, text: str, **headers: str) -> tuple[str, list[str]]:
        seen: list[str] = []

        class Handler(BaseHTTPRequestHandler):
            timeout = 10

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                seen.append(self.headers.get("Authorization", "") + self.headers.get("X-Scope-OrgID", ""))
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name.replace("_", "-"), value)
                self.end_headers()
                self.wfile.write(text.encode())

            do_GET = do_POST

            def log_message(self, *arguments: object) -> None:
                pass

        server = QuietServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_port}", seen

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def test_findings_give_1_and_a_report(running: Running) -> None:
    done = run("--prometheus", running.url, "--board", "cluster", "--end", str(END))
    assert done.returncode == 1
    assert done.stderr == ""
    assert "cluster: " in done.stdout
    assert "findings" in done.stdout.splitlines()[-1]


def test_all_may_be_empty_gives_0(running: Running, tmp_path: Path) -> None:
    allowed = tmp_path / "allowed.yaml"
    allowed.write_text("all:\n  cluster/*: Nothing runs.\nslurm: {}\n")
    done = run(
        "--prometheus",
        running.url + "/",
        "--board",
        "cluster",
        "--end",
        "1000000000",
        "--allow-empty",
        allowed,
        "--json",
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["findings"] == 0


@pytest.mark.parametrize(
    ("status", "text", "headers", "message"),
    [
        (401, "no", {}, "401: it wants a token or a password, or does not accept this one"),
        (403, '{"error": "tenant\\nunknown"}', {}, "403: this user may not do that: tenant unknown"),
        (200, "<html>", {"Content_Type": "text/html; charset=utf-8"}, "200 with text/html in place of JSON"),
        (404, "", {}, "404 with no type in place of JSON: not the API of Prometheus"),
        (302, "", {"Location": "https://login.example/x"}, "sends us to https://login.example/x; give that address"),
        (200, '{"status": "success", "data": []}', {}, "an answer of unknown shape"),
        (200, '{"status": "success", "data": {"resultType": "vector", "result": []}}', {}, "no answer to vector(1)"),
        (503, '{"status": "error", "error": "starting"}', {}, "starting"),
        (500, "[]", {}, "status 500"),
        (200, "[" * 100_000, {"Content_Type": "application/json"}, "200 with broken JSON: not the API of Prometheus"),
        (403, "[" * 100_000, {}, "403: this user may not do that"),
    ],
)
def test_a_server_of_no_use_is_one_line_and_2(
    serve: Callable[..., tuple[str, list[str]]], status: int, text: str, headers: dict[str, str], message: str
) -> None:
    url, _ = serve(status, text, **headers)
    done = run("--prometheus", url)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith(f"gpuscope-generator: error: Prometheus at {url}: ")
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_secrets_come_from_files_or_the_environment(
    serve: Callable[..., tuple[str, list[str]]], tmp_path: Path
) -> None:
    url, seen = serve(401, "")
    secret = tmp_path / "secret"
    secret.write_text("top\n")
    run("--prometheus", url, "--token-file", secret, "--header", "X-Scope-OrgID=gpu")
    run("--prometheus", url, GPUSCOPE_PROMETHEUS_TOKEN="env")
    run("--prometheus", url, "--user", "me", "--password-file", secret)
    run("--prometheus", url, "--user", "me", GPUSCOPE_PROMETHEUS_PASSWORD="ü")
    assert seen == ["Bearer topgpu", "Bearer env", "Basic bWU6dG9w", "Basic bWU6w7w="]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Missing option '--prometheus'"),
        (["--prometheus", "127.0.0.1:9090"], "--prometheus 127.0.0.1:9090: not a URL such as"),
        (["--prometheus", "http://me:secret@127.0.0.1"], "--prometheus: no name and password in the URL"),
        (["--prometheus", "http://127.0.0.1:1"], "Prometheus at http://127.0.0.1:1: Connection refused"),
        (["--prometheus", "http://[::1"], "--prometheus http://[::1: Invalid IPv6 URL"),
        (["--prometheus", "http://127.0.0.1:99999"], "--prometheus http://127.0.0.1:99999: Port out of range"),
        (["--prometheus", "http://127.0.0.1:1", "--timeout", "nan"], "'--timeout': nan is not a finite number"),
        (["--prometheus", "http://127.0.0.1:1", "--timeout", "inf"], "'--timeout': inf is not in the range"),
        (["--prometheus", "http://127.0.0.1:1", "--end", "nan"], "'--end': nan is not a finite number"),
        (["--prometheus", "http://127.0.0.1:1", "--token-file", "cyrillic"], "cyrillic: has characters that cannot"),
        (["--prometheus", "http://127.0.0.1:1", "--header", "a=\nb"], "--header 'a=\\nb': has characters that cannot"),
        (["--prometheus", "http://127.0.0.1:1", "--header", "a b=c"], "--header 'a b=c': has characters that cannot"),
        (["--prometheus", "http://127.0.0.1:1", "--range", "1x"], "'1x' is not a duration"),
        (["--prometheus", "http://127.0.0.1:1", "--step", "0s"], "'0s' is no time"),
        (["--prometheus", "http://127.0.0.1:1", "--user", "me"], "--user: needs --password-file or GPUSCOPE"),
        (["--prometheus", "http://127.0.0.1:1", "--password-file", "empty"], "--password-file empty: is empty"),
        (["--prometheus", "http://127.0.0.1:1", "--password-file", "one"], "--password-file: needs --user"),
        (["--prometheus", "http://127.0.0.1:1", "--token-file", "one", "--user", "me"], "either a token or a user"),
        (["--prometheus", "http://127.0.0.1:1", "--token-file", "none"], "--token-file none: No such file"),
        (["--prometheus", "http://127.0.0.1:1", "--token-file", "two"], "--token-file two: has several lines"),
        (["--prometheus", "http://127.0.0.1:1", "--token-file", "binary"], "--token-file binary: not text"),
        (["--prometheus", "http://127.0.0.1:1", "--ca-file", "none"], "--ca-file none: No such file"),
        (["--prometheus", "http://127.0.0.1:1", "--header", "x"], "--header x: must be NAME=VALUE"),
        (["--prometheus", "http://127.0.0.1:1", "--profile", "slurm"], "--profile needs --allow-empty"),
        (["--prometheus", "http://127.0.0.1:1", "--allow-empty", "none"], "--allow-empty none: No such file"),
        (["--prometheus", "http://127.0.0.1:1", "--board", "none"], "'none' is not one of"),
    ],
)
def test_mistake_is_one_line_that_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in {
        "empty": b"\n",
        "one": b"x",
        "two": b"x\ny",
        "binary": b"\xff",
        "cyrillic": "ж".encode(),
    }.items():
        (tmp_path / name).write_bytes(text)
    done = run(*arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_token_of_several_lines_in_the_environment_is_named() -> None:
    done = run("--prometheus", "http://127.0.0.1:1", GPUSCOPE_PROMETHEUS_TOKEN="a\nb")
    assert (done.returncode, done.stderr) == (
        2,
        "gpuscope-generator: error: GPUSCOPE_PROMETHEUS_TOKEN: has several lines, or characters that cannot be sent\n",
    )


@pytest.mark.parametrize(
    ("text", "profile", "message"),
    [
        ("all:\n  cluster/nothing: x\n", "all", ":2: all.cluster/nothing: no such panel"),
        ("all:\n  cluster/powr: x\n", "all", "did you mean cluster/power?"),
        ("all:\n  cluster/power:\n", "all", ":2: all.cluster/power: must be a text, not nothing"),
        ("all:\n  cluster/power: ' '\n", "all", ":2: all.cluster/power: wants a reason"),
        ("all: x\n", "all", ":1: all: must be a mapping, not 'x'"),
        (
            "all:\n  cluster/power: x\n  cluster/power: y\n",
            "all",
            ":3: all.cluster/power: given twice, first in line 2",
        ),
        ("a: {}\n", "b", "--profile b: not in"),
        ("a: [\n", "a", ":2: not valid YAML"),
    ],
)
def test_mistake_in_the_list_names_its_line(tmp_path: Path, text: str, profile: str, message: str) -> None:
    file = tmp_path / "allowed.yaml"
    file.write_text(text)
    done = run("--prometheus", "http://127.0.0.1:1", "--allow-empty", file, "--profile", profile)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1

"""Agents that want a password or a certificate, and whose own certificate is of a site's authority."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import bcrypt
import pytest
from tests.exporter.api.conftest import Authority

from gpuscope.errors import ConfigError
from gpuscope.workloads.agent_access import AgentAccess, Credentials
from gpuscope.workloads.agents import AgentFaults
from gpuscope.workloads.node_faults import NodeFaults

NOW = time.time()


@dataclass
class Guarded:
    """A real agent that lets in joe with his password, over TLS, and with a certificate of its authority."""

    authority: Authority
    port: int
    log: Path

    @property
    def url(self) -> str:
        return f"https://localhost:{self.port}"


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    folder = tmp_path_factory.mktemp("agent")
    authority = Authority(folder, "site")
    cert, key = authority.issue("server", "localhost", "node-a")
    hashed = bcrypt.hashpw(b"sesame", bcrypt.gensalt(4)).decode()
    (folder / "web.yaml").write_text(
        f"tls_server_config: {{cert_file: {cert}, key_file: {key}, client_ca_file: {authority.file},"
        f" client_auth_type: RequireAndVerifyClientCert}}\nbasic_auth_users: {{joe: '{hashed}'}}\n"
    )
    log = folder / "log"
    words = ["agent", "--simulate", "l40s", "--web.listen-address", "127.0.0.1:0"]
    with log.open("wb") as stderr:
        process = subprocess.Popen(
            [sys.executable, "-m", "gpuscope", *words, "--web.config.file", str(folder / "web.yaml")],
            stdout=stderr, stderr=stderr, env={**os.environ, "GPUSCOPE_NODE_NAME": "node-a"},
        )  # fmt: skip
    try:
        end = time.monotonic() + 60
        while "listening on " not in log.read_text():
            assert time.monotonic() < end, log.read_text()
            assert process.poll() is None, log.read_text()
            time.sleep(0.05)
        port = log.read_text().partition("listening on https://127.0.0.1:")[2].partition('"')[0]
        yield Guarded(authority, int(port), log)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


@pytest.fixture
def credentials(guarded: Guarded, tmp_path: Path) -> Credentials:
    """Those that are let in."""
    (tmp_path / "password").write_text("sesame\n")
    cert, key = guarded.authority.issue("collector")
    return Credentials("joe", tmp_path / "password", guarded.authority.file, cert, key)


@pytest.fixture
def ask() -> Iterator[Callable[..., AgentFaults]]:
    made: list[AgentFaults] = []

    def once(url: str, access: AgentAccess, *nodes: str) -> AgentFaults:
        made.append(AgentFaults([url], NodeFaults(), access))
        made[-1].round(nodes)
        return made[-1]

    yield once
    for one in made:
        one.stop()


def until_answers(one: AgentFaults) -> AgentFaults:
    """A simulated agent knows its GPUs a moment after it listens."""
    end = time.monotonic() + 60
    while not one.memory.watched(["node-a"], NOW - 1):
        assert time.monotonic() < end, dict(one.failures)
        time.sleep(0.1)
        one.round(["localhost"])
    return one


def test_agent_with_password_tls_and_client_certificate_is_read(guarded: Guarded, credentials, ask) -> None:
    for url in (guarded.url, f"https://{{node}}:{guarded.port}"):
        one = until_answers(ask(url, AgentAccess(credentials), "localhost"))
        assert (one.answering, one.failed) == (1, 0)


def without(credentials: Credentials, **changes: object) -> Credentials:
    fields = {name: getattr(credentials, name) for name in Credentials.__slots__} | changes
    return Credentials(**fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"user": "", "password_file": None}, "unauthorized"),
        ({"user": "eve"}, "unauthorized"),
        ({"ca_file": None}, "tls"),
        ({"cert_file": None, "key_file": None}, "tls"),
    ],
)
def test_who_is_not_let_in_is_told_apart(guarded: Guarded, credentials, ask, changes, reason, caplog) -> None:
    one = ask(guarded.url, AgentAccess(without(credentials, **changes)))
    assert (one.answering, dict(one.failures)) == (0, {reason: 1})
    assert caplog.text.count(f"cannot be used: {reason}") == 1


def test_certificate_of_another_host_is_refused(guarded: Guarded, credentials, ask) -> None:
    one = ask(f"https://127.0.0.1:{guarded.port}", AgentAccess(credentials))
    assert dict(one.failures) == {"tls": 1}


def test_password_and_certificates_that_change_are_read_again(guarded, credentials, ask, tmp_path, caplog) -> None:
    password = credentials.password_file
    password.write_text("old")
    one = ask(guarded.url, AgentAccess(credentials))
    assert dict(one.failures) == {"unauthorized": 1}
    (tmp_path / "new").write_text("sesame")
    (tmp_path / "new").replace(password)
    until_answers(one)
    # A file that is being written, or was taken away by mistake, costs nothing yet.
    password.unlink()
    for _ in range(2):
        one.round(())
    assert one.answering == 1
    assert caplog.text.count("--agents.password-file") == 1
    password.write_text("wrong")
    one.round(())
    assert one.answering == 0


@pytest.mark.parametrize(
    ("fields", "urls", "words"),
    [
        ({"user": "joe"}, ("http://n",), "--agents.user: needs --agents.password-file"),
        ({"password_file": Path("p")}, ("http://n",), "--agents.password-file: needs --agents.user"),
        ({"user": "j:oe", "password_file": Path("p")}, ("http://n",), "cannot contain ':'"),
        ({"cert_file": Path("c")}, ("https://n",), "--agents.cert-file: needs --agents.key-file"),
        ({"key_file": Path("k")}, ("https://n",), "--agents.key-file: needs --agents.cert-file"),
        ({"ca_file": Path("c")}, ("http://n",), "--agents.ca-file: no URL of --agents begins with https"),
        ({"ca_file": Path("c")}, (), "--agents.ca-file: needs --agents"),
    ],
)
def test_settings_that_do_not_belong_together_are_refused(fields, urls, words) -> None:
    with pytest.raises(ConfigError, match=words):
        Credentials(**fields).check(urls)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("password_file", None, "--agents.password-file .*No such file"),
        ("password_file", b"\n", "--agents.password-file .*is empty"),
        ("password_file", b"\xff", "--agents.password-file .*no UTF-8"),
        ("ca_file", None, "--agents.ca-file .*No such file"),
        ("ca_file", b"no certificate", "--agents.ca-file .*no certificate or key"),
        ("cert_file", b"no certificate", "--agents.cert-file .*no certificate or key"),
    ],
)
def test_file_that_cannot_be_used_is_named(credentials, tmp_path: Path, name: str, content, words: str) -> None:
    bad = tmp_path / "bad"
    if content is not None:
        bad.write_bytes(content)
    with pytest.raises(ConfigError, match=words):
        AgentAccess(without(credentials, **{name: bad}))


def test_key_with_a_password_is_refused_and_asks_nobody(guarded: Guarded, credentials) -> None:
    cert, key = guarded.authority.issue("locked", password=b"secret")
    with pytest.raises(ConfigError, match=r"--agents\.key-file"):
        AgentAccess(without(credentials, cert_file=cert, key_file=key))

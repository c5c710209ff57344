"""`gpuscope-generator push`: what Grafana has afterwards, and what it is told when it refuses."""

import datetime
import ipaddress
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from tests.generator.push.grafana_server import TOKEN, GrafanaServer, grafana

from gpuscope_generator.cli import main
from gpuscope_generator.output import dashboard_files
from gpuscope_generator.settings import Settings

UIDS = [json.loads(text)["uid"] for text in dashboard_files(Settings()).values()]
CLUSTER = "gpuscope-cluster"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[GrafanaServer]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("GPUSCOPE_GRAFANA_TOKEN", TOKEN)
    with grafana() as found:
        yield found


class Pusher:
    """Runs the command and keeps what it said."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys
        self.out = self.err = ""

    def __call__(self, url: str, *arguments: str | Path) -> int:
        with pytest.raises(SystemExit) as ended:
            main(["push", "--grafana", url, *map(str, arguments)])
        self.out, self.err = self._capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return ended.value.code


@pytest.fixture
def push(capsys: pytest.CaptureFixture[str]) -> Pusher:
    return Pusher(capsys)


def test_boards_arrive_in_their_folder_as_they_are(server: GrafanaServer, push: Pusher) -> None:
    assert push(server.url + "/") == 0, push.err
    assert server.folders == {"gpuscope": "gpuscope"}
    assert list(server.boards) == UIDS
    for text in dashboard_files(Settings()).values():
        board = json.loads(text)
        del board["version"]
        assert server.boards[board["uid"]]["dashboard"] == board
        assert server.boards[board["uid"]]["folderUid"] == "gpuscope"
    assert push.out.splitlines()[:3] == [
        "Grafana 11.2.0",
        "folder gpuscope created",
        f"{UIDS[0]} created: version 1, /d/{UIDS[0]}/x",
    ]


@pytest.mark.parametrize("migrates", [False, True])
def test_a_second_push_writes_nothing(server: GrafanaServer, push: Pusher, migrates: bool) -> None:
    push(server.url)
    server.requests.clear()
    server.migrates = migrates
    assert push(server.url) == 0
    assert server.writes == []
    assert push.out.splitlines()[1:] == [f"{uid} unchanged: version 1" for uid in UIDS]


def test_only_what_differs_is_pushed(server: GrafanaServer, push: Pusher) -> None:
    push(server.url)
    server.boards[CLUSTER]["dashboard"]["title"] = "Mine"
    server.boards[CLUSTER]["message"] = "by hand"
    server.boards[CLUSTER]["version"] = 7
    server.requests.clear()
    assert push(server.url) == 0
    assert server.writes == ["POST /api/dashboards/db"]
    assert f"{CLUSTER} updated: version 8" in push.out
    assert server.boards[CLUSTER]["dashboard"]["title"] != "Mine"


def test_a_board_elsewhere_is_moved(server: GrafanaServer, push: Pusher) -> None:
    push(server.url, "--folder-uid", "")
    assert server.folders == {}
    assert push(server.url, "--folder", "GPU", "--folder-uid", "gpu") == 0
    assert {board["folderUid"] for board in server.boards.values()} == {"gpu"}
    assert server.folders == {"gpu": "GPU"}
    assert f"{CLUSTER} updated" in push.out


def test_dry_run_writes_nothing_and_says_what_it_would(server: GrafanaServer, push: Pusher) -> None:
    assert push(server.url, "--dry-run") == 0
    assert server.writes == []
    assert "folder gpuscope would be created" in push.out
    assert f"{CLUSTER} would be created" in push.out
    push(server.url)
    server.boards[CLUSTER]["dashboard"]["title"] = "Mine"
    server.boards[CLUSTER]["message"] = "by hand"
    push(server.url, "--dry-run")
    assert f"{CLUSTER} would be updated" in push.out


def test_who_saves_at_the_same_time_is_not_overwritten_unless_asked(server: GrafanaServer, push: Pusher) -> None:
    refusal = json.dumps({"message": "The dashboard has been changed by someone else", "status": "version-mismatch"})
    server.faults["POST /api/dashboards/db"] = (412, refusal, {})
    assert push(server.url) == 1
    assert f"{CLUSTER} failed: 412: The dashboard has been changed by someone else; push again, or with" in push.out
    del server.faults["POST /api/dashboards/db"]
    server.boards["other"] = {"dashboard": {"title": "GPU Cluster"}, "folderUid": "gpuscope", "version": 1}
    assert push(server.url) == 1
    assert f"{CLUSTER} failed: 412: a dashboard with the same name exists" in push.out
    assert push(server.url, "--overwrite") == 0


def test_a_provisioned_board_is_left_alone(server: GrafanaServer, push: Pusher) -> None:
    push(server.url)
    server.boards[CLUSTER]["dashboard"]["title"] = "Mine"
    server.boards[CLUSTER]["message"] = ""
    server.provisioned.add(CLUSTER)
    server.requests.clear()
    assert push(server.url) == 1
    assert server.writes == []
    assert f"{CLUSTER} failed: it is provisioned from a file" in push.out


@pytest.mark.parametrize(
    ("call", "status", "text", "code", "message"),
    [
        ("GET /api/health", 404, "<html>", 2, "404 with text/html in place of JSON: not the API of Grafana"),
        ("GET /api/health", 200, "{}", 2, "/api/health answers 200, and not as Grafana does"),
        ("GET /api/health", 200, "[" * 100_000, 2, "200 with broken JSON: not the API of Grafana"),
        ("GET /api/health", 302, "", 2, "sends us to https://login.example/; give that address"),
        ("GET /api/folders/gpuscope", 500, '{"message": "database\\nis locked"}', 2, "500: database is locked"),
        ("POST /api/folders", 412, '{"message": "changed"}', 2, "folder gpuscope: 412: changed"),
        ("POST /api/folders", 502, "<html>", 2, "502 with text/html in place of JSON"),
        (f"GET /api/dashboards/uid/{CLUSTER}", 500, "{}", 1, f"{CLUSTER} failed: status 500"),
        ("POST /api/dashboards/db", 400, '{"message": "bad"}', 1, f"{CLUSTER} failed: 400: bad"),
        ("POST /api/dashboards/db", 503, "[]", 1, f"{CLUSTER} failed: status 503"),
        ("POST /api/dashboards/db", 307, "", 2, "sends us to https://login.example/"),
    ],
)
def test_refusals_are_told_in_one_line(
    server: GrafanaServer, push: Pusher, call: str, status: int, text: str, code: int, message: str
) -> None:
    kind = "text/html" if text.startswith("<") else "application/json"
    server.faults[call] = (status, text, {"Content-Type": kind, "Location": "https://login.example/"})
    assert push(server.url) == code
    assert message in (push.err if code == 2 else push.out)
    assert len(push.err.splitlines()) == (1 if code == 2 else 0)


def test_who_may_not_is_told_so(server: GrafanaServer, push: Pusher, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUSCOPE_GRAFANA_TOKEN", "wrong")
    assert push(server.url) == 2
    assert "401: it wants a token or a password, or does not accept this one" in push.err
    monkeypatch.setenv("GPUSCOPE_GRAFANA_TOKEN", "viewer")
    assert push(server.url) == 2
    assert "403: this user may not do that: You'll need additional permissions" in push.err
    assert TOKEN not in push.err
    assert server.boards == {}


def test_tokens_and_passwords_from_files(
    server: GrafanaServer, push: Pusher, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("GPUSCOPE_GRAFANA_TOKEN")
    (tmp_path / "token").write_text(f"{TOKEN}\n")
    (tmp_path / "password").write_text("secret")
    assert push(server.url, "--token-file", tmp_path / "token") == 0
    assert push(server.url, "--user", "admin", "--password-file", tmp_path / "password") == 0
    assert push(server.url) == 2


def test_a_database_that_is_down_is_told(server: GrafanaServer, push: Pusher) -> None:
    server.database = "failing"
    assert push(server.url) == 2
    assert "its database: failing" in push.err


def test_no_answer_is_told(server: GrafanaServer, push: Pusher) -> None:
    server.delay_s = 1.0
    assert push(server.url, "--timeout", "0.1") == 2
    assert "no answer within 0.1 s" in push.err
    assert push("http://127.0.0.1:1") == 2
    assert "Grafana at http://127.0.0.1:1: Connection refused" in push.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(("--folder-uid", "a b"), "--folder-uid"), (("--settings", "none.yaml"), "--settings none.yaml: No such file")],
)
def test_mistakes_are_told_before_grafana_is_asked(
    server: GrafanaServer, push: Pusher, arguments: tuple[str, ...], message: str
) -> None:
    assert push(server.url, *arguments) == 2
    assert message in push.err
    assert server.requests == []


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate of 127.0.0.1 that vouches for itself, and its key."""
    folder = tmp_path_factory.mktemp("tls")
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "grafana")])
    today = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(today - datetime.timedelta(days=1))
        .not_valid_after(today + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    (folder / "grafana.crt").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    plain = serialization.NoEncryption()
    form = serialization.PrivateFormat.PKCS8
    (folder / "grafana.key").write_bytes(key.private_bytes(serialization.Encoding.PEM, form, plain))
    return folder / "grafana.crt", folder / "grafana.key"


def test_only_a_certificate_of_the_authority_is_believed(
    push: Pusher, certificate: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GPUSCOPE_GRAFANA_TOKEN", TOKEN)
    with grafana(certificate) as server:
        assert push(server.url) == 2
        assert "TLS: " in push.err
        assert "self-signed certificate" in push.err or "self signed certificate" in push.err
        assert push(server.url, "--ca-file", certificate[0]) == 0
        assert CLUSTER in server.boards
        (tmp_path / "none.pem").write_text("no certificate")
        assert push(server.url, "--ca-file", tmp_path / "none.pem") == 2
        assert len(push.err.splitlines()) == 1

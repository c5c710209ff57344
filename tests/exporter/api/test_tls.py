"""TLS on the wire."""

import contextlib
import socket
import ssl
import struct
import subprocess
from dataclasses import replace

import pytest
import requests

from gpuscope.errors import ConfigError


@pytest.fixture
def tls_client(serve, tmp_path, authority):
    """Starts a server with TLS and further lines of configuration; the client trusts the authority."""
    authority.issue("node", "127.0.0.1")

    def start(*lines):
        file = tmp_path / "web.yml"
        file.write_text("\n".join(["tls_server_config:", "  cert_file: node.crt", "  key_file: node.key", *lines]))
        client = serve(web_config_file=file)
        client.session.verify = str(authority.file)
        return client

    return start


def serial(client, authority):
    """Serial number of the certificate that the server shows on a new connection."""
    context = ssl.create_default_context(cafile=str(authority.file))
    with client.connect() as plain, context.wrap_socket(plain, server_hostname="127.0.0.1") as wrapped:
        return wrapped.getpeercert()["serialNumber"]


def test_https_answers_and_http_does_not(tls_client):
    client = tls_client()
    assert client.server.scheme == "https"
    assert client.get("/metrics").status_code == 200
    with pytest.raises(requests.ConnectionError):
        client.session.get(client.url.replace("https", "http") + "/metrics", timeout=30)
    assert client.get("/metrics").status_code == 200


def test_verified_client_certificates_only(tls_client, authority, tmp_path):
    client = tls_client("  client_auth_type: RequireAndVerifyClientCert", "  client_ca_file: authority.pem")
    with pytest.raises(requests.ConnectionError):
        client.get("/metrics")
    stranger_folder = tmp_path / "strangers"
    stranger_folder.mkdir()
    stranger = type(authority)(stranger_folder, "stranger").issue("eve")
    with pytest.raises(requests.ConnectionError):
        client.get("/metrics", cert=tuple(map(str, stranger)))
    assert client.get("/metrics", cert=tuple(map(str, authority.issue("scraper")))).status_code == 200


def test_a_certificate_that_is_given_is_verified(tls_client, authority, tmp_path):
    client = tls_client("  client_auth_type: VerifyClientCertIfGiven", "  client_ca_file: authority.pem")
    assert client.get("/metrics").status_code == 200
    stranger_folder = tmp_path / "strangers"
    stranger_folder.mkdir()
    stranger = type(authority)(stranger_folder, "stranger").issue("eve")
    client.session.close()
    with pytest.raises(requests.ConnectionError):
        client.get("/metrics", cert=tuple(map(str, stranger)))


@pytest.mark.parametrize(
    "name", ["prometheus.example", "10.1.2.3", "fd00::17", "ops@example.org", "spiffe://cluster/ns/monitoring"]
)
def test_allowed_names_in_client_certificates(tls_client, authority, name):
    client = tls_client(
        "  client_auth_type: RequireAndVerifyClientCert",
        "  client_ca_file: authority.pem",
        f"  client_allowed_sans: ['{name}']",
    )
    right = authority.issue("right", "other.example", name)
    assert client.get("/metrics", cert=tuple(map(str, right))).status_code == 200
    client.session.close()
    for wrong in (authority.issue("wrong", "other.example"), authority.issue("nameless")):
        with pytest.raises(requests.ConnectionError):
            client.get("/metrics", cert=tuple(map(str, wrong)))


def test_versions_are_held(tls_client, authority):
    client = tls_client("  min_version: TLS13")
    old = ssl.create_default_context(cafile=str(authority.file))
    old.maximum_version = ssl.TLSVersion.TLSv1_2
    with client.connect() as plain, pytest.raises(ssl.SSLError):
        old.wrap_socket(plain, server_hostname="127.0.0.1")
    assert client.get("/metrics").status_code == 200


def test_suites_and_curve_are_held(tls_client, authority):
    client = tls_client(
        "  max_version: TLS12",
        "  cipher_suites: [TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256]",
        "  curve_preferences: [CurveP384]",
    )
    context = ssl.create_default_context(cafile=str(authority.file))
    with client.connect() as plain, context.wrap_socket(plain, server_hostname="127.0.0.1") as wrapped:
        assert wrapped.cipher()[:2] == ("ECDHE-ECDSA-CHACHA20-POLY1305", "TLSv1.2")
    host, port = client.address
    shown = subprocess.run(
        ["openssl", "s_client", "-connect", f"{host}:{port}"], input="", capture_output=True, text=True, timeout=60
    )
    assert "Server Temp Key: ECDH, secp384r1, 384 bits" in shown.stdout


def test_a_renewed_certificate_is_shown_without_a_restart(tls_client, authority, wait_for):
    client = tls_client()
    before = serial(client, authority)
    authority.issue("node", "127.0.0.1")
    wait_for(lambda: serial(client, authority) != before, "the new certificate")


def test_a_broken_renewal_leaves_the_old_certificate_in_force(tls_client, authority, tmp_path, wait_for, caplog):
    client = tls_client()
    before = serial(client, authority)
    good = (tmp_path / "node.crt").read_bytes()
    (tmp_path / "node.crt").write_text("half a certif")

    def complained():
        assert serial(client, authority) == before
        return "the old ones stay" in caplog.text

    wait_for(complained, "the complaint")
    assert caplog.text.count("the old ones stay") == 1
    (tmp_path / "node.crt").write_bytes(good)
    assert serial(client, authority) == before


def test_a_deleted_certificate_leaves_the_old_one_in_force(tls_client, authority, tmp_path, wait_for, caplog):
    client = tls_client()
    before = serial(client, authority)
    (tmp_path / "node.key").unlink()
    wait_for(lambda: serial(client, authority) == before and "cannot be read" in caplog.text, "the complaint")


def test_reload_switches_tls_on_and_off_without_dropping_the_listener(tls_client, source, tmp_path):
    client = tls_client()
    address = client.server.addresses
    (tmp_path / "web.yml").write_text("")
    client.server.reload()
    assert client.server.scheme == "http"
    assert client.get("/metrics").status_code == 200
    assert client.server.addresses == address


def test_a_bad_reload_changes_nothing(tls_client, authority, tmp_path):
    client = tls_client()
    before = serial(client, authority)
    (tmp_path / "web.yml").write_text("tls_server_config: {cert_file: gone.crt, key_file: gone.key}")
    with pytest.raises(ConfigError, match=r"web\.yml:1: tls_server_config\.cert_file: .* cannot be read"):
        client.server.reload()
    assert serial(client, authority) == before


def test_clients_that_never_shake_hands_are_dropped(serve, tls_client, authority, tmp_path):
    tls_client()
    client = serve(web_config_file=tmp_path / "web.yml", header_timeout_s=0.5)
    with client.connect() as silent:
        assert silent.recv(1) == b""


def test_garbage_instead_of_a_handshake(tls_client):
    client = tls_client()
    with client.connect() as garbage:
        garbage.sendall(b"\x00" * 5000)
        with contextlib.suppress(ConnectionError):
            while garbage.recv(4096):
                pass
    assert client.get("/metrics").status_code == 200


def test_a_port_scan_leaves_no_trace_in_the_log(tls_client, caplog):
    client = tls_client()
    for number in range(40):
        scan = client.connect()
        scan.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        if number % 2:
            scan.sendall(b"\x16\x03\x01garbage")
        scan.close()
    assert client.get("/metrics").status_code == 200
    assert not [record for record in caplog.records if record.levelname in {"WARNING", "ERROR"}]


def test_tls_answers_are_whole(tls_client, build):
    client = tls_client()
    gpus = [build.healthy_gpu(index, ("1g.10gb",) * 7) for index in range(8)]
    client.source.now = replace(build.snapshot_of(*gpus))
    answer = client.get("/metrics", headers={"Accept-Encoding": "identity"})
    assert answer.content == client.source.now.exposition.body()


def test_no_session_survives_the_end_of_the_server(tls_client):
    client = tls_client()
    client.get("/metrics")
    client.server.stop()
    with pytest.raises(OSError), socket.create_connection(client.address, timeout=5):
        pass

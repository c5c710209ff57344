import base64
import datetime
import ipaddress
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from tests.exporter.workloads.kubernetes.api_server import ApiServer
from tests.exporter.workloads.kubernetes.conftest import FAST, START, Cluster, workload

from gpuscope.errors import ConfigError
from gpuscope.workloads.kubernetes import ApiFailure, KubernetesSource, Session

KUBECONFIG = """
current-context: test
clusters: [{name: test, cluster: {server: "%s", certificate-authority-data: %s}}]
users: [{name: test, user: {tokenFile: "%s"}}]
contexts: [{name: test, context: {cluster: test, user: test}}]
"""


class Secured(Cluster):
    """A cluster behind TLS, that wants the token in a file."""

    def __init__(self, folder: Path) -> None:
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "kube-apiserver")])
        today = datetime.datetime.now(datetime.UTC)
        certificate = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(name)
            .public_key(key.public_key())
            .serial_number(1)
            .not_valid_before(today - datetime.timedelta(days=1))
            .not_valid_after(today + datetime.timedelta(days=1))
            .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
            .sign(key, hashes.SHA256())
        )
        self.authority = certificate.public_bytes(serialization.Encoding.PEM)
        (folder / "cert").write_bytes(self.authority)
        private = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        (folder / "key").write_bytes(key.private_bytes(serialization.Encoding.PEM, *private))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(folder / "cert", folder / "key")
        super().__init__(ApiServer(context), folder)
        self.server.install("Job", "batch/v1", "jobs")
        self.token, self.config = folder / "token", folder / "config"
        self.token.write_text("first")
        self.server.token = "first"
        self.trust(self.authority)

    def trust(self, authority: bytes) -> None:
        data = base64.b64encode(authority).decode()
        self.config.write_text(KUBECONFIG % (self.server.url, data, self.token))


@pytest.fixture
def secured(tmp_path: Path) -> Iterator[Secured]:
    made = Secured(tmp_path)
    yield made
    made.stop()
    made.server.away()


def test_token_that_was_renewed_is_read_again(secured: Secured) -> None:
    secured.server.put(workload("Job"))
    secured.source = KubernetesSource(Session(str(secured.config)), pace=FAST, clock=lambda: START)
    secured._sources.append(secured.source)
    secured.source.start()
    secured.job()
    secured.token.write_text("second\n")
    secured.server.token = "second"
    secured.server.cut()
    secured.server.put(workload("Job", metadata={"name": "new", "uid": "new"}))
    secured.see(lambda seen: len(seen.jobs) == 2 and seen.complete)


def test_server_that_nobody_vouches_for_is_not_talked_to(secured: Secured, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = Secured(tmp_path / "other")
    secured.trust(other.authority)
    session = Session(str(secured.config))
    with pytest.raises(ApiFailure, match="CERTIFICATE_VERIFY_FAILED") as failure:
        session.groups()
    assert failure.value.reason == "unreachable"
    session.close()
    other.server.away()


def test_without_a_cluster_and_a_kubeconfig_there_is_no_way_to_it(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    with pytest.raises(ConfigError, match="no way to the API"):
        Session()


@pytest.mark.parametrize("answer", [b"<html>Gateway</html>", b'{"items": []}', b'\xff{"', b'{"type": "ADDED"}\n'])
def test_answers_that_are_none_of_kubernetes_cost_their_kind_for_a_while(cluster: Cluster, answer: bytes) -> None:
    cluster.server.put(workload("Job"))
    cluster.watch()
    cluster.see(lambda seen: seen.complete)
    cluster.server.garbage["jobs"] = answer
    cluster.server.cut()
    seen = cluster.see(lambda _: cluster.problems.get("malformed:jobs", 0) >= 2)
    assert (len(seen.jobs), seen.complete) == (1, False)
    cluster.server.garbage.clear()
    cluster.see(lambda seen: seen.complete)

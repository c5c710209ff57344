"""The web configuration file: what is right is taken, what is wrong is named with file and line."""

import ssl
from pathlib import Path

import pytest

from gpuscope.api.web_config import load_web_config
from gpuscope.errors import ConfigError

HASH = "$2y$04$abcdefghijklmnopqrstuuWn3EsXGh3gWYwLxXf6Yp1pXyFqJyP9q"


@pytest.fixture
def load(tmp_path, authority):
    """Writes a file beside a certificate (node.crt, node.key) and a CA (authority.pem), and loads it."""
    authority.issue("node", "127.0.0.1")
    authority.issue("locked", "127.0.0.1", password=b"secret")
    authority.issue("other", "127.0.0.1")

    def load_text(text):
        file = tmp_path / "web.yml"
        file.write_text(text)
        return load_web_config(file)

    return load_text


def tls(*lines: str) -> str:
    return "\n".join(["tls_server_config:", "  cert_file: node.crt", "  key_file: node.key", *lines])


def test_no_file_is_plain_http_for_everybody():
    config = load_web_config(None)
    assert config.tls is None
    assert not config.users


@pytest.mark.parametrize(
    "text", ["", "# nothing\n", "~", "tls_server_config:\nbasic_auth_users:\nhttp_server_config:\n"]
)
def test_an_empty_file_is_right(load, text):
    assert load(text).tls is None


def test_a_full_file_is_right(load):
    config = load(
        tls(
            "  client_ca_file: authority.pem",
            "  client_auth_type: RequireAndVerifyClientCert",
            "  client_allowed_sans: [prometheus.example, 10.0.0.1]",
            "  min_version: TLS12",
            "  max_version: TLS13",
            "  cipher_suites: [TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, TLS_AES_128_GCM_SHA256]",
            "  prefer_server_cipher_suites: false",
            "  curve_preferences: [CurveP384]",
            "http_server_config:",
            "  http2: false",
            "  headers:",
            "    X-Frame-Options: deny",
            "    Strict-Transport-Security: max-age=31536000",
            "basic_auth_users:",
            f"  prometheus: {HASH}",
            f"  1234: '{HASH}'",
            "rate_limit:",
            "  interval: 1m500ms",
            "  burst: 3",
        )
    )
    assert config.tls.settings.verify is ssl.CERT_REQUIRED
    assert config.tls.settings.allowed_sans == {"prometheus.example", "10.0.0.1"}
    assert config.tls.settings.ciphers == "ECDHE-ECDSA-AES128-GCM-SHA256"
    assert config.http2 is False
    assert config.headers == {"X-Frame-Options": "deny", "Strict-Transport-Security": "max-age=31536000"}
    assert config.users == {"prometheus": HASH, "1234": HASH}
    assert (config.rate_limit.interval_s, config.rate_limit.burst) == (60.5, 3)


def test_inline_certificates(load, tmp_path):
    def block(key, name):
        return f"  {key}: |\n" + "".join(f"    {line}\n" for line in (tmp_path / name).read_text().splitlines())

    text = (
        "tls_server_config:\n"
        + block("cert", "node.crt")
        + block("key", "node.key")
        + block("client_ca", "authority.pem")
    )
    config = load(text + "  client_auth_type: VerifyClientCertIfGiven\n")
    assert config.tls.current().verify_mode is ssl.CERT_OPTIONAL


@pytest.mark.parametrize(
    ("name", "verify"),
    [("NoClientCert", ssl.CERT_NONE), ("RequestClientCert", ssl.CERT_NONE)],
)
def test_types_that_let_everybody_in(load, name, verify):
    assert load(tls(f"  client_auth_type: {name}")).tls.current().verify_mode is verify


def test_all_curves_and_only_tls13_suites(load):
    config = load(
        tls(
            "  curve_preferences: [X25519, CurveP256, CurveP384, CurveP521]",
            "  cipher_suites: [TLS_AES_256_GCM_SHA384]",
        )
    )
    assert config.tls.current().minimum_version is ssl.TLSVersion.TLSv1_3


WRONG = {
    "a: [": (1, "not valid YAML"),
    "- a": (1, "must be a mapping"),
    "just text": (1, "must be a mapping"),
    "a: \x01": (1, "not valid YAML"),
    "\ntls_config: {}": (2, "tls_config: unknown key"),
    "basic_auth_users: {}\nbasic_auth_users: {}": (2, "basic_auth_users: given twice"),
    "? [a]\n: b": (1, "keys must be plain words"),
    "tls_server_config: text": (1, "tls_server_config: must be a mapping"),
    "basic_auth_users:\n  joe: password": (2, "basic_auth_users.joe: must be a bcrypt hash"),
    f"basic_auth_users:\n  'j:oe': {HASH}": (2, "cannot contain ':'"),
    "basic_auth_users:\n  joe: [a]": (2, "must be a text"),
    "http_server_config:\n  http3: true": (2, "http_server_config.http3: unknown key"),
    "http_server_config:\n  http2: maybe": (2, "http_server_config.http2: must be true or false"),
    "http_server_config:\n  headers:\n    Server: me": (3, "http_server_config.headers.Server: unknown key"),
    "http_server_config:\n  headers:\n    X-Frame-Options: never": (3, "must be one of: deny, sameorigin"),
    "http_server_config:\n  headers:\n    X-XSS-Protection: \"a\\nb: c\"": (3, "one line of printable ASCII"),
    "rate_limit:\n  interval: often\n  burst: 1": (2, "rate_limit.interval: must be a duration"),
    "rate_limit:\n  interval: 1s": (2, "rate_limit.burst: must be 1 or more"),
    "rate_limit:\n  interval: 1s\n  burst: 1.5": (3, "whole number"),
    "rate_limit:\n  interval: 1s\n  burst: many": (3, "must be a number"),
    "tls_server_config:\n  key_file: node.key": (2, "tls_server_config.cert: one of cert_file and cert is needed"),
    "tls_server_config:\n  cert_file: node.crt": (2, "tls_server_config.key: one of key_file and key is needed"),
    tls("  cert: inline"): (4, "give cert or cert_file, not both"),
    "tls_server_config:\n  cert_file: gone.crt\n  key_file: node.key": (2, "cert_file: "),
    "tls_server_config:\n  cert_file: node.key\n  key_file: node.key": (2, "no PEM block that ends in 'CERTIF"),
    "tls_server_config:\n  cert_file: node.crt\n  key_file: node.crt": (3, "no PEM block that ends in 'PRIV"),
    "tls_server_config:\n  cert_file: node.crt\n  key_file: other.key": (3, "does not belong to the certificate"),
    "tls_server_config:\n  cert_file: locked.crt\n  key_file: locked.key": (3, "the key is encrypted"),
    "tls_server_config:\n  cert: '-----BEGIN CERTIFICATE-----'\n  key_file: node.key": (2, "cannot be used"),
    tls("  min_version: TLS11"): (4, "tls_server_config.min_version: TLS 1.0 and 1.1 are not offered"),
    tls("  min_version: SSL3"): (4, "unknown version 'SSL3'"),
    tls("  min_version: TLS13", "  max_version: TLS12"): (4, "is above max_version"),
    tls("  cipher_suites: [TLS_RSA_WITH_RC4_128_SHA]"): (4, "unknown suite 'TLS_RSA_WITH_RC4_128_SHA'"),
    tls("  cipher_suites: TLS_AES_128_GCM_SHA256"): (4, "must be a list of texts"),
    tls("  max_version: TLS12", "  cipher_suites: [TLS_AES_128_GCM_SHA256]"): (5, "which max_version excludes"),
    tls("  curve_preferences: [CurveP999]"): (4, "unknown curve 'CurveP999'"),
    tls("  curve_preferences: [CurveP256, CurveP384]"): (4, "exactly one of"),
    tls("  curve_preferences: [X25519]"): (4, "exactly one of"),
    tls("  client_auth_type: Whatever"): (4, "unknown type 'Whatever'"),
    tls("  client_auth_type: RequireAnyClientCert"): (4, "use RequireAndVerifyClientCert"),
    tls("  client_auth_type: RequireAndVerifyClientCert"): (4, "needs client_ca_file"),
    tls("  client_ca_file: authority.pem"): (4, "needs a client_auth_type that verifies"),
    tls("  client_auth_type: VerifyClientCertIfGiven", "  client_ca_file: node.key"): (5, "holds no usable certific"),
    tls("  client_allowed_sans: [a]"): (4, "client_allowed_sans: needs client_auth_type"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "line", "reason"), [(text, *wrong) for text, wrong in WRONG.items()])
def test_wrong_files_are_named_with_line_and_reason(load, tmp_path, text, line, reason):
    with pytest.raises(ConfigError) as caught:
        load(text)
    message = str(caught.value)
    assert message.startswith(f"{tmp_path / 'web.yml'}:{line}: ")
    assert reason in message
    assert "\n" not in message


def test_a_missing_file_and_one_that_is_not_text(tmp_path):
    with pytest.raises(ConfigError, match=r"gone\.yml: cannot be read: No such file"):
        load_web_config(Path("gone.yml"))
    binary = tmp_path / "binary.yml"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match=r"binary\.yml: cannot be read: not UTF-8"):
        load_web_config(binary)


def test_secrets_do_not_stand_in_messages(load):
    with pytest.raises(ConfigError) as caught:
        load("basic_auth_users:\n  joe: my-plain-password")
    assert "my-plain-password" not in str(caught.value)

"""The web configuration file, in the format of Prometheus' exporter-toolkit."""

import re
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gpuscope.api.tls import CIPHER_SUITES, CURVES, VERSIONS, Pem, TlsContext, TlsSettings
from gpuscope.api.yaml_section import Section, read_yaml

__all__ = ["RateLimit", "WebConfig", "load_web_config"]

_HEADERS: Mapping[str, tuple[str, ...]] = {
    "Content-Security-Policy": (),
    "Strict-Transport-Security": (),
    "X-Content-Type-Options": ("nosniff",),
    "X-Frame-Options": ("deny", "sameorigin"),
    "X-XSS-Protection": (),
}
_CLIENT_AUTH: Mapping[str, ssl.VerifyMode | None] = {
    "": ssl.CERT_NONE,
    "NoClientCert": ssl.CERT_NONE,
    "RequestClientCert": ssl.CERT_NONE,  # Go asks and then ignores the certificate: nobody is let in or kept out
    "RequireAnyClientCert": None,
    "RequireClientCert": None,
    "VerifyClientCertIfGiven": ssl.CERT_OPTIONAL,
    "RequireAndVerifyClientCert": ssl.CERT_REQUIRED,
}
_TLS_KEYS = (
    "cert", "key", "client_ca", "cert_file", "key_file", "client_ca_file", "client_auth_type", "client_allowed_sans",
    "min_version", "max_version", "cipher_suites", "prefer_server_cipher_suites", "curve_preferences",
)  # fmt: skip
_MAX_BCRYPT_COST = 15
_BCRYPT = re.compile(r"\$2[abxy]?\$(0[4-9]|[12][0-9]|3[01])\$[./A-Za-z0-9]{53}", re.ASCII)
_DURATION = re.compile(r"(?:[0-9]+(?:\.[0-9]*)?(?:ns|us|µs|ms|s|m|h))+")
_DURATION_PART = re.compile(r"([0-9]+(?:\.[0-9]*)?)(ns|us|µs|ms|s|m|h)")
_SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}


@dataclass(frozen=True, slots=True)
class RateLimit:
    """At most ``burst`` requests at once and one more every ``interval_s`` seconds."""

    interval_s: float
    burst: int


@dataclass(frozen=True, slots=True)
class WebConfig:
    """A checked web configuration; the default is plain HTTP for everybody.

    ``users`` maps names to bcrypt hashes. ``http2`` is kept for information: the server speaks HTTP/1.1.
    """

    tls: TlsContext | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    users: Mapping[str, str] = field(default_factory=dict)
    http2: bool = True
    rate_limit: RateLimit | None = None


def load_web_config(path: Path | None) -> WebConfig:
    """Reads and checks the file with all that it names; ``None`` gives the default.

    Raises:
        ConfigError: ``file:line: key: reason``.
    """
    if path is None:
        return WebConfig()
    top = read_yaml(path)
    top.only(("tls_server_config", "http_server_config", "basic_auth_users", "rate_limit"))
    http = top.section("http_server_config")
    http.only(("http2", "headers"))
    return WebConfig(
        tls=_tls(top.section("tls_server_config"), path),
        headers=_headers(http.section("headers")),
        users=_users(top.section("basic_auth_users")),
        http2=http.flag("http2", True),
        rate_limit=_rate_limit(top.section("rate_limit")),
    )


def _headers(section: Section) -> dict[str, str]:
    section.only(_HEADERS)
    headers = {}
    for name, values in _HEADERS.items():
        value = section.text(name)
        if value and values and value not in values:
            raise section.error(name, f"must be one of: {', '.join(values)}")
        if not value.isprintable() or not value.isascii():
            raise section.error(name, "must be one line of printable ASCII")
        if value:
            headers[name] = value
    return headers


def _users(section: Section) -> dict[str, str]:
    users = {}
    for name in section:
        hashed = section.text(name)
        if _BCRYPT.fullmatch(hashed) is None:
            raise section.error(name, "must be a bcrypt hash, as from: htpasswd -nBC 10 \"\" | tr -d ':\\n'")
        if int(hashed[4:6]) > _MAX_BCRYPT_COST:
            raise section.error(
                name, f"a bcrypt cost above {_MAX_BCRYPT_COST} takes seconds to hours a check; 10 is usual"
            )
        if ":" in name:
            raise section.error(name, "a user name cannot contain ':'")
        users[name] = hashed
    return users


def _rate_limit(section: Section) -> RateLimit | None:
    section.only(("interval", "burst"))
    text = section.text("interval", "0")
    if text != "0" and _DURATION.fullmatch(text) is None:
        raise section.error("interval", "must be a duration, for example 100ms or 1s")
    interval = sum(float(number) * _SECONDS[unit] for number, unit in _DURATION_PART.findall(text))
    burst = section.number("burst", 0.0)
    if burst != int(burst):
        raise section.error("burst", "must be a whole number")
    if interval == 0.0:
        return None
    if burst < 1:
        raise section.error("burst", "must be 1 or more, else every request is refused")
    return RateLimit(interval, int(burst))


def _tls(section: Section, file: Path) -> TlsContext | None:
    section.only(_TLS_KEYS)
    if not any(key in section for key in _TLS_KEYS):
        return None
    cert = _pem(section, file, "cert")
    key = _pem(section, file, "key")
    client_ca = _pem(section, file, "client_ca")
    if cert is None or key is None:
        missing = "cert" if cert is None else "key"
        raise section.error(missing, f"one of {missing}_file and {missing} is needed")
    minimum, maximum = (_version(section, name) for name in ("min_version", "max_version"))
    if minimum > maximum:
        raise section.error("min_version", "is above max_version")
    ciphers, only_tls13 = _ciphers(section)
    if only_tls13:
        if maximum is not ssl.TLSVersion.TLSv1_3:
            raise section.error("cipher_suites", "lists only suites of TLS 1.3, which max_version excludes")
        minimum = ssl.TLSVersion.TLSv1_3
    verify, sans = _client_auth(section, client_ca)
    return TlsContext(
        TlsSettings(
            cert=cert,
            key=key,
            client_ca=client_ca,
            verify=verify,
            minimum=minimum,
            maximum=maximum,
            ciphers=ciphers,
            server_preference=section.flag("prefer_server_cipher_suites", True),
            curve=_curve(section),
            allowed_sans=sans,
        )
    )


def _pem(section: Section, file: Path, key: str) -> Pem | None:
    path_key = f"{key}_file"
    if section.text(key) and section.text(path_key):
        raise section.error(key, f"give {key} or {path_key}, not both")
    if section.text(path_key):
        return Pem(_place(section, path_key), path=file.parent / section.text(path_key))
    if section.text(key):
        return Pem(_place(section, key), text=section.text(key))
    return None


def _place(section: Section, key: str) -> str:
    return str(section.error(key, "")).removesuffix(": ")


def _version(section: Section, key: str) -> ssl.TLSVersion:
    name = section.text(key, "TLS12" if key == "min_version" else "TLS13")
    if name in {"TLS10", "TLS11"}:
        raise section.error(key, "TLS 1.0 and 1.1 are not offered (RFC 8996); use TLS12 or TLS13")
    if name not in VERSIONS:
        raise section.error(key, f"unknown version {name!r}; use TLS12 or TLS13")
    return VERSIONS[name]


def _ciphers(section: Section) -> tuple[str, bool]:
    names = section.texts("cipher_suites")
    for name in names:
        if name not in CIPHER_SUITES:
            raise section.error("cipher_suites", f"unknown suite {name!r}; known are: {', '.join(CIPHER_SUITES)}")
    chosen = [CIPHER_SUITES[name] for name in names if CIPHER_SUITES[name]]
    return ":".join(chosen), bool(names) and not chosen


def _curve(section: Section) -> str:
    names = section.texts("curve_preferences")
    for name in names:
        if name not in {*CURVES, "X25519"}:
            raise section.error("curve_preferences", f"unknown curve {name!r}; known are: {', '.join(CURVES)}, X25519")
    if not names or set(names) == {*CURVES, "X25519"}:
        return ""
    if len(names) > 1 or names[0] not in CURVES:
        raise section.error(
            "curve_preferences",
            f"Python's TLS takes exactly one of {', '.join(CURVES)}, or no list at all (X25519 is then preferred)",
        )
    return CURVES[names[0]]


def _client_auth(section: Section, client_ca: Pem | None) -> tuple[ssl.VerifyMode, frozenset[str]]:
    name = section.text("client_auth_type")
    if name not in _CLIENT_AUTH:
        allowed = ", ".join(word for word in _CLIENT_AUTH if word)
        raise section.error("client_auth_type", f"unknown type {name!r}; known are: {allowed}")
    verify = _CLIENT_AUTH[name]
    if verify is None:
        raise section.error(
            "client_auth_type",
            f"{name} takes certificates that nobody verified, which Python's TLS cannot do; "
            "use RequireAndVerifyClientCert",
        )
    if client_ca is not None and name in {"", "NoClientCert"}:
        key = "client_ca_file" if client_ca.path is not None else "client_ca"
        raise section.error(key, "needs a client_auth_type that verifies client certificates")
    if client_ca is None and verify is not ssl.CERT_NONE:
        raise section.error("client_auth_type", f"{name} needs client_ca_file")
    sans = frozenset(section.texts("client_allowed_sans"))
    if sans and verify is ssl.CERT_NONE:
        raise section.error("client_allowed_sans", "needs client_auth_type RequireAndVerifyClientCert")
    return verify, sans

"""TLS contexts from ``tls_server_config``, renewed when the certificate files change."""

import ipaddress
import logging
import os
import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpuscope.errors import ConfigError

__all__ = ["CIPHER_SUITES", "CURVES", "VERSIONS", "Pem", "TlsContext", "TlsSettings", "allowed_san"]

log = logging.getLogger(__name__)

VERSIONS: Mapping[str, ssl.TLSVersion] = {"TLS12": ssl.TLSVersion.TLSv1_2, "TLS13": ssl.TLSVersion.TLSv1_3}

CURVES: Mapping[str, str] = {"CurveP256": "prime256v1", "CurveP384": "secp384r1", "CurveP521": "secp521r1"}

CIPHER_SUITES: Mapping[str, str] = {
    "TLS_AES_128_GCM_SHA256": "",
    "TLS_AES_256_GCM_SHA384": "",
    "TLS_CHACHA20_POLY1305_SHA256": "",
    "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA": "ECDHE-ECDSA-AES128-SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA": "ECDHE-ECDSA-AES256-SHA",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA": "ECDHE-RSA-AES128-SHA",
    "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA": "ECDHE-RSA-AES256-SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256": "ECDHE-ECDSA-AES128-GCM-SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384": "ECDHE-ECDSA-AES256-GCM-SHA384",
    "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256": "ECDHE-RSA-AES128-GCM-SHA256",
    "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384": "ECDHE-RSA-AES256-GCM-SHA384",
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256": "ECDHE-RSA-CHACHA20-POLY1305",
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256": "ECDHE-ECDSA-CHACHA20-POLY1305",
}
"""Go's names -> OpenSSL's; empty for TLS 1.3, whose suites neither Go nor Python lets one choose."""


@dataclass(frozen=True, slots=True)
class Pem:
    """A certificate or key: inline text, or a file that is read again when it changes.

    ``place`` is what a message calls it: ``file:line: key``.
    """

    place: str
    text: str = ""
    path: Path | None = None

    def read(self) -> str:
        """The PEM text.

        Raises:
            ConfigError: the file cannot be read.
        """
        if self.path is None:
            return self.text
        try:
            return self.path.read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            raise ConfigError(f"{self.place}: {self.path} cannot be read: {error.strerror}") from error

    def stamp(self) -> tuple[int, ...]:
        """Changes when the file changes."""
        if self.path is None:
            return ()
        try:
            status = self.path.stat()
        except OSError:
            return ()
        return status.st_mtime_ns, status.st_size, status.st_ino


@dataclass(frozen=True, slots=True)
class TlsSettings:
    """A checked ``tls_server_config``.

    ``verify`` is ``ssl.CERT_NONE``, ``CERT_OPTIONAL`` or ``CERT_REQUIRED`` for client certificates; ``ciphers`` is
    an OpenSSL list or empty for the default; ``curve`` an OpenSSL name or empty.
    """

    cert: Pem
    key: Pem
    client_ca: Pem | None
    verify: ssl.VerifyMode
    minimum: ssl.TLSVersion
    maximum: ssl.TLSVersion
    ciphers: str
    server_preference: bool
    curve: str
    allowed_sans: frozenset[str]


class TlsContext:
    """The current TLS context; made anew when a file behind it changed.

    A new file that is broken, or only half written, is logged once and the old certificate stays in force.

    Args:
        settings: what to build.
        clock: monotonic seconds.

    Raises:
        ConfigError: certificate, key or CA cannot be used; the message names the key in the file.
    """

    _LOOK_EVERY_S = 1.0

    def __init__(self, settings: TlsSettings, clock: Callable[[], float] = time.monotonic) -> None:
        self.settings = settings
        self._clock = clock
        self._stamp = self._stamps()
        self._context = _context(settings)
        self._looked = clock()

    def current(self) -> ssl.SSLContext:
        """The context for the next connection."""
        now = self._clock()
        if now - self._looked >= self._LOOK_EVERY_S:
            self._looked = now
            stamp = self._stamps()
            if stamp != self._stamp:
                self._stamp = stamp
                try:
                    self._context = _context(self.settings)
                    log.info("TLS certificate files changed and were read again")
                except ConfigError as error:
                    log.error("TLS certificate files changed and cannot be used, the old ones stay: %s", error)  # noqa: TRY400
        return self._context

    def _stamps(self) -> tuple[tuple[int, ...], ...]:
        settings = self.settings
        return tuple(pem.stamp() for pem in (settings.cert, settings.key, settings.client_ca) if pem is not None)


def _context(settings: TlsSettings) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.options |= ssl.OP_NO_COMPRESSION | ssl.OP_NO_RENEGOTIATION
    if settings.server_preference:
        context.options |= ssl.OP_CIPHER_SERVER_PREFERENCE
    else:
        context.options &= ~ssl.OP_CIPHER_SERVER_PREFERENCE
    context.minimum_version, context.maximum_version = settings.minimum, settings.maximum
    if settings.ciphers:
        context.set_ciphers(settings.ciphers)
    if settings.curve:
        context.set_ecdh_curve(settings.curve)
    cert, key = settings.cert.read(), settings.key.read()
    _check_block(settings.cert, cert, "CERTIFICATE-----")
    _check_block(settings.key, key, "PRIVATE KEY-----")
    _load_chain(context, settings, cert, key)
    context.verify_mode = settings.verify
    if settings.client_ca is not None and settings.verify is not ssl.CERT_NONE:
        try:
            context.load_verify_locations(cadata=settings.client_ca.read())
        except (ssl.SSLError, ValueError) as error:
            raise ConfigError(f"{settings.client_ca.place}: holds no usable certificate: {error}") from error
    return context


def _check_block(pem: Pem, text: str, mark: str) -> None:
    if mark not in text:
        where = f" in {pem.path}" if pem.path is not None else ""
        raise ConfigError(f"{pem.place}: no PEM block that ends in '{mark}'{where}")


def _load_chain(context: ssl.SSLContext, settings: TlsSettings, cert: str, key: str) -> None:
    def refuse_password() -> str:
        raise ConfigError(f"{settings.key.place}: the key is encrypted; an agent cannot ask for its password")

    # Python reads a chain from a file only; memory keeps inline keys off the disk and both parts from one moment.
    memory = os.memfd_create("gpuscope-tls", os.MFD_CLOEXEC)
    try:
        with os.fdopen(os.dup(memory), "w", encoding="utf-8") as file:
            file.write(f"{cert}\n{key}\n")
        context.load_cert_chain(f"/proc/self/fd/{memory}", password=refuse_password)
    except ssl.SSLError as error:
        if error.reason == "KEY_VALUES_MISMATCH":
            raise ConfigError(f"{settings.key.place}: the key does not belong to the certificate") from error
        raise ConfigError(f"{settings.cert.place}: certificate and key cannot be used: {error}") from error
    finally:
        os.close(memory)


def allowed_san(certificate: Mapping[str, Any] | None, allowed: frozenset[str]) -> bool:
    """Whether a client certificate, as ``SSLSocket.getpeercert()`` gives it, carries one of the names."""
    for kind, value in (certificate or {}).get("subjectAltName", ()):
        name = value
        if kind == "IP Address":
            name = str(ipaddress.ip_address(value.strip()))
        if name in allowed:
            return True
    return False

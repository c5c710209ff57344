"""One question to an agent, with what it wants to know of who asks: a password, a certificate."""

import base64
import http.client
import logging
import socket
import ssl
import time
from dataclasses import dataclass
from pathlib import Path

from gpuscope.errors import ConfigError
from gpuscope.workloads.agent_answer import AnswerError
from gpuscope.workloads.agent_target import Target

__all__ = ["AgentAccess", "Credentials", "fetch"]

log = logging.getLogger(__name__)

_LARGEST = 4 << 20


@dataclass(frozen=True, slots=True)
class Credentials:
    """Where to find what agents want to know; every file is read again when it changes.

    Attributes:
        user: name for basic authentication; empty sends none.
        password_file: its password; a line break at its end is no part of it.
        ca_file: authorities that agents' certificates have to come from; ``None`` takes the system's.
        cert_file: certificate for agents that ask for one.
        key_file: its key.
    """

    user: str = ""
    password_file: Path | None = None
    ca_file: Path | None = None
    cert_file: Path | None = None
    key_file: Path | None = None

    def check(self, urls: tuple[str, ...]) -> None:
        """Checks that the settings belong together.

        Args:
            urls: base URLs of agents.

        Raises:
            ConfigError: names the flag.
        """
        given = {
            "user": self.user, "password-file": self.password_file, "ca-file": self.ca_file,
            "cert-file": self.cert_file, "key-file": self.key_file,
        }  # fmt: skip
        for one, other in (("user", "password-file"), ("password-file", "user"), ("cert-file", "key-file"),
                           ("key-file", "cert-file")):  # fmt: skip
            if given[one] and not given[other]:
                raise ConfigError(f"--agents.{one}: needs --agents.{other}")
        if ":" in self.user:
            raise ConfigError("--agents.user: a user name cannot contain ':'")
        for name, value in given.items():
            if value and not urls:
                raise ConfigError(f"--agents.{name}: needs --agents")
            if value and name in {"ca-file", "cert-file"} and not any(url.startswith("https:") for url in urls):
                raise ConfigError(f"--agents.{name}: no URL of --agents begins with https")


class AgentAccess:
    """What is sent with every request.

    Args:
        credentials: where to find it.

    Raises:
        ConfigError: a file cannot be used; names flag and file.
    """

    def __init__(self, credentials: Credentials | None = None) -> None:
        self._credentials = credentials or Credentials()
        self._seen: tuple[tuple[int, int] | None, ...] = ()
        self._said = ""
        self.authorization, self._tls = self._load()

    @property
    def context(self) -> ssl.SSLContext:
        """For TLS; made when it is first needed, unless a file says more of it."""
        if self._tls is None:
            self._tls = ssl.create_default_context()
        return self._tls

    def renew(self) -> None:
        """Takes files that changed; those that cannot be used now leave all as it was, and a word in the log."""
        if self._stamps() == self._seen:
            return
        try:
            self.authorization, self._tls = self._load()
        except ConfigError as error:
            if str(error) != self._said:
                log.warning("%s; what was read before is used", error)
            self._said = str(error)
        else:
            self._said = ""

    def _load(self) -> tuple[str, ssl.SSLContext | None]:
        stamps = self._stamps()
        loaded = self._authorization(), self._context()
        self._seen = stamps
        return loaded

    def _stamps(self) -> tuple[tuple[int, int] | None, ...]:
        one = self._credentials
        return tuple(_stamp(file) for file in (one.password_file, one.ca_file, one.cert_file, one.key_file))

    def _authorization(self) -> str:
        file = self._credentials.password_file
        if file is None:
            return ""
        try:
            password = file.read_text(encoding="utf-8").rstrip("\r\n")
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"--agents.password-file {file}: {_reason(error)}") from error
        if not password:
            raise ConfigError(f"--agents.password-file {file}: is empty")
        pair = f"{self._credentials.user}:{password}".encode()
        return f"Basic {base64.b64encode(pair).decode()}"

    def _context(self) -> ssl.SSLContext | None:
        one = self._credentials
        if one.ca_file is None and one.cert_file is None:
            return None
        try:
            context = ssl.create_default_context(cafile=one.ca_file)
        except (OSError, ValueError) as error:
            raise ConfigError(f"--agents.ca-file {one.ca_file}: {_reason(error)}") from error
        if one.cert_file is not None:
            try:
                # With a word of its own for the key nobody is asked for one at the terminal.
                context.load_cert_chain(one.cert_file, one.key_file, password=lambda: b"")
            except (OSError, ValueError) as error:
                raise ConfigError(
                    f"--agents.cert-file {one.cert_file}, --agents.key-file {one.key_file}: {_reason(error)}"
                ) from error
        return context


def fetch(target: Target, access: AgentAccess, timeout_s: float) -> bytes:
    """The answer of an agent.

    Args:
        target: the agent.
        access: what is sent along.
        timeout_s: longest time for each step, and half of the longest time in all.

    Raises:
        AnswerError: ``status``, ``unauthorized``, ``tls``, ``timeout``, ``too_large``, ``address`` or ``connection``.
    """
    if not target.address:
        raise AnswerError("address")
    try:
        return _fetch(target, access, timeout_s)
    except TimeoutError as error:
        raise AnswerError("timeout") from error
    except UnicodeError as error:  # no name of a host, as a node's may be
        raise AnswerError("address") from error
    except ssl.SSLError as error:
        log.debug("%s: %s", target.address, error)
        raise AnswerError("tls") from error
    except (OSError, http.client.HTTPException) as error:
        raise AnswerError("connection") from error


def _fetch(target: Target, access: AgentAccess, timeout_s: float) -> bytes:
    headers = {"Host": target.host, "Accept": "application/json"}
    if access.authorization:
        headers["Authorization"] = access.authorization
    connection = _connection(target, access, timeout_s)
    until = time.monotonic() + 2 * timeout_s
    try:
        connection.request("GET", target.path, headers=headers)
        response = connection.getresponse()
        if response.status in {http.client.UNAUTHORIZED, http.client.FORBIDDEN}:
            raise AnswerError("unauthorized")
        if response.status != http.client.OK:
            raise AnswerError("status")
        body = bytearray()
        while chunk := response.read1(65_536):
            body += chunk
            if len(body) > _LARGEST:
                raise AnswerError("too_large")
            if time.monotonic() > until:
                raise TimeoutError
    finally:
        connection.close()
    return bytes(body)


class _Secure(http.client.HTTPSConnection):
    """Connects to one of a host's addresses, and wants a certificate of the host."""

    def __init__(self, target: Target, context: ssl.SSLContext, timeout_s: float) -> None:
        super().__init__(target.address, target.port, timeout=timeout_s, context=context)
        self._host_name = target.host
        self._tls = context

    def connect(self) -> None:
        plain = socket.create_connection((self.host, self.port), self.timeout)
        self.sock = self._tls.wrap_socket(plain, server_hostname=self._host_name)


def _connection(target: Target, access: AgentAccess, timeout_s: float) -> http.client.HTTPConnection:
    if target.secure:
        return _Secure(target, access.context, timeout_s)
    return http.client.HTTPConnection(target.address, target.port, timeout=timeout_s)


def _stamp(file: Path | None) -> tuple[int, int] | None:
    if file is None:
        return None
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ino


def _reason(error: Exception) -> str:
    if isinstance(error, ssl.SSLError):
        return "holds no certificate or key that can be used"
    if isinstance(error, UnicodeDecodeError):
        return "is no UTF-8"
    return (error.strerror if isinstance(error, OSError) else None) or str(error)

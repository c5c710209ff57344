"""Servers that are asked over HTTP: how to reach one, and how it says no, in one line."""

from __future__ import annotations

import base64
import json
import os
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import requests
import urllib3

from gpuscope.errors import ConfigError, GpuscopeError

__all__ = ["Access", "Server", "Unusable", "access"]


_PATIENCE = 4
"""So many times the time-out may a whole answer take."""
_LARGEST = 256 * 2**20
_PART = 2**16
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


class Unusable(GpuscopeError):
    """A server that cannot be reached, does not let us in, or is not what it should be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """How to get in.

    Attributes:
        token: for ``Authorization: Bearer``; empty for none.
        user: for basic authentication; empty for none.
        password: of that user.
        ca_file: authorities that the certificate of the server may come from; empty takes those of the system.
        headers: sent with every request, such as the tenant of Mimir.
        timeout_s: for connecting, and between two bytes of an answer.
    """

    token: str = field(default="", repr=False)
    user: str = ""
    password: str = field(default="", repr=False)
    ca_file: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    timeout_s: float = 30.0


def access(
    variable: str,
    *,
    token_file: Path | None,
    user: str,
    password_file: Path | None,
    ca_file: Path | None,
    headers: tuple[str, ...] = (),
    timeout_s: float = 30.0,
) -> Access:
    """Reads secrets from files or from the environment, never from the command line.

    Args:
        variable: begin of the names of the variables, such as ``GPUSCOPE_PROMETHEUS`` for ``…_TOKEN`` and
            ``…_PASSWORD``.
        token_file: file with a token.
        user: name for basic authentication.
        password_file: file with its password.
        ca_file: authorities in PEM.
        headers: ``NAME=VALUE``.
        timeout_s: see ``Access``.

    Raises:
        ConfigError: a file that cannot be read, or two ways at once; the flag is named.
    """
    token = _secret("--token-file", token_file, f"{variable}_TOKEN")
    password = _secret("--password-file", password_file, f"{variable}_PASSWORD")
    if user and token:
        raise ConfigError("--user: either a token or a user with a password, not both")
    if password_file is not None and not user:
        raise ConfigError("--password-file: needs --user")
    if user and not password:
        raise ConfigError(f"--user: needs --password-file or {variable}_PASSWORD")
    if ca_file is not None and not ca_file.is_file():
        raise ConfigError(f"--ca-file {ca_file}: No such file")
    pairs = {}
    for header in headers:
        name, equals, value = header.partition("=")
        if not equals or not name.strip():
            raise ConfigError(f"--header {header}: must be NAME=VALUE")
        if not _HEADER.fullmatch(name.strip()) or not (value.isascii() and value.isprintable()):
            raise ConfigError(f"--header {header!r}: has characters that cannot be sent")
        pairs[name.strip()] = value
    return Access(
        token=token,
        user=user,
        password=password if user else "",
        ca_file=str(ca_file or ""),
        headers=pairs,
        timeout_s=timeout_s,
    )


def _secret(flag: str, file: Path | None, variable: str) -> str:
    if file is None:
        found = os.environ.get(variable, "").strip()
        if not _sendable(found, variable):
            raise ConfigError(f"{variable}: has several lines, or characters that cannot be sent")
        return found
    try:
        found = file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not text"
        raise ConfigError(f"{flag} {file}: {reason}") from error
    if not found:
        raise ConfigError(f"{flag} {file}: is empty")
    if "\n" in found:
        raise ConfigError(f"{flag} {file}: has several lines")
    if not _sendable(found, variable):
        raise ConfigError(f"{flag} {file}: has characters that cannot be sent")
    return found


def _sendable(secret: str, variable: str) -> bool:
    """Whether it can stand in a header: a password is coded there, a token stands as it is."""
    return secret.isprintable() and (secret.isascii() or not variable.endswith("_TOKEN"))


class Server:
    """One HTTP server that answers with JSON. Redirects are not followed: a token must not end up elsewhere.

    Args:
        kind: what it should be, for messages: ``Prometheus`` or ``Grafana``.
        url: where it lives, with the path in front of its API.
        access: how to get in.

    Raises:
        ConfigError: no URL of HTTP.
    """

    def __init__(self, kind: str, url: str, access: Access) -> None:
        try:
            parts = urlsplit(url)
            port = parts.port  # refused where it is none
        except ValueError as error:
            raise ConfigError(f"--{kind.lower()} {url}: {error}") from error
        if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
            raise ConfigError(f"--{kind.lower()} {url}: not a URL such as http://127.0.0.1:9090")
        if parts.username is not None:
            raise ConfigError(f"--{kind.lower()}: no name and password in the URL; use --user and --password-file")
        self.kind = kind
        self.url = urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/"), "", ""))
        self._timeout_s = access.timeout_s
        self._session = requests.Session()
        self._session.headers.update({"Accept": "application/json", **access.headers})
        # Given with each request, as the environment's authorities would otherwise win.
        self._verify: dict[str, Any] = {"verify": access.ca_file} if access.ca_file else {}
        # A callable, as requests would otherwise let a netrc file replace the token.
        self._session.auth = _authorization(access)

    def ask(self, method: str, path: str, **content: Any) -> tuple[int, Any]:
        """The status and the JSON of an answer, whatever the status is.

        Args:
            method: of HTTP.
            path: below the URL.
            content: ``params``, ``data`` or ``json`` as `requests` takes them.

        Raises:
            Unusable: no answer, no permission, or no JSON.
        """
        try:
            answer = self._session.request(
                method,
                f"{self.url}{path}",
                timeout=self._timeout_s,
                allow_redirects=False,
                stream=True,
                **self._verify,
                **content,
            )
            body = self._body(answer)
        except requests.exceptions.SSLError as error:
            raise Unusable(f"{self._name}: TLS: {_cause(error)}") from error
        except (requests.exceptions.Timeout, urllib3.exceptions.ReadTimeoutError) as error:
            raise Unusable(f"{self._name}: no answer within {self._timeout_s:g} s") from error
        except (requests.exceptions.RequestException, urllib3.exceptions.HTTPError, OSError) as error:
            raise Unusable(f"{self._name}: {_cause(error)}") from error
        if answer.is_redirect or answer.is_permanent_redirect:
            raise Unusable(f"{self._name}: sends us to {answer.headers['Location']}; give that address if it is right")
        if answer.status_code == 401:
            raise Unusable(f"{self._name}: 401: it wants a token or a password, or does not accept this one")
        if answer.status_code == 403:
            raise Unusable(f"{self._name}: 403: this user may not do that{_message(body)}")
        try:
            return answer.status_code, json.loads(body)
        except (ValueError, RecursionError) as error:
            kind = answer.headers.get("Content-Type", "no type").partition(";")[0]
            shown = "broken JSON" if kind.endswith("json") else f"{kind} in place of JSON"
            raise Unusable(f"{self._name}: {answer.status_code} with {shown}: not the API of {self.kind}") from error

    def _body(self, answer: requests.Response) -> bytes:
        """All of an answer, unless it is without end: neither in bytes nor in time."""
        end = time.monotonic() + _PATIENCE * self._timeout_s
        found = bytearray()
        # What has come by now, and not only whole parts: a server that drips would never fill one.
        read = getattr(answer.raw, "read1", answer.raw.read)
        with answer:
            while part := read(_PART, decode_content=True):
                found += part
                if len(found) > _LARGEST:
                    raise Unusable(f"{self._name}: an answer of more than {_LARGEST >> 20} MiB")
                if time.monotonic() > end:
                    raise Unusable(f"{self._name}: no whole answer within {_PATIENCE * self._timeout_s:g} s")
        return bytes(found)

    @property
    def _name(self) -> str:
        return f"{self.kind} at {self.url}"


def _authorization(access: Access) -> Callable[[requests.PreparedRequest], requests.PreparedRequest]:
    text = ""
    if access.token:
        text = f"Bearer {access.token}"
    elif access.user:
        text = "Basic " + base64.b64encode(f"{access.user}:{access.password}".encode()).decode()

    def sign(request: requests.PreparedRequest) -> requests.PreparedRequest:
        if text:
            request.headers["Authorization"] = text
        return request

    return sign


def _message(body: bytes) -> str:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    text = found.get("message") or found.get("error") if isinstance(found, dict) else ""
    return f": {' '.join(str(text).split())}" if text else ""


def _cause(error: BaseException) -> str:
    """The innermost reason: the outer ones of urllib3 repeat the address and an object's name."""
    seen = error
    while True:
        inner = getattr(seen, "reason", None)
        if not isinstance(inner, BaseException):
            inner = next((one for one in seen.args if isinstance(one, BaseException)), None)
        inner = inner or seen.__cause__
        if inner is None or inner is seen:
            break
        seen = inner
    text = getattr(seen, "strerror", None) or str(seen)
    return " ".join(text.partition(": ")[2].split() if text.startswith("<") or "object at 0x" in text else text.split())

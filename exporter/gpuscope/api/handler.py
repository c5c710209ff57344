"""What every answer has in common: access, methods, headers, errors."""

import json
import logging
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from tornado.httputil import HTTPServerRequest
from tornado.iostream import IOStream
from tornado.web import HTTPError, RequestHandler, stream_request_body

from gpuscope.api.answers import Answer
from gpuscope.api.auth import Verdict
from gpuscope.api.context import Context
from gpuscope.api.negotiation import wants_gzip
from gpuscope.api.tls import allowed_san

__all__ = ["ApiError", "Handler", "NotFoundHandler", "as_json"]

log = logging.getLogger(__name__)

_METHODS = ("GET", "HEAD")
_LONGEST_BODY = 1 << 16


class ApiError(HTTPError):
    """An error with a JSON body ``{"error": {"code", "message", …}}``.

    Args:
        status: HTTP status.
        code: word for programs.
        message: sentence for people.
        facts: further keys of the error object.
    """

    def __init__(self, status: int, code: str, message: str, **facts: object) -> None:
        super().__init__(status)
        self.body = {"error": {"code": code, "message": message, **facts}}


def as_json(document: Mapping[str, Any]) -> bytes:
    """A JSON document as bytes."""
    return json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def _stream_of(request: HTTPServerRequest) -> IOStream:
    """The connection that a request came on."""
    stream: IOStream = request.connection.stream  # type: ignore[union-attr]
    return stream


@stream_request_body
class Handler(RequestHandler):
    """Base of all handlers; a subclass gives ``answer``.

    Requests carry no body. One that has a short body all the same is refused after reading it: closing a connection
    with unread bytes resets it, and the client would never see the refusal.
    """

    _read = False  # whether the whole request is read

    @property
    def context(self) -> Context:
        """What all handlers share."""
        context: Context = self.application.settings["context"]
        return context

    def set_default_headers(self) -> None:
        """Starts every answer, errors included."""
        self.clear_header("Server")
        self.set_header("X-Content-Type-Options", "nosniff")
        self.set_header("Cache-Control", "no-store")
        self.add_configured_headers()

    def add_configured_headers(self) -> None:
        """Adds the headers of the web configuration, which win over our own."""
        for name, value in self.context.access.config.headers.items():
            self.set_header(name, value)

    def prepare(self) -> None:
        """Runs when the head of the request is there, and its body is not.

        Raises:
            HTTPError: 413 for a body that is not worth reading.
        """
        self.context.connections.asked(_stream_of(self.request))
        length = self.request.headers.get("Content-Length", "0")
        if length.isdecimal() and int(length) > _LONGEST_BODY:
            raise HTTPError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)

    async def get(self, *path: str) -> None:
        """Lets in who may come in, refuses a body, and answers."""
        self._read = True
        await self._admit()
        if self.request.headers.get("Content-Length", "0") != "0" or "Transfer-Encoding" in self.request.headers:
            raise HTTPError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        self.answer(*path)

    head = get

    def answer(self, *path: str) -> None:
        """Answers GET and HEAD."""
        raise NotImplementedError

    def refuse(self, *_: str) -> None:
        """Refuses every other method."""
        self._read = True
        raise HTTPError(HTTPStatus.METHOD_NOT_ALLOWED)

    post = put = patch = delete = options = refuse

    async def _admit(self) -> None:
        access = self.context.access
        tls = access.config.tls
        if tls is not None and tls.settings.allowed_sans:
            certificate = self.request.get_ssl_certificate()
            if not allowed_san(certificate if isinstance(certificate, dict) else None, tls.settings.allowed_sans):
                _stream_of(self.request).close()
                raise HTTPError(HTTPStatus.FORBIDDEN)  # nobody reads it
        if not access.bucket.take():
            raise HTTPError(HTTPStatus.TOO_MANY_REQUESTS)
        if access.users.required:
            header = self.request.headers.get("Authorization", "")
            verdict = await access.users.check(header, self.request.remote_ip or "")
            if verdict is Verdict.BUSY:
                raise HTTPError(HTTPStatus.TOO_MANY_REQUESTS)
            if verdict is Verdict.DENIED:
                raise HTTPError(HTTPStatus.UNAUTHORIZED)

    def data_received(self, chunk: bytes) -> None:
        """Drops a body."""

    def compute_etag(self) -> None:
        """No ETag: bodies change every cycle, and hashing them costs."""

    def on_finish(self) -> None:
        """Tells the connection list about the progress."""
        self.context.connections.answered(_stream_of(self.request))

    def send(self, body: bytes, content_type: str, *, status: int = HTTPStatus.OK, encoding: str = "") -> None:
        """Sends a finished body.

        The head goes first and the body is written as it is: Tornado would otherwise copy it behind the head, once
        per client that does not read.
        """
        self.set_status(status)
        self.set_header("Content-Type", content_type)
        self.set_header("Content-Length", str(len(body)))
        if encoding:
            self.set_header("Content-Encoding", encoding)
        if self.request.method != "HEAD":
            self.flush()
            self.write(body)
        self.finish()

    def send_text(self, text: str, status: int = HTTPStatus.OK) -> None:
        """Sends a line of plain text."""
        self.send(f"{text}\n".encode(), "text/plain; charset=utf-8", status=status)

    def send_json(self, document: Mapping[str, Any], status: int = HTTPStatus.OK) -> None:
        """Sends a JSON document."""
        self.send(as_json(document), "application/json", status=status)

    def send_answer(self, answer: Answer, content_type: str) -> None:
        """Sends a finished answer, compressed when the client likes that."""
        compressed = wants_gzip(self.request.headers.get("Accept-Encoding", ""))
        self.add_header("Vary", "Accept-Encoding")
        body = answer.packed() if compressed else answer.body
        self.send(body, content_type, encoding="gzip" if compressed else "")

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        """Answers an error: JSON below /api, a line of text elsewhere, never a traceback."""
        error = kwargs["exc_info"][1] if "exc_info" in kwargs else None
        phrase = HTTPStatus(status_code).phrase
        if status_code == HTTPStatus.METHOD_NOT_ALLOWED:
            self.set_header("Allow", ", ".join(_METHODS))
        elif status_code == HTTPStatus.UNAUTHORIZED:
            self.set_header("WWW-Authenticate", 'Basic realm="gpuscope", charset="UTF-8"')
        elif status_code == HTTPStatus.TOO_MANY_REQUESTS:
            self.set_header("Retry-After", "1")
        if not self._read:
            self.set_header("Connection", "close")  # Tornado is about to close it
        if isinstance(error, ApiError):
            self.send_json(error.body, status_code)
        elif f"{self.request.path}/".startswith("/api/"):
            code = phrase.lower().replace(" ", "_")
            self.send_json({"error": {"code": code, "message": phrase}}, status_code)
        else:
            self.send_text(f"{status_code} {phrase}", status_code)

    def log_exception(self, typ: Any, value: Any, tb: Any) -> None:
        """Logs what is our fault; a client's mistake is the client's business."""
        if not isinstance(value, HTTPError):
            log.error("request %s failed", self.request.path, exc_info=(typ, value, tb))


class NotFoundHandler(Handler):
    """Every path that does not exist."""

    def answer(self, *_: str) -> None:
        """404."""
        raise HTTPError(HTTPStatus.NOT_FOUND)

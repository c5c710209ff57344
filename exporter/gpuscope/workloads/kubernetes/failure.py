"""Why the Kubernetes API gave no answer: errors of the client library and of the server, as one kind of error."""

import contextlib
from collections.abc import Iterator

import httpx2
import msgspec
from lightkube.core.exceptions import ConfigError as LightkubeConfigError

from gpuscope.errors import SourceError

__all__ = ["ApiFailure", "refused", "told_in_stream", "translated"]

_REASONS = {401: "unauthorized", 403: "forbidden", 404: "not_found", 409: "conflict", 410: "expired", 429: "throttled"}


class ApiFailure(SourceError):
    """The API did not answer, or refused.

    Attributes:
        reason: ``unreachable``, ``unauthorized``, ``forbidden``, ``not_found``, ``conflict``, ``expired``,
            ``throttled``, ``malformed`` or ``server_error``.
        detail: what happened, without the path that was asked for.
    """

    def __init__(self, reason: str, path: str, detail: str) -> None:
        super().__init__(f"{path}: {detail}")
        self.reason = reason
        self.detail = detail

    @property
    def of_all(self) -> bool:
        """Whether it is no matter of one kind: nothing at all can be read."""
        return self.reason in {"unreachable", "unauthorized"}


class _Status(msgspec.Struct):
    code: int = 0
    message: str | None = None


@contextlib.contextmanager
def translated(path: str) -> Iterator[None]:
    """Errors of the client library become failures.

    Raises:
        ApiFailure: ``unreachable`` or ``malformed``.
    """
    try:
        yield
    except (
        httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError, RuntimeError, LightkubeConfigError, OSError
    ) as error:  # fmt: skip
        # A client that is closed while a request runs raises RuntimeError; a token that cannot be read, ConfigError or
        # OSError.
        raise ApiFailure("unreachable", path, str(error) or type(error).__name__) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ApiFailure("malformed", path, str(error)) from error


def refused(path: str, code: int, body: bytes) -> ApiFailure:
    """The failure that an answer with another status than success tells of."""
    try:
        message = _status.decode(body).message
    except (msgspec.DecodeError, UnicodeDecodeError):
        message = None
    return _failure(path, _Status(code, message))


def told_in_stream(path: str, status: msgspec.Raw) -> ApiFailure:
    """The failure that a watch ends with."""
    return _failure(path, _status.decode(status))


def _failure(path: str, status: _Status) -> ApiFailure:
    detail = f"{status.code} {status.message or ''}".strip()
    return ApiFailure(_REASONS.get(status.code, "server_error"), path, detail)


_status = msgspec.json.Decoder(_Status)

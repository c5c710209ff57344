"""Asks agents and collectors over HTTP."""

import os
import socket
from collections.abc import Iterator
from typing import TYPE_CHECKING

from gpuscope.table.jobs import JobsLook, read_jobs

if TYPE_CHECKING:
    import requests

__all__ = ["ask_jobs", "failure_of", "get", "open_session"]

_TIMEOUT_S = 5.0
_LONGEST = 300


def open_session(user: str | None = None, ca_file: str | None = None) -> "requests.Session":
    """A session that no proxy variables and no netrc file lead elsewhere.

    Args:
        user: ``NAME:PASSWORD`` of basic authentication.
        ca_file: certificate authority.
    """
    import requests

    session = requests.Session()
    session.trust_env = False
    if user:
        name, _, password = user.partition(":")
        session.auth = (name, password)
    if ca_file:
        session.verify = ca_file
    return session


def get(session: "requests.Session", url: str) -> "requests.Response":
    """The answer to a GET.

    Raises:
        requests.RequestException: there is none, or it is an error.
    """
    import requests
    from urllib3.exceptions import LocationParseError

    try:
        answer = session.get(url, timeout=_TIMEOUT_S)
    except (requests.exceptions.InvalidURL, LocationParseError) as error:  # no name of a host
        raise requests.ConnectionError(str(error)) from error
    answer.raise_for_status()
    return answer


def failure_of(error: Exception) -> str:
    """Why there is no answer, in a few words."""
    import requests

    if isinstance(error, requests.HTTPError) and error.response is not None:
        status = f"{error.response.status_code} {error.response.reason}"
        return ": ".join(filter(None, (status, _told(error.response))))
    words = {requests.exceptions.SSLError: "TLS failed", requests.Timeout: "no answer in time"}
    for kind, text in words.items():
        if isinstance(error, kind):
            return text
    causes = list(_causes(error))
    if any(isinstance(one, (socket.gaierror, UnicodeError, requests.exceptions.InvalidURL)) for one in causes):
        return "the name of the host does not resolve"
    reasons = (os.strerror(one.errno).lower() for one in causes if isinstance(one, OSError) and one.errno)
    return next(reasons, "the connection failed")


def _told(answer: "requests.Response") -> str:
    """What an error of our API says; empty where it is of somebody else."""
    try:
        told = answer.json()["error"]["message"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""
    if not isinstance(told, str):
        return ""
    # Whoever answers may be anybody, and the text goes to a terminal.
    return " ".join("".join(one if one.isprintable() else " " for one in told).split())[:_LONGEST]


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The error and what led to it; the library hands on a part of that as arguments and as reasons."""
    waiting, seen = [error], set[int]()
    while waiting:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        linked = (one.__cause__, one.__context__, getattr(one, "reason", None), *one.args)
        waiting += [other for other in linked if isinstance(other, BaseException)]


def ask_jobs(session: "requests.Session", address: str) -> JobsLook:
    """The jobs of a collector, or why there are none to be had."""
    import requests

    try:
        return read_jobs(get(session, f"{address}/api/v1/jobs").json())
    except (ValueError, RecursionError) as error:  # first, as what is no JSON is a RequestException too
        return JobsLook(problem=f"not a collector: {error}", answered=False)
    except requests.RequestException as error:
        return JobsLook(problem=f"unreachable: {failure_of(error)}", answered=False)

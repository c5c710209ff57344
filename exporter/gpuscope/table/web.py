"""Asks agents and collectors over HTTP."""

from typing import TYPE_CHECKING

from gpuscope.table.jobs import JobsLook, read_jobs

if TYPE_CHECKING:
    import requests

__all__ = ["ask_jobs", "failure_of", "get", "open_session"]

_TIMEOUT_S = 5.0


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
    answer = session.get(url, timeout=_TIMEOUT_S)
    answer.raise_for_status()
    return answer


def failure_of(error: Exception) -> str:
    """Why there is no answer, in a few words."""
    import requests

    if isinstance(error, requests.HTTPError) and error.response is not None:
        return f"{error.response.status_code} {error.response.reason}"
    words = {requests.exceptions.SSLError: "TLS failed", requests.Timeout: "no answer in time"}
    return next((text for kind, text in words.items() if isinstance(error, kind)), "connection refused")


def ask_jobs(session: "requests.Session", address: str) -> JobsLook:
    """The jobs of a collector, or why there are none to be had."""
    import requests

    try:
        return read_jobs(get(session, f"{address}/api/v1/jobs").json())
    except ValueError as error:  # first, as what is no JSON is a RequestException too
        return JobsLook(problem=f"not a collector: {error}", answered=False)
    except requests.RequestException as error:
        return JobsLook(problem=f"unreachable: {failure_of(error)}", answered=False)

"""Questions of the page, passed on to Prometheus: the browser needs no way to it, and sees no token."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable
from typing import Any

from gpuscope_generator.remote import Access, Server, Unusable

__all__ = ["Relay", "is_known"]

_KNOWN = re.compile(
    r"/api/v1/(query|query_range|series|labels|metadata|alerts|rules|label/[A-Za-z_][A-Za-z0-9_]*/values)"
)


def is_known(path: str) -> bool:
    """Whether a path only reads: nothing else is passed on, above all nothing of the administration."""
    return _KNOWN.fullmatch(path) is not None


class Relay:
    """Asks one Prometheus from several threads.

    Args:
        url: where it lives.
        access: how to get in.

    Raises:
        ConfigError: no URL of HTTP.
    """

    def __init__(self, url: str, access: Access) -> None:
        self._access = access
        self._threads = threading.local()
        self.url = Server("Prometheus", url, access).url

    def ask(self, method: str, path: str, pairs: Iterable[tuple[str, str]]) -> tuple[int, Any]:
        """Status and JSON; where Prometheus cannot be asked, 502 and an answer in its own form.

        Args:
            method: ``GET`` or ``POST``.
            path: a path that ``is_known``.
            pairs: names and values of the question.
        """
        # A session of requests belongs to one thread.
        if not hasattr(self._threads, "server"):
            self._threads.server = Server("Prometheus", self.url, self._access)
        content: dict[str, Any] = {"data" if method == "POST" else "params": list(pairs)}
        try:
            status, answer = self._threads.server.ask(method, path, **content)
        except Unusable as error:
            return 502, {"status": "error", "errorType": "unavailable", "error": str(error)}
        return status, answer

"""HTTP of a simulation: each exposition under its path, and a list of all at the root."""

import socket
from collections.abc import Sequence
from html import escape

from tornado.httpserver import HTTPServer
from tornado.web import Application, HTTPError, RequestHandler

from gpuscope.simulate.cluster.endpoints import Endpoint

__all__ = ["application", "start"]

_TEXT = "text/plain; version=0.0.4; charset=utf-8"


class _Metrics(RequestHandler):
    def initialize(self, found: dict[str, Endpoint]) -> None:
        self._found = found

    def get(self) -> None:
        endpoint = self._found.get(self.request.path)
        if endpoint is None:
            raise HTTPError(404)
        self.set_header("Content-Type", _TEXT)
        self.finish(endpoint.target.render())


class _List(RequestHandler):
    def initialize(self, found: dict[str, Endpoint]) -> None:
        self._found = found

    def get(self) -> None:
        rows = "\n".join(
            f"<li><a href='{escape(path)}'>{escape(path)}</a> {escape(endpoint.source.text)}</li>"
            for path, endpoint in self._found.items()
        )
        self.finish(f"<!doctype html><title>Simulated cluster</title><h1>Simulated cluster</h1><ul>\n{rows}\n</ul>\n")


def application(found: Sequence[Endpoint]) -> Application:
    """The server's pages."""
    pages = {"found": {endpoint.path: endpoint for endpoint in found}}
    return Application(
        [("/", _List, pages), ("/.*", _Metrics, pages)], log_function=lambda _: None, compress_response=True
    )


def start(found: Sequence[Endpoint], host: str, port: int) -> tuple[HTTPServer, int]:
    """Begins to listen, in the running event loop.

    Returns:
        The server, and its port.

    Raises:
        OSError: the address cannot be had.
    """
    listener = socket.create_server((host, port))
    listener.setblocking(False)
    server = HTTPServer(application(found))
    server.add_socket(listener)
    return server, int(listener.getsockname()[1])

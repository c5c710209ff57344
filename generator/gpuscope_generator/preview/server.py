"""The server of the preview: the page, the boards, and what Prometheus says."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import Application, HTTPError, RequestHandler, StaticFileHandler

from gpuscope.errors import ConfigError
from gpuscope_generator.preview.relay import Relay, is_known
from gpuscope_generator.preview.shelf import Shelf

__all__ = ["STATIC", "Preview", "application", "require_page", "serve"]

STATIC = Path(__file__).parent / "static"
"""The page as `make preview` builds it."""
_AT_ONCE = 8
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """What is served.

    Attributes:
        shelf: the boards.
        relay: the way to Prometheus.
        scrape_s: the scrape interval that Grafana's data source would name.
        static: folder with the built page.
    """

    shelf: Shelf
    relay: Relay
    scrape_s: float = 15.0
    static: Path = STATIC


def require_page(static: Path = STATIC) -> None:
    """Checks that the page is built.

    Raises:
        ConfigError: it is not; the text says what to run.
    """
    if not (static / "preview.js").is_file():
        raise ConfigError(
            f"the page of the preview is not built ({static / 'preview.js'} is missing): "
            "run `make preview` in a checkout, or install the wheel, which has it"
        )


class _Handler(RequestHandler):
    def initialize(self, preview: Preview, hosts: frozenset[str], workers: ThreadPoolExecutor) -> None:
        self.preview = preview
        self.hosts = hosts
        self.workers = workers

    def prepare(self) -> None:
        # A page of somebody else's that calls itself by another name must not read through this server.
        if self.hosts and self.request.host_name.strip("[]") not in self.hosts:
            raise HTTPError(403, reason="Unknown host name")
        self.set_header("Cache-Control", "no-store")
        self.set_header("X-Content-Type-Options", "nosniff")

    def check_xsrf_cookie(self) -> None:
        """Nothing can be changed here, so there is nothing to forge."""

    def write_error(self, status_code: int, **_: Any) -> None:
        self.answer(status_code, {"status": "error", "error": f"{status_code}: {self._reason}"})

    def answer(self, status: int, content: Any) -> None:
        """Sends JSON."""
        self.set_status(status)
        self.set_header("Content-Type", "application/json; charset=utf-8")
        self.finish(json.dumps(content, ensure_ascii=False))


class _Page(_Handler):
    def get(self) -> None:
        self.set_header("Content-Type", "text/html; charset=utf-8")
        self.finish((self.preview.static / "index.html").read_bytes())


class _Menu(_Handler):
    def get(self) -> None:
        try:
            boards = self.preview.shelf.current().menu()
        except ConfigError as error:
            self.answer(500, {"error": str(error)})
            return
        self.answer(200, {"boards": boards, "prometheus": self.preview.relay.url, "scrape_s": self.preview.scrape_s})


class _Board(_Handler):
    def get(self, uid: str) -> None:
        try:
            board = self.preview.shelf.current().boards.get(uid)
        except ConfigError as error:
            self.answer(500, {"error": str(error)})
            return
        if board is None:
            self.answer(404, {"error": f"no board has the uid {uid}"})
        else:
            self.answer(200, board)


class _Query(_Handler):
    async def get(self) -> None:
        await self._ask("GET", self.request.query)

    async def post(self) -> None:
        try:
            text = self.request.body.decode("utf-8")
        except UnicodeDecodeError as error:
            raise HTTPError(400, reason="Not UTF-8") from error
        await self._ask("POST", text)

    async def _ask(self, method: str, text: str) -> None:
        path = self.request.path
        if not is_known(path):
            raise HTTPError(404)
        pairs = parse_qsl(text, keep_blank_values=True)
        loop = asyncio.get_running_loop()
        status, answer = await loop.run_in_executor(self.workers, self.preview.relay.ask, method, path, pairs)
        self.answer(status, answer)


def application(preview: Preview, address: str, workers: ThreadPoolExecutor) -> Application:
    """The routes.

    Args:
        preview: what is served.
        address: where it listens; on the loopback only its own names are answered to.
        workers: threads that wait for Prometheus.
    """
    hosts = frozenset(_LOOPBACK) if address in _LOOPBACK else frozenset[str]()
    common = {"preview": preview, "hosts": hosts, "workers": workers}
    return Application(
        [
            (r"/", _Page, common),
            (r"/d/[A-Za-z0-9_-]+(?:/[A-Za-z0-9_-]*)?", _Page, common),
            (r"/api/boards", _Menu, common),
            (r"/api/boards/([A-Za-z0-9_-]+)", _Board, common),
            (r"/api/v1/.*", _Query, common),
            (r"/static/(.*)", StaticFileHandler, {"path": str(preview.static)}),
        ],
        log_function=lambda _: None,
    )


async def serve(preview: Preview, address: str, port: int, started: Callable[[str], None]) -> None:
    """Serves until it is interrupted or told to end.

    Args:
        preview: what is served.
        address: where to listen.
        port: 0 takes a free one.
        started: hears the address of the page.

    Raises:
        ConfigError: that port cannot be listened on.
    """
    try:
        sockets = bind_sockets(port, address)
    except OSError as error:
        raise ConfigError(f"--listen-address {address}:{port}: {error.strerror or error}") from error
    done = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, done.set)
    with ThreadPoolExecutor(_AT_ONCE) as workers:
        server = HTTPServer(application(preview, address, workers))
        server.add_sockets(sockets)
        shown = f"[{address}]" if ":" in address else address
        started(f"http://{shown}:{sockets[0].getsockname()[1]}")
        await done.wait()
        server.stop()
        await server.close_all_connections()

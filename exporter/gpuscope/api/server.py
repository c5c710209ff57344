"""The HTTP server: its own thread, its own event loop."""

import asyncio
import concurrent.futures
import logging
import re
import socket
import ssl
import threading
from collections.abc import Callable, Sequence
from typing import Any

from tornado.httpserver import HTTPServer
from tornado.iostream import IOStream
from tornado.web import Application, RequestHandler

from gpuscope.api.connections import Connections, raise_file_limit
from gpuscope.api.context import Access, Context
from gpuscope.api.handler import NotFoundHandler
from gpuscope.api.health import HealthyHandler, ReadyHandler
from gpuscope.api.json_api import ROUTES
from gpuscope.api.listen import address_of, bind
from gpuscope.api.scrape import ScrapeHandler
from gpuscope.api.settings import Source, WebSettings
from gpuscope.api.status import StatusHandler
from gpuscope.api.web_config import load_web_config

__all__ = ["AGENT_ROUTES", "Server"]

log = logging.getLogger(__name__)

_SWEEP_S = 1.0

AGENT_ROUTES: Sequence[tuple[str, type[RequestHandler]]] = (
    (r"/", StatusHandler),
    (r"/-/ready", ReadyHandler),
    *ROUTES,
)
"""Pages of the agent."""


class Server:
    """Serves metrics, health, the status page and the JSON API.

    Order of use: ``bind``, ``start``, any number of ``reload``, ``stop``. All methods belong to the caller's thread;
    requests are answered on a thread of the server's own.

    Args:
        source: where answers come from.
        settings: addresses, paths, limits.
        routes: pattern and handler of each page beside the metrics and ``/-/healthy``.
    """

    def __init__(
        self, source: Source, settings: WebSettings, routes: Sequence[tuple[str, type[RequestHandler]]] = AGENT_ROUTES
    ) -> None:
        self._source = source
        self._routes = routes
        self._settings = settings
        self._sockets: list[socket.socket] = []
        self._addresses: tuple[str, ...] = ()
        self._executor = concurrent.futures.ThreadPoolExecutor(max_workers=1, thread_name_prefix="gpuscope-bcrypt")
        self._context: Context | None = None
        self._thread: threading.Thread | None = None
        self._stop: Callable[[float], None] = lambda _: None

    @property
    def addresses(self) -> tuple[str, ...]:
        """Bound addresses with their true ports, for example ``('0.0.0.0:9836', '[::]:9836')``."""
        return self._addresses

    @property
    def scheme(self) -> str:
        """``https`` while TLS is configured, else ``http``."""
        return "https" if self._context is not None and self._context.access.config.tls is not None else "http"

    def bind(self) -> None:
        """Checks the web configuration and binds all addresses; nothing is answered before ``start``.

        Raises:
            ConfigError: a bad flag, file, key or certificate, or a port in use. Nothing stays open.
        """
        settings = self._settings
        settings.check()
        access = Access.of(load_web_config(settings.web_config_file), self._executor)
        limit = raise_file_limit(settings.max_connections)
        connections = Connections(limit, settings.header_timeout_s, settings.write_timeout_s)
        self._sockets = bind(settings.listen_addresses)
        self._addresses = tuple(address_of(opened) for opened in self._sockets)
        self._context = Context(self._source, settings, connections, access)

    def start(self) -> None:
        """Starts answering; returns when the first request can be taken."""
        context = self._context
        if context is None:
            raise RuntimeError("bind() comes before start()")
        # One line for every half-open connection is a second way to be flooded.
        logging.getLogger("tornado.general").setLevel(logging.ERROR)
        started = threading.Event()

        def run() -> None:
            try:
                asyncio.run(self._serve(context, started))
            finally:
                started.set()

        self._thread = threading.Thread(target=run, name="gpuscope-http", daemon=True)
        self._thread.start()
        started.wait()
        log.info("listening on %s", ", ".join(f"{self.scheme}://{address}" for address in self._addresses))

    def reload(self) -> None:
        """Reads the web configuration again; it holds for requests from now on, no listener is dropped.

        Raises:
            ConfigError: the new configuration is bad; the old one stays in force.
        """
        if self._context is not None:
            self._context.access = Access.of(load_web_config(self._settings.web_config_file), self._executor)

    def stop(self, deadline_s: float = 1.5) -> None:
        """Stops listening at once, lets answers under way finish until the deadline, and closes everything."""
        if self._thread is None:
            for opened in self._sockets:
                opened.close()
        else:
            if self._thread.is_alive():
                self._stop(deadline_s)
            self._thread.join()
            self._thread = None
        self._sockets = []
        self._executor.shutdown(wait=False, cancel_futures=True)

    async def _serve(self, context: Context, started: threading.Event) -> None:
        loop = asyncio.get_running_loop()
        stopping: asyncio.Future[float] = loop.create_future()

        def stop(deadline_s: float) -> None:
            loop.call_soon_threadsafe(stopping.set_result, deadline_s)

        self._stop = stop
        settings = context.settings
        http = _Http(
            _application(context, self._routes),
            context=context,
            max_header_size=settings.header_bytes,
            idle_connection_timeout=settings.idle_timeout_s,
            body_timeout=settings.header_timeout_s,
            max_buffer_size=1 << 20,
            max_body_size=1 << 16,
        )
        http.add_sockets(self._sockets)
        started.set()
        sweeper = loop.create_task(_sweep(context.connections))
        try:
            deadline_s = await stopping
            http.stop()
            end = loop.time() + deadline_s
            while context.connections.busy() and loop.time() < end:
                await asyncio.sleep(0.01)
        finally:
            sweeper.cancel()
            context.connections.close_all()
            await http.close_all_connections()


async def _sweep(connections: Connections) -> None:
    while True:
        await asyncio.sleep(_SWEEP_S)
        connections.sweep()


class _Http(HTTPServer):
    """Tornado's server with a list of connections and the TLS context of the moment."""

    _context: Context

    def initialize(self, *args: Any, context: Context, **kwargs: Any) -> None:  # type: ignore[override]
        self._context = context
        super().initialize(*args, **kwargs)

    @property
    def ssl_options(self) -> ssl.SSLContext | None:  # Tornado asks for every connection
        tls = self._context.access.config.tls
        return None if tls is None else tls.current()

    @ssl_options.setter
    def ssl_options(self, value: object) -> None:
        """Tornado's constructor sets ``None``."""

    def _handle_connection(self, connection: socket.socket, address: Any) -> None:
        try:
            connection.getpeername()
            super()._handle_connection(connection, address)
        except OSError as error:  # gone before TLS began: a port scan must not fill the log with tracebacks
            log.debug("a connection was gone at once: %s", error)
            connection.close()

    def handle_stream(self, stream: IOStream, address: Any) -> None:
        self._context.connections.opened(stream)
        super().handle_stream(stream, address)

    def on_close(self, server_conn: Any) -> None:
        self._context.connections.closed(server_conn.stream)
        super().on_close(server_conn)


def _application(context: Context, routes: Sequence[tuple[str, type[RequestHandler]]]) -> Application:
    own: list[tuple[str, type[RequestHandler]]] = [
        (re.escape(context.settings.telemetry_path), ScrapeHandler),  # first: it may be "/"
        (r"/-/healthy", HealthyHandler),
        *routes,
    ]
    return Application(
        own,
        default_handler_class=NotFoundHandler,
        context=context,
        log_function=lambda handler: log.debug("%s %s", handler.get_status(), handler.request.uri),
    )

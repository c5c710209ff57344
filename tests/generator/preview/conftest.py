"""A preview that runs: a stand-in for Prometheus, a page, and boards."""

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from tests.generator.quiet_server import QuietServer
from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets

from gpuscope_generator.preview.relay import Relay
from gpuscope_generator.preview.server import Preview, application
from gpuscope_generator.preview.shelf import Shelf, built
from gpuscope_generator.remote import Access
from gpuscope_generator.settings import Settings


@dataclass
class Upstream:
    """A server that answers every question with `content`, or what that gives for a path, and remembers questions."""

    url: str
    status: int = 200
    content: Any = field(default_factory=lambda: {"status": "success", "data": {"resultType": "vector", "result": []}})
    asked: list[tuple[str, str, str, str]] = field(default_factory=list)


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
            found.asked.append((self.command, self.path, body, self.headers.get("Authorization", "")))
            content = found.content(self.path) if callable(found.content) else found.content
            sent = json.dumps(content).encode()
            self.send_response(found.status)
            self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        do_GET = do_POST = _answer

        def log_message(self, *_: Any) -> None:
            """Quiet."""

    server = QuietServer(("127.0.0.1", 0), Handler)
    found = Upstream(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    yield found
    server.shutdown()
    thread.join(timeout=30)
    server.server_close()


@pytest.fixture
def static(tmp_path: Path) -> Path:
    """A page that is built, in its smallest form."""
    folder = tmp_path / "static"
    folder.mkdir()
    (folder / "index.html").write_text("<p>page</p>")
    (folder / "preview.js").write_text("1")
    return folder


@pytest.fixture
def preview(upstream: Upstream, static: Path) -> Iterator[Callable[..., str]]:
    """Starts a preview; gives its address."""
    stops: list[Callable[[], None]] = []

    def start(
        shelf: Shelf | None = None,
        access: Access | None = None,
        url: str = "",
        address: str = "127.0.0.1",
        page: Path = static,
    ) -> str:
        relay = Relay(url or upstream.url, access or Access())
        served = Preview(shelf=shelf or built(Settings()), relay=relay, static=page)
        ready = threading.Event()
        ports: list[int] = []
        ends: list[asyncio.Event] = []
        loop = asyncio.new_event_loop()

        async def run() -> None:
            done = asyncio.Event()
            ends.append(done)
            with ThreadPoolExecutor(2) as workers:
                server = HTTPServer(application(served, address, workers))
                sockets = bind_sockets(0, "127.0.0.1")
                server.add_sockets(sockets)
                ports.append(sockets[0].getsockname()[1])
                ready.set()
                await done.wait()
                server.stop()
                await server.close_all_connections()

        thread = threading.Thread(target=loop.run_until_complete, args=(run(),))
        thread.start()
        assert ready.wait(30)
        stops.append(lambda: loop.call_soon_threadsafe(ends[0].set))
        stops.append(lambda: thread.join(timeout=30))
        stops.append(loop.close)
        return f"http://127.0.0.1:{ports[0]}"

    yield start
    for stop in stops:
        stop()

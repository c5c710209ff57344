"""Why nobody answers, in the words of what went wrong."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from gpuscope.demo.children import free_port
from gpuscope.table.web import ask_jobs, open_session


@contextmanager
def answering(status: int, body: bytes) -> Iterator[str]:
    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Silent."""

    with HTTPServer(("127.0.0.1", 0), Page) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join(10)


def problem(address: str) -> str:
    with open_session() as session:
        look = ask_jobs(session, address)
    assert not look.answered
    return look.problem


@pytest.mark.parametrize(
    ("status", "body", "told"),
    [
        (
            503,
            b'{"error": {"code": "not_leader", "message": "/s.lock is locked by process 7 on vm, which leads"}}',
            "503 Service Unavailable: /s.lock is locked by process 7 on vm, which leads",
        ),
        (503, b'{"error": {"message": "a\\n\\u001bb"}}', "503 Service Unavailable: a b"),
        (503, b'{"error": {"message": "' + b"x" * 9999 + b'"}}', "503 Service Unavailable: " + "x" * 300),
        (503, b"<html>", "503 Service Unavailable"),
        (502, b'{"error": "no gateway"}', "502 Bad Gateway"),
        (500, b'{"error": {"message": 7}}', "500 Internal Server Error"),
        (500, b"[]", "500 Internal Server Error"),
    ],
)
def test_an_error_is_told_with_its_reason(status: int, body: bytes, told: str) -> None:
    with answering(status, body) as url:
        assert problem(url) == f"unreachable: {told}"


@pytest.mark.parametrize("host", ["nonsense.invalid", "a..b", "x" * 80])
def test_a_name_that_does_not_resolve_is_told_as_one(host: str) -> None:
    assert problem(f"http://{host}:9837") == "unreachable: the name of the host does not resolve"


def test_a_port_that_nobody_listens_on_is_told_as_one() -> None:
    assert problem(f"http://127.0.0.1:{free_port()}") == "unreachable: connection refused"

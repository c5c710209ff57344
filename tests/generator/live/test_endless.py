"""A server whose answer has no end, in bytes or in time, costs neither all memory nor the night."""

import socket
import threading
import time
from collections.abc import Iterator

import pytest

from gpuscope_generator import remote
from gpuscope_generator.remote import Access, Server, Unusable

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99999999999\r\n\r\n"


@pytest.fixture(params=[1000, 1])
def endless(request: pytest.FixtureRequest) -> Iterator[str]:
    """Answers one request with spaces, so many at once, until the client goes away."""
    listener = socket.create_server(("127.0.0.1", 0))
    listener.settimeout(30)

    def answer() -> None:
        connection, _ = listener.accept()
        with connection:
            connection.settimeout(30)
            connection.recv(65_536)
            try:
                connection.sendall(HEAD)
                for _ in range(1000):
                    connection.sendall(b" " * request.param)
                    time.sleep(0.02)
            except OSError:
                pass

    thread = threading.Thread(target=answer, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    listener.close()
    thread.join(timeout=30)


@pytest.mark.parametrize("endless", [1000], indirect=True)
def test_it_is_left_after_too_many_bytes(endless: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "_LARGEST", 2**17)
    with pytest.raises(Unusable, match="an answer of more than 0 MiB"):
        Server("Prometheus", endless, Access()).ask("GET", "/api/v1/query")


def test_it_is_left_after_too_long_a_time(endless: str) -> None:
    with pytest.raises(Unusable, match="no whole answer within 2 s"):
        Server("Prometheus", endless, Access(timeout_s=0.5)).ask("GET", "/api/v1/query")

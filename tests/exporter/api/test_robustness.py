"""Clients that misbehave do not stop the others."""

import contextlib
import re
import socket
import threading
import time

import pytest

from gpuscope.sampling.exposition import Exposition

REQUEST = b"GET /metrics HTTP/1.1\r\nHost: node\r\n\r\n"


def everything(connection: socket.socket) -> bytes:
    """Reads until the server closes."""
    parts = []
    with contextlib.suppress(ConnectionError):
        while part := connection.recv(65536):
            parts.append(part)
    return b"".join(parts)


def ask(client, request: bytes) -> bytes:
    with client.connect() as connection:
        connection.sendall(request)
        return everything(connection)


def one_answer(connection: socket.socket) -> bytes:
    """Reads one answer with a length and leaves the connection open."""
    data = b""
    while b"\r\n\r\n" not in data:
        part = connection.recv(65536)
        assert part, data
        data += part
    head, _, body = data.partition(b"\r\n\r\n")
    length = int(next(line for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")).split()[1])
    while len(body) < length:
        part = connection.recv(65536)
        assert part
        body += part
    assert len(body) == length
    return head


@pytest.fixture
def big(build):
    """A snapshot whose body is too big for socket buffers."""
    return build.snapshot_of(exposition=Exposition(foreign=("# HELP x y\n" * (1 << 20), "")))


def test_half_open_connections_beyond_the_limit_do_not_stop_scrapes(serve):
    client = serve(max_connections=40, header_timeout_s=3600.0)
    with contextlib.ExitStack() as stack:
        slow = []
        for number in range(160):
            slow.append(stack.enter_context(client.connect()))
            slow[-1].sendall(b"GET /metrics HTTP/1.1\r\nX-Slow: ")
            if number % 20 == 0:
                client.session.close()
                assert client.get("/metrics").status_code == 200
        for connection in slow:
            with contextlib.suppress(ConnectionError):
                connection.sendall(b"a")
        assert client.get("/metrics").status_code == 200
        assert everything(slow[0]) == b""  # evicted: the time for the head is not over


def test_a_client_that_asks_and_reads_is_not_evicted(serve):
    client = serve(max_connections=10, header_timeout_s=3600.0)
    with contextlib.ExitStack() as stack, client.connect() as steady:
        for _ in range(100):
            stack.enter_context(client.connect())
            steady.sendall(REQUEST)
            assert one_answer(steady).startswith(b"HTTP/1.1 200")


def test_idle_connections_give_way(serve):
    client = serve(max_connections=8)
    with contextlib.ExitStack() as stack:
        idle = []
        for _ in range(30):
            idle.append(stack.enter_context(client.connect()))
            idle[-1].sendall(REQUEST)
            assert one_answer(idle[-1]).startswith(b"HTTP/1.1 200")
        assert client.get("/metrics").status_code == 200
        assert everything(idle[0]) == b""


def test_a_head_that_never_ends_is_cut_off(serve):
    client = serve(header_timeout_s=0.5)
    with client.connect() as slow:
        slow.sendall(b"GET /metrics HTTP/1.1\r\n")
        assert everything(slow) == b""


def test_trickling_bytes_do_not_extend_the_time(serve):
    client = serve(header_timeout_s=1.0)
    with client.connect() as slow:
        slow.settimeout(0.05)
        end = time.monotonic() + 60
        slow.sendall(b"GET /metrics HTTP/1.1\r\nX: ")
        with contextlib.suppress(ConnectionError):
            while time.monotonic() < end:
                slow.sendall(b"a")
                with contextlib.suppress(TimeoutError):
                    if not slow.recv(100):
                        break
        assert time.monotonic() < end


def test_a_client_that_does_not_read_is_cut_off_and_the_others_are_served(serve, big, wait_for):
    client = serve(write_timeout_s=1.0)
    client.source.now = big
    body = big.exposition.body()
    with client.connect() as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        deaf.sendall(REQUEST * 4)
        answer = client.get("/metrics", headers={"Accept-Encoding": "identity"})
        assert answer.content == body
        time.sleep(3)
        received = everything(deaf)
    assert len(received) < 4 * len(body)


def test_a_client_that_reads_slowly_gets_all(serve, big):
    client = serve(write_timeout_s=60.0)
    client.source.now = big
    with client.connect() as slow:
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16384)
        slow.sendall(REQUEST)
        time.sleep(1.5)
        assert one_answer(slow).startswith(b"HTTP/1.1 200")


def test_heads_above_the_limit_are_refused(client):
    for junk in (b"X-Big: " + b"a" * 65536, b"X: y\r\n" * 12000):
        answer = ask(client, b"GET /metrics HTTP/1.1\r\nHost: node\r\n" + junk + b"\r\n\r\n")
        assert answer == b"" or answer.startswith((b"HTTP/1.1 431", b"HTTP/1.1 400"))
    assert ask(client, b"GET /" + b"a" * 65536 + b" HTTP/1.1\r\n\r\n")[:12] in {b"", b"HTTP/1.1 431", b"HTTP/1.1 414"}
    assert client.get("/metrics", headers={"X-Fits": "a" * 7000}).status_code == 200


@pytest.mark.parametrize(
    "garbage",
    [
        b"\x00\x01\x02\x03\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x55" * 300 + b"\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET /metrics\r\n\r\n",
        b"GET /metrics HTTP/9.9\r\n\r\n",
        b"GET /metrics HTTP/1.1\r\nno colon here\r\n\r\n",
        b"GET /metrics HTTP/1.1\r\nHost: a\r\nContent-Length: -5\r\n\r\n",
        b"GET /metrics HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"GET /metrics HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nnonsense\r\n",
        b"GET /metrics HTTP/1.1\r\nHost: a\r\nHost: b\r\nContent-Length: 3, 4\r\n\r\nabcd",
        b"\r\n" * 5000,
    ],
)
def test_garbage_gets_an_error_or_nothing(client, garbage):
    with client.connect() as connection:
        connection.sendall(garbage)
        connection.shutdown(socket.SHUT_WR)
        answer = everything(connection)
    assert answer == b"" or answer.startswith(b"HTTP/1.1 4"), answer[:200]
    assert client.get("/metrics").status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        "/../../etc/passwd",
        "/..%2f..%2fetc%2fpasswd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "//etc/passwd",
        "/metrics/",
        "/metrics/../metrics",
        "/METRICS",
        "/%00",
        "/%ff",
        "/-/",
        "/-/quit",
        "/favicon.ico",
        "/static/../../x",
        "/debug/pprof/",
    ],
)
def test_bad_paths_are_not_found(client, path):
    answer = ask(client, f"GET {path} HTTP/1.1\r\nHost: node\r\nConnection: close\r\n\r\n".encode())
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith((b"HTTP/1.1 404 Not Found", b"HTTP/1.1 400 Bad Request"))
    assert b"root:" not in answer
    if head.startswith(b"HTTP/1.1 404"):
        assert b"Content-Type: text/plain; charset=utf-8" in head
        assert body == b"404 Not Found\n"


@pytest.mark.parametrize("uuid", ["%ff%fe", "%00", "..%2f..", "a" * 3000, "%3Cscript%3E"])
def test_bad_ids_get_json(client, uuid):
    answer = client.get(f"/api/v1/gpus/{uuid}")
    assert answer.status_code in {400, 404}
    assert answer.headers["Content-Type"] == "application/json"
    assert "code" in answer.json()["error"]


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "BREW"])
@pytest.mark.parametrize("path", ["/metrics", "/", "/nowhere"])
def test_only_get_and_head(client, method, path):
    answer = client.session.request(method, client.url + path, timeout=30)
    assert answer.status_code == 405
    assert answer.headers["Allow"] == "GET, HEAD"
    assert client.get("/metrics").status_code == 200


def test_bodies_are_refused(client):
    for options in ({"data": b"x" * 100}, {"data": iter([b"x" * 100])}):
        assert client.session.get(client.url + "/metrics", timeout=30, **options).status_code == 413
    huge = ask(client, b"GET /metrics HTTP/1.1\r\nHost: node\r\nContent-Length: 10000000\r\n\r\n")
    assert huge.startswith(b"HTTP/1.1 413")
    assert b"Connection: close" in huge


def test_a_body_that_never_comes_is_not_waited_for(serve):
    client = serve(header_timeout_s=0.5)
    assert b"200 OK" not in ask(client, b"GET /metrics HTTP/1.1\r\nHost: node\r\nContent-Length: 5\r\n\r\n")


def test_pipelined_requests_are_answered_in_order(client):
    paths = [b"/-/healthy", b"/nowhere", b"/-/ready"] * 20
    requests = b"".join(b"GET " + path + b" HTTP/1.1\r\nHost: node\r\n\r\n" for path in paths)
    last = b"GET /-/ready HTTP/1.1\r\nHost: node\r\nConnection: close\r\n\r\n"
    answer = ask(client, requests + last)
    statuses = re.findall(rb"HTTP/1\.1 (\d+)", answer)
    assert len(statuses) == 61
    assert statuses[:3] == [b"200", b"404", b"200"]


def test_old_clients_get_one_answer_and_the_end(client):
    answer = ask(client, b"GET /-/healthy HTTP/1.0\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 200")
    assert answer.endswith(b"gpuscope is healthy\n")


def test_failures_show_no_traceback(client, caplog):
    client.source.broken = True
    for path in ("/metrics", "/", "/-/ready"):
        answer = client.get(path)
        assert answer.status_code == 500
        assert answer.text == "500 Internal Server Error\n"
    assert caplog.text.count("secret detail of the source") >= 3
    client.source.broken = False
    assert client.get("/metrics").status_code == 200


def test_stop_lets_an_answer_finish(serve, big):
    client = serve()
    client.source.now = big
    with client.connect() as reader:
        reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        reader.sendall(REQUEST)
        assert reader.recv(1000).startswith(b"HTTP/1.1 200")
        stopper = threading.Thread(target=client.server.stop, args=(30.0,))
        stopper.start()
        rest = everything(reader)
        stopper.join()
    assert rest.endswith(big.exposition.body()[-200:])


def test_stop_does_not_wait_for_who_does_not_read(serve, big):
    client = serve()
    client.source.now = big
    with client.connect() as deaf, client.connect() as idle, client.connect() as half:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.sendall(REQUEST)
        half.sendall(b"GET /")
        assert deaf.recv(10)
        client.server.stop(0.2)
        assert everything(idle) == b""
        assert everything(half) == b""
    with pytest.raises(ConnectionRefusedError):
        client.connect()

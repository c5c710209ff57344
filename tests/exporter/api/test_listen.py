"""Listen addresses and flags that cannot work."""

import contextlib
import socket

import pytest
import requests
from hypothesis import given
from hypothesis import strategies as st

from gpuscope.api import Server, WebSettings
from gpuscope.api.listen import parse_address
from gpuscope.errors import ConfigError


def bind(source, **settings):
    server = Server(source, WebSettings(**settings))
    try:
        server.bind()
        return server.addresses
    finally:
        server.stop()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (":9836", ("", 9836)),
        ("127.0.0.1:0", ("127.0.0.1", 0)),
        ("[::1]:9836", ("::1", 9836)),
        ("localhost:65535", ("localhost", 65535)),
    ],
)
def test_addresses(text, expected):
    assert parse_address(text) == expected


@pytest.mark.parametrize(
    "text", ["", "9836", "host", "host:", "::1:9836", "[::1]", "host:-1", "host:99999", "h:٣", "a:1:2"]
)
def test_malformed_addresses_name_flag_and_text(text):
    with pytest.raises(ConfigError) as caught:
        parse_address(text)
    assert "--web.listen-address" in str(caught.value)
    assert repr(text) in str(caught.value)


@given(st.text(max_size=40))
def test_any_text_parses_or_is_refused(text):
    with contextlib.suppress(ConfigError):
        assert 0 <= parse_address(text)[1] <= 65535


def test_a_port_in_use_names_flag_and_address_and_leaves_nothing_open(source):
    with socket.create_server(("127.0.0.1", 0)) as taken, socket.create_server(("127.0.0.1", 0)) as probe:
        port = taken.getsockname()[1]
        free = probe.getsockname()[1]
        probe.close()
        with pytest.raises(ConfigError, match=rf"--web.listen-address '127.0.0.1:{port}': the port is in use"):
            bind(source, listen_addresses=(f"127.0.0.1:{free}", f"127.0.0.1:{port}"))
        with socket.create_server(("127.0.0.1", free)):
            pass


def test_an_address_of_another_machine(source):
    with pytest.raises(ConfigError, match=r"'192.0.2.1:0': this machine has no such address"):
        bind(source, listen_addresses=("192.0.2.1:0",))


def test_an_unknown_host(source):
    with pytest.raises(ConfigError, match=r"--web.listen-address 'no such host:0': 'no such host'"):
        bind(source, listen_addresses=("no such host:0",))


def test_a_name_with_several_addresses_gets_one_port(source):
    ports = {address.rpartition(":")[2] for address in bind(source, listen_addresses=("localhost:0",))}
    assert len(ports) == 1


def test_several_addresses_answer(serve):
    client = serve(listen_addresses=("127.0.0.1:0", "127.0.0.1:0"))
    assert len(client.server.addresses) == 2
    for address in client.server.addresses:
        assert requests.get(f"http://{address}/-/ready", timeout=30, proxies={"http": ""}).status_code == 200


@pytest.mark.parametrize("path", ["metrics", "", "/api", "/api/v1/gpus", "/-/ready", "/a b", "/a?b", "/%41"])
def test_telemetry_paths_that_cannot_work(source, path):
    with pytest.raises(ConfigError, match=r"--web\.telemetry-path"):
        bind(source, listen_addresses=("127.0.0.1:0",), telemetry_path=path)


def test_no_address_at_all(source):
    with pytest.raises(ConfigError, match=r"--web\.listen-address"):
        bind(source, listen_addresses=())


def test_start_before_bind_is_a_mistake(source):
    with pytest.raises(RuntimeError, match="bind"):
        Server(source, WebSettings()).start()


def test_stop_twice_and_before_start(source):
    server = Server(source, WebSettings(listen_addresses=("127.0.0.1:0",)))
    server.stop()
    server.bind()
    server.stop()
    server.stop()

"""Where agents are asked: the URLs that are set, and the addresses that they stand for."""

import socket
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from gpuscope.errors import ConfigError

__all__ = ["Target", "check_urls", "targets"]

_NODE = "{node}"
_PATH = "/api/v1/faults"


@dataclass(frozen=True, slots=True)
class Target:
    """One agent.

    Attributes:
        secure: whether it is asked over TLS.
        host: name in its URL, which its certificate has to name too.
        port: of it.
        path: of its faults.
        address: host or IP address that is connected to.
    """

    secure: bool
    host: str
    port: int
    path: str
    address: str


def check_urls(urls: Iterable[str]) -> tuple[str, ...]:
    """The base URLs of agents.

    Raises:
        ConfigError: one is none.
    """
    found = tuple(urls)
    for url in found:
        try:
            parts = urlsplit(url.replace(_NODE, "node"))
            wrong = parts.scheme not in {"http", "https"} or not parts.hostname or parts.port == 0
        except ValueError:
            wrong = True
        if wrong or "{" in url.replace(_NODE, "") or parts.query or parts.fragment or parts.username:
            raise ConfigError(f"--agents {url!r}: is no URL such as http://{_NODE}:9836")
        # A path may tell a gateway which node is meant; any other one is that of a page of the agent.
        if parts.path not in {"", "/"} and _NODE not in url.partition("://")[2].partition("/")[2]:
            raise ConfigError(f"--agents {url!r}: {_PATH} is asked there, so that the URL has to end with the port")
    return found


def targets(urls: Iterable[str], nodes: Iterable[str]) -> Iterator[Target]:
    """Every agent that these URLs stand for.

    Args:
        urls: base URLs. ``{node}`` in one stands for the name of every node; the host of one without it may have many
            addresses, as a headless service of Kubernetes has, and all of them are asked.
        nodes: names of nodes.

    Yields:
        Agents; one without an address for a host that has none.
    """
    known = tuple(nodes)
    for url in urls:
        if _NODE in url:
            for name in known:
                try:
                    one = _target(url.replace(_NODE, name))
                except ValueError:
                    yield Target(False, name, 0, _PATH, "")
                else:
                    yield Target(one.secure, one.host, one.port, one.path, one.host)
        else:
            yield from _addresses(_target(url))


def _target(url: str) -> Target:
    parts = urlsplit(url)
    secure = parts.scheme == "https"
    return Target(
        secure, parts.hostname or "", parts.port or (443 if secure else 80), parts.path.rstrip("/") + _PATH, ""
    )


def _addresses(one: Target) -> Iterator[Target]:
    try:
        found = socket.getaddrinfo(one.host, one.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        yield one
        return
    for address in sorted({str(info[4][0]) for info in found}):
        yield Target(one.secure, one.host, one.port, one.path, address)

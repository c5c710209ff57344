"""Listen addresses: from ``host:port`` to bound sockets."""

import errno
import os
import re
import socket

from gpuscope.errors import ConfigError

__all__ = ["address_of", "bind", "parse_address"]

_FLAG = "--web.listen-address"
_ADDRESS = re.compile(r"(?:\[(?P<six>[^\[\]]+)\]|(?P<host>[^\[\]:]*)):(?P<port>[0-9]{1,5})", re.ASCII)
_BACKLOG = 1024  # the kernel caps it at net.core.somaxconn


def parse_address(text: str) -> tuple[str, int]:
    """Takes ``host:port`` apart; an empty host means all addresses.

    Raises:
        ConfigError: not an address; the message names the flag and the text.
    """
    match = _ADDRESS.fullmatch(text)
    if match is None:
        raise ConfigError(f"{_FLAG} {text!r}: expected HOST:PORT, [IPV6]:PORT or :PORT")
    port = int(match["port"])
    if port > 65535:
        raise ConfigError(f"{_FLAG} {text!r}: port {port} is above 65535")
    return match["six"] or match["host"] or "", port


def bind(addresses: tuple[str, ...]) -> list[socket.socket]:
    """Binds and listens on every address; a name may give several sockets. On an error none stays open.

    Raises:
        ConfigError: an address is malformed, in use, unknown or not permitted; the message names flag and address.
    """
    sockets: list[socket.socket] = []
    try:
        for text in addresses:
            _bind_one(text, sockets)
    except BaseException:
        for opened in sockets:
            opened.close()
        raise
    return sockets


def _bind_one(text: str, sockets: list[socket.socket]) -> None:
    host, port = parse_address(text)
    try:
        found = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (socket.gaierror, UnicodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a host name"
        raise ConfigError(f"{_FLAG} {text!r}: {host!r}: {reason}") from error
    bound = 0
    for family, _, _, _, target in sorted(set(found), key=lambda entry: entry[0]):
        # Port 0 on "all addresses" must be one port for both families.
        wanted = (target[0], port or bound, *target[2:])
        opened = _open(family, wanted, text, optional=bound != 0 and family == socket.AF_INET6)
        if opened is not None:
            sockets.append(opened)
            bound = opened.getsockname()[1]
    if not bound:
        raise ConfigError(f"{_FLAG} {text!r}: no address to listen on")


def _open(
    family: socket.AddressFamily, target: tuple[object, ...], text: str, *, optional: bool
) -> socket.socket | None:
    try:
        opened = socket.socket(family, socket.SOCK_STREAM)
    except OSError as error:
        if error.errno == errno.EAFNOSUPPORT:
            return None
        raise ConfigError(f"{_FLAG} {text!r}: {_reason(error)}") from error
    try:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            opened.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        opened.setblocking(False)
        opened.bind(target)
        opened.listen(_BACKLOG)
    except OSError as error:
        opened.close()
        if optional and error.errno == errno.EADDRNOTAVAIL:  # containers with IPv6 switched off halfway
            return None
        raise ConfigError(f"{_FLAG} {text!r}: {_reason(error)}") from error
    return opened


def _reason(error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return "the port is in use by another program"
    if error.errno == errno.EACCES:
        return "no permission to use this port"
    if error.errno == errno.EADDRNOTAVAIL:
        return "this machine has no such address"
    return os.strerror(error.errno or 0)


def address_of(opened: socket.socket) -> str:
    """A bound socket's address as ``127.0.0.1:9836`` or ``[::]:9836``."""
    host, port = opened.getsockname()[:2]
    return f"[{host}]:{port}" if opened.family == socket.AF_INET6 else f"{host}:{port}"

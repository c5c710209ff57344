"""Values of the settings below ``alertmanager``: each is checked where its key and its line are known."""

from __future__ import annotations

import re
from collections.abc import Collection

from gpuscope_generator.lines import Node, nearest

__all__ = ["address", "duration", "entries", "names", "path_of_secret", "url", "whole"]

_ATOM = r"[^@\s<>()\[\]{},;:.\\\"]+"
_ADDRESS = re.compile(rf"{_ATOM}(\.{_ATOM})*@{_ATOM}(\.{_ATOM})*")
"""Without braces, as Alertmanager takes an address for a template."""
_HOST = r"(\[[0-9a-fA-F:.]+\]|[^/\s?#\"<>\[\]{}:@\\^`|%]+)(:(?P<port>[0-9]{1,5}))?"
_URL = re.compile(rf"https?://{_HOST}(/([^\s\"<>{{}}\\^`|%]|%[0-9a-fA-F]{{2}})*)?")
_PASSWORD = re.compile(r"https?://[^/\s?#]*@.*")
_SECRETS = {
    "api_url": "api_url_file",
    "slack_api_url": "api_url_file",
    "routing_key": "routing_key_file",
    "service_key": "routing_key_file",
    "integration_key": "routing_key_file",
    "auth_password": "auth_password_file",
    "password": "auth_password_file",
    "token": "token_file",
    "bearer_token": "token_file",
    "credentials": "token_file",
}
"""Keys with which other configurations take a secret itself, and what stands for them here."""


def entries(node: Node, key: str, known: Collection[str], needed: Collection[str] = ()) -> dict[str, Node]:
    """The entries of a mapping with known keys.

    Raises:
        ConfigError: an unknown key, one that holds a secret, or one that is missing.
    """
    found = node.mapping(key)
    for name, inner in found.items():
        path = f"{key}.{name}"
        if name not in known and name in _SECRETS:
            raise inner.error(
                path, f"a secret stands in a file of its own; give {_SECRETS[name]}, the path of that file"
            )
        if name not in known:
            raise inner.error(path, f"no such setting{nearest(name, known) or '; there are ' + ', '.join(known)}")
    for name in needed:
        if name not in found:
            raise node.error(key, f"{name} is missing")
    return found


def names(node: Node, key: str) -> tuple[str, ...]:
    """A list of names, each once.

    Raises:
        ConfigError: something else, an empty list, or one of them twice.
    """
    found = node.texts(key)
    if not found:
        raise node.error(key, "names nobody; leave the key out instead")
    for name in found:
        if found.count(name) > 1:
            raise node.error(key, f"{name!r} stands there twice")
    return found


def path_of_secret(node: Node, key: str) -> str:
    """The absolute path of a file, as Alertmanager will see it.

    Raises:
        ConfigError: something else, such as the secret itself.
    """
    text = node.text(key)
    if not text.startswith("/") or text.startswith("//") or text.endswith("/") or "\n" in text:
        raise node.error(key, "must be the absolute path of a file that holds the secret, as Alertmanager sees it")
    return text


def url(node: Node, key: str) -> str:
    """An address over HTTP that holds no password.

    Raises:
        ConfigError: something else.
    """
    text = node.text(key)
    if _PASSWORD.fullmatch(text):
        raise node.error(key, "holds a password: a secret stands in a file of its own; give url_file")
    found = _URL.fullmatch(text)
    if found is None or int(found["port"] or 80) not in range(1, 65_536):
        raise node.error(key, f"{text!r} is no address like https://host/path")
    return text


def address(node: Node, key: str) -> str:
    """An address of mail.

    Raises:
        ConfigError: something else.
    """
    text = node.text(key)
    if not _ADDRESS.fullmatch(text):
        raise node.error(key, f"{text!r} is no address like somebody@example.org")
    return text


def whole(node: Node, key: str, low: int, high: int) -> int:
    """A whole number between two others.

    Raises:
        ConfigError: something else.
    """
    value = node.number(key)
    if not value.is_integer():
        raise node.error(key, f"{value:g} is not a whole number")
    if not low <= value <= high:
        raise node.error(key, f"{value:g} is not between {low} and {high}")
    return int(value)


def duration(node: Node, key: str, low: int, high: int) -> int:
    """Seconds of a duration such as ``5m``.

    Raises:
        ConfigError: something else, or not between the two.
    """
    from gpuscope_generator.promql.filling import seconds
    from gpuscope_generator.rules.text import duration as spelled

    text = node.text(key)
    try:
        value = 0.0 if text == "0s" else seconds(text)
    except ValueError as error:
        raise node.error(key, str(error)) from error
    if not (low <= value <= high and value == int(value)):
        raise node.error(key, f"{text} is not between {spelled(low)} and {spelled(high)} in whole seconds")
    return int(value)

"""One receiver of the settings."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from gpuscope_generator.alertmanager.fields import address, entries, path_of_secret, url, whole
from gpuscope_generator.alertmanager.model import Email, PagerDuty, Receiver, Slack, Webhook
from gpuscope_generator.lines import Node, nearest

__all__ = ["read_receiver"]

_TYPES: Mapping[str, type[Any]] = {"slack": Slack, "email": Email, "pagerduty": PagerDuty, "webhook": Webhook}
_EITHER = {"slack": ("api_url_file", "token_file"), "webhook": ("url", "url_file")}
"""Of these each receiver of the type has exactly one."""


def read_receiver(node: Node, key: str) -> Receiver:
    """Reads it.

    Raises:
        ConfigError: an unknown type or key, or something missing; file, line and key are named.
    """
    given = node.mapping(key)
    if "type" not in given:
        raise node.error(key, f"type is missing: one of {', '.join(_TYPES)}")
    kind = given["type"].text(f"{key}.type")
    if kind not in _TYPES:
        text = f"unknown type of receiver: {kind!r}{nearest(kind, _TYPES) or '; there are ' + ', '.join(_TYPES)}"
        raise given["type"].error(f"{key}.type", text)
    fields = dataclasses.fields(_TYPES[kind])
    needed = [field.name for field in fields if field.default is dataclasses.MISSING]
    checked = entries(node, key, [field.name for field in fields], needed)
    found = {name: _READ.get(name, Node.text)(inner, f"{key}.{name}") for name, inner in checked.items()}
    either = _EITHER.get(kind, ())
    if either and sum(name in found for name in either) != 1:
        raise node.error(key, f"needs {either[0]} or {either[1]}, and not both")
    if kind == "slack" and "token_file" in found and "channel" not in found:
        raise node.error(key, "channel is missing: a bot must be told where to write")
    made: Receiver = _TYPES[kind](**found)
    return made


def _addresses(node: Node, key: str) -> tuple[str, ...]:
    if node.kind == "str":
        return (address(node, key),)
    if not node.texts(key):
        raise node.error(key, "names nobody")
    lines = (one.start_mark.line + 1 if node.line else 0 for one in node.node.value)
    items = zip(lines, node.node.value, strict=True)
    return tuple(address(Node(node.file, line, one, node.source), key) for line, one in items)


def _channel(node: Node, key: str) -> str:
    text = node.text(key)
    # Alertmanager takes it for a template.
    if not text.strip() or any(letter.isspace() for letter in text) or "{{" in text:
        raise node.error(key, f"{text!r} is no channel like '#gpu-oncall'")
    return text


_READ: Mapping[str, Callable[[Node, str], Any]] = {
    "to": _addresses,
    "channel": _channel,
    "api_url_file": path_of_secret,
    "token_file": path_of_secret,
    "routing_key_file": path_of_secret,
    "url_file": path_of_secret,
    "url": url,
    "max_alerts": lambda node, key: whole(node, key, 0, 1000),
    "send_resolved": Node.switch,
}

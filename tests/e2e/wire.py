"""Objects as clients send them: JSON, YAML, or for Secrets, in which Helm keeps releases, Kubernetes' form of protobuf.

Numbers of fields: ``k8s.io/apimachinery/pkg/runtime/generated.proto``, ``…/apis/meta/v1/generated.proto`` and
``k8s.io/api/core/v1/generated.proto``.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

import yaml

__all__ = ["decoded"]

MAGIC = b"k8s\x00"
Object = dict[str, Any]


def decoded(body: bytes) -> Object:
    """The object in a request.

    Raises:
        ValueError: protobuf of something that is no Secret.
    """
    if not body.startswith(MAGIC):
        return dict(json.loads(body) if body.startswith(b"{") else yaml.safe_load(body))
    unknown = dict(_fields(body[len(MAGIC) :]))
    about = dict(_fields(unknown[1]))
    kind = about[2].decode()
    if kind != "Secret":
        raise ValueError(f"{kind}: only Secrets are read as protobuf")
    secret: Object = {"apiVersion": "v1", "kind": kind, "data": {}, "metadata": {}}
    for number, value in _fields(unknown[2]):
        match number:
            case 1:
                secret["metadata"] = _meta(value)
            case 2:
                name, data = _entry(value)
                secret["data"][name] = base64.b64encode(data).decode()
            case 3:
                secret["type"] = value.decode()
    return secret


def _meta(message: bytes) -> Object:
    meta: Object = {}
    for number, value in _fields(message):
        match number:
            case 1:
                meta["name"] = value.decode()
            case 3:
                meta["namespace"] = value.decode()
            case 11 | 12:
                name, text = _entry(value)
                meta.setdefault("labels" if number == 11 else "annotations", {})[name] = text.decode()
    return meta


def _entry(message: bytes) -> tuple[str, bytes]:
    parts = dict(_fields(message))
    return parts.get(1, b"").decode(), parts.get(2, b"")


def _fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """Numbers and contents of the fields of a message; numbers and times, which nothing here needs, are empty."""
    place = 0
    while place < len(message):
        tag, place = _number(message, place)
        match tag & 7:
            case 0:
                _, place = _number(message, place)
                yield tag >> 3, b""
            case 2:
                size, place = _number(message, place)
                yield tag >> 3, message[place : place + size]
                place += size
            case kind:
                place += {1: 8, 5: 4}[kind]


def _number(message: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[place]
        place += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, place

"""Secrets in the binary form in which Helm 3 sends its records."""

import base64
from collections.abc import Iterator
from typing import Any

__all__ = ["MAGIC", "secret"]

MAGIC = b"k8s\x00"
_VARINT, _BYTES = 0, 2


def secret(data: bytes) -> dict[str, Any]:
    """A Secret as JSON has it: metadata and data.

    Raises:
        AssertionError: it is none, or has a field of a kind that no Secret has.
    """
    unknown = dict(_fields(data.removeprefix(MAGIC)))
    kind = dict(_fields(unknown[1]))
    assert kind[2] == b"Secret"
    found: dict[str, Any] = {"apiVersion": "v1", "kind": "Secret", "metadata": {"labels": {}}, "data": {}}
    for number, value in _fields(unknown[2]):
        if number == 1:
            names = {1: "name", 3: "namespace"}
            for field, text in _fields(value):
                if field in names and text:
                    found["metadata"][names[field]] = text.decode()
                elif field == 11:
                    entry = dict(_fields(text))
                    found["metadata"]["labels"][entry[1].decode()] = entry[2].decode()
        elif number == 2:
            entry = dict(_fields(value))
            found["data"][entry[1].decode()] = base64.b64encode(entry[2]).decode()
        elif number == 3:
            found["type"] = value.decode()
    return found


def _fields(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Number and content of each field; numbers have none."""
    place = 0
    while place < len(data):
        key, place = _varint(data, place)
        if key & 7 == _VARINT:
            _, place = _varint(data, place)
            yield key >> 3, b""
            continue
        assert key & 7 == _BYTES
        length, place = _varint(data, place)
        yield key >> 3, data[place : place + length]
        place += length


def _varint(data: bytes, place: int) -> tuple[int, int]:
    value, shift = 0, 0
    while True:
        byte = data[place]
        value |= (byte & 0x7F) << shift
        place, shift = place + 1, shift + 7
        if byte < 0x80:
            return value, place

"""NVML return codes of the simulated driver, and how its functions write their answers."""

import ctypes
import struct

__all__ = [
    "ARGUMENT",
    "INSUFFICIENT_SIZE",
    "LOST",
    "MISMATCH",
    "NOT_FOUND",
    "NOT_LOADED",
    "NOT_SUPPORTED",
    "NO_PERMISSION",
    "RESET_REQUIRED",
    "SUCCESS",
    "TIMEOUT",
    "UNINITIALIZED",
    "UNKNOWN",
    "VERSION_MISMATCH",
    "Status",
    "put",
    "read",
    "text",
    "version",
]

SUCCESS, UNINITIALIZED, ARGUMENT, NOT_SUPPORTED, NO_PERMISSION = 0, 1, 2, 3, 4
NOT_FOUND, INSUFFICIENT_SIZE, NOT_LOADED, TIMEOUT = 6, 7, 9, 10
LOST, RESET_REQUIRED, MISMATCH, VERSION_MISMATCH, UNKNOWN = 15, 16, 18, 25, 999


class Status(Exception):
    """Ends a simulated call with a return code."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


def put(pointer: int | None, layout: str, *values: object) -> int:
    """Writes values to memory in a ``struct`` layout with C alignment; returns SUCCESS."""
    if not pointer:
        raise Status(ARGUMENT)
    data = struct.pack(layout, *values)
    ctypes.memmove(pointer, data, len(data))
    return SUCCESS


def text(pointer: int | None, size: int, value: str) -> int:
    """Writes a C string into a buffer of ``size`` bytes."""
    data = value.encode() + b"\0"
    if len(data) > size:
        raise Status(INSUFFICIENT_SIZE)
    return put(pointer, f"{len(data)}s", data)


def version(pointer: int | None, expected: int) -> int:
    """Reads the version in front of a structure; another one than ``expected`` is refused."""
    found = read(pointer, "I")[0]
    if found != expected:
        raise Status(VERSION_MISMATCH)
    return found


def read(pointer: int | None, layout: str) -> tuple[int, ...]:
    """Reads values from memory in a ``struct`` layout with C alignment."""
    if not pointer:
        raise Status(ARGUMENT)
    return struct.unpack(layout, ctypes.string_at(pointer, struct.calcsize(layout)))

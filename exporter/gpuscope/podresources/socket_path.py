"""Unix sockets whose paths are longer than the kernel takes."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["short_path"]

_MAX_BYTES = 107
"""``sun_path`` of unix(7), less its end mark."""


@contextmanager
def short_path(socket: Path) -> Iterator[str]:
    """A path to the same socket that fits; it holds inside the block, which is enough to bind or to connect.

    Args:
        socket: the socket; its folder has to be there.

    Raises:
        OSError: the folder is not there.
    """
    if len(os.fsencode(socket)) <= _MAX_BYTES:
        yield str(socket)
        return
    folder = os.open(socket.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{folder}/{socket.name}"
    finally:
        os.close(folder)

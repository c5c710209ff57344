"""A network of containers that reaches nothing but itself: loopback alone, in a network namespace of its own.

Whatever listens on all addresses in it can be reached by nobody else on the machine, and no port is taken.
"""

import ctypes
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Self, TypeVar
from urllib.error import HTTPError
from urllib.request import ProxyHandler, build_opener

__all__ = ["Network"]

T = TypeVar("T")
TIMEOUT_S = 30
CLONE_NEWNET = 0x40000000
# Raises the flag IFF_UP of lo and then lives as long as its standard input is open.
HOLDER = """
import fcntl, socket, struct, sys
link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
flags = fcntl.ioctl(link, 0x8913, struct.pack("16sh22x", b"lo", 0))
raised = struct.unpack_from("h", flags, 16)[0] | 1
fcntl.ioctl(link, 0x8914, struct.pack("16sh22x", b"lo", raised))
print("up", flush=True)
sys.stdin.read()
"""


class Network:
    """The namespace, which lives until ``close``."""

    def __init__(self) -> None:
        self._holder = subprocess.Popen(
            ["unshare", "--net", sys.executable, "-c", HOLDER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._holder.stdout is not None
        if self._holder.stdout.readline().strip() != "up":
            self.close()
            raise OSError("a network namespace cannot be made here; it takes root and CAP_SYS_ADMIN")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Lets go of it; it ends with the last process in it."""
        self._holder.communicate(timeout=TIMEOUT_S)

    @property
    def path(self) -> str:
        """Its file, as ``podman run --network ns:PATH`` takes it."""
        return f"/proc/{self._holder.pid}/ns/net"

    def inside(self, do: Callable[[], T]) -> T:
        """Does something in the namespace, in a thread of its own; sockets that it opens stay in it."""
        answers: list[T] = []
        failures: list[BaseException] = []

        def work() -> None:
            try:
                file = os.open(self.path, os.O_RDONLY)
                try:
                    if ctypes.CDLL(None, use_errno=True).setns(file, CLONE_NEWNET):
                        raise OSError(ctypes.get_errno(), "setns")
                finally:
                    os.close(file)
                answers.append(do())
            except BaseException as failure:  # noqa: BLE001 - raised again below, in the caller's thread
                failures.append(failure)

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        thread.join(TIMEOUT_S)
        if failures:
            raise failures[0]
        if not answers:
            raise TimeoutError(f"nothing after {TIMEOUT_S} s")
        return answers[0]

    def get(self, port: int, path: str) -> tuple[int, str]:
        """Asks a server in it; gives status and body."""

        def ask() -> tuple[int, str]:
            try:
                with build_opener(ProxyHandler({})).open(f"http://127.0.0.1:{port}{path}", timeout=10) as answer:
                    return answer.status, answer.read().decode()
            except HTTPError as refusal:
                return refusal.code, refusal.read().decode()

        return self.inside(ask)

"""Basic authentication against bcrypt hashes, so that guessing passwords does not stop anybody's scrapes.

A bcrypt check takes 50 ms to seconds by design. Successful ones are remembered, so a scraper pays once. All others wait
for one worker thread in a queue with room for few, and one client address holds only a part of it.
"""

import asyncio
import base64
import binascii
import hashlib
import hmac
import secrets
import time
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from enum import Enum

import bcrypt

from gpuscope.api.web_config import RateLimit

__all__ = ["Authenticator", "Bucket", "Verdict"]

_BCRYPT_BYTES = 72  # what the algorithm looks at; Go cuts here too


class Verdict(Enum):
    """What to do with a request."""

    GRANTED = "granted"
    DENIED = "denied"
    BUSY = "too many checks at once"


class Authenticator:
    """Checks ``Authorization: Basic`` headers. Belongs to one event loop.

    Args:
        users: name -> bcrypt hash.
        executor: where hashes are computed.
        queued: checks that may wait or run at a time.
        queued_per_client: the same for one client address.
    """

    _REMEMBERED = 256

    def __init__(
        self, users: Mapping[str, str], executor: ThreadPoolExecutor, queued: int = 16, queued_per_client: int = 4
    ) -> None:
        self._users = {name.encode(): hashed.encode() for name, hashed in users.items()}
        # An unknown user costs what a known one costs: the check runs against somebody's hash, the result is dropped.
        self._stand_in = max(self._users.values(), key=_cost, default=b"")
        self._executor = executor
        self._queued = queued
        self._queued_per_client = queued_per_client
        self._secret = secrets.token_bytes(32)
        self._granted: dict[bytes, None] = {}
        self._running: dict[bytes, asyncio.Future[bool]] = {}
        self._clients: Counter[str] = Counter()

    @property
    def required(self) -> bool:
        """Whether there are users at all."""
        return bool(self._users)

    async def check(self, header: str, client: str) -> Verdict:
        """Judges an ``Authorization`` header sent from the address ``client``."""
        credentials = _credentials(header)
        if credentials is None:
            return Verdict.DENIED
        user, password = credentials
        digest = hmac.new(self._secret, len(user).to_bytes(4) + user + password, hashlib.sha256).digest()
        if digest in self._granted:
            return Verdict.GRANTED
        running = self._running.get(digest)
        if running is None:
            if len(self._running) >= self._queued or self._clients[client] >= self._queued_per_client:
                return Verdict.BUSY
            running = self._start(digest, user, password, client)
        # A client that hangs up must not cancel the check that others wait for.
        return Verdict.GRANTED if await asyncio.shield(running) else Verdict.DENIED

    def _start(self, digest: bytes, user: bytes, password: bytes, client: str) -> asyncio.Future[bool]:
        hashed = self._users.get(user)
        running = asyncio.get_running_loop().run_in_executor(
            self._executor, _matches, password, hashed or self._stand_in, hashed is not None
        )
        self._running[digest] = running
        self._clients[client] += 1

        def done(finished: asyncio.Future[bool]) -> None:
            del self._running[digest]
            self._clients[client] -= 1
            if not self._clients[client]:
                del self._clients[client]
            if not finished.cancelled() and finished.exception() is None and finished.result():
                if len(self._granted) >= self._REMEMBERED:
                    del self._granted[next(iter(self._granted))]
                self._granted[digest] = None

        running.add_done_callback(done)
        return running


class Bucket:
    """A token bucket for all requests together (``rate_limit``).

    Args:
        limit: ``None`` lets everything pass.
        clock: monotonic seconds.
    """

    def __init__(self, limit: RateLimit | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._limit = limit
        self._clock = clock
        self._tokens = float(limit.burst) if limit else 0.0
        self._filled = clock()

    def take(self) -> bool:
        """Takes a token; false when there is none."""
        if self._limit is None:
            return True
        now = self._clock()
        gained = (now - self._filled) / self._limit.interval_s
        self._tokens = min(float(self._limit.burst), self._tokens + gained)
        self._filled = now
        if self._tokens < 1.0:
            return False
        self._tokens -= 1.0
        return True


def _cost(hashed: bytes) -> int:
    return int(hashed[4:6])


def _credentials(header: str) -> tuple[bytes, bytes] | None:
    scheme, _, encoded = header.partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        decoded = base64.b64decode(encoded.strip(), validate=True)
    except (binascii.Error, ValueError):
        return None
    user, colon, password = decoded.partition(b":")
    return (user, password[:_BCRYPT_BYTES]) if colon else None


def _matches(password: bytes, hashed: bytes, known: bool) -> bool:
    try:
        right = bcrypt.checkpw(password, hashed)
    except ValueError:  # a NUL byte in the password
        return False
    return right and known

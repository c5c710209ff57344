"""Finished answers of the current snapshot, so that asking often costs little."""

import gzip
from collections.abc import Callable, Hashable

__all__ = ["Answer", "Answers"]


class Answer:
    """A finished body; the compressed form is made when somebody asks for it."""

    __slots__ = ("_packed", "body")

    def __init__(self, body: bytes) -> None:
        self.body = body
        self._packed: bytes | None = None

    def packed(self) -> bytes:
        """The body as gzip."""
        if self._packed is None:
            self._packed = gzip.compress(self.body, compresslevel=1, mtime=0)
        return self._packed


class Answers:
    """Answers by request, for one snapshot; a new snapshot empties it."""

    _LIMIT = 64

    def __init__(self) -> None:
        self._snapshot: object = None
        self._answers: dict[Hashable, Answer] = {}

    def get(self, snapshot: object, key: Hashable, make: Callable[[], bytes]) -> Answer:
        """The answer to the request ``key``; ``make`` builds its body when there is none yet."""
        if snapshot is not self._snapshot:
            self._snapshot = snapshot
            self._answers.clear()
        answer = self._answers.get(key)
        if answer is None:
            if len(self._answers) >= self._LIMIT:
                del self._answers[next(iter(self._answers))]
            answer = self._answers[key] = Answer(make())
        return answer

"""What is known of the cluster's objects at this moment, and what went away since the last look."""

import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from gpuscope.workloads.kubernetes.failure import ApiFailure
from gpuscope.workloads.kubernetes.records import Record
from gpuscope.workloads.kubernetes.resources import Place

__all__ = ["Gone", "KindHealth", "ObjectStore", "Snapshot"]


class Gone(NamedTuple):
    """An object that is not there any more.

    Attributes:
        kind: its kind.
        record: what was last known of it.
        witnessed: whether its deletion was seen, and with it its last state; false when a list just lacked it.
    """

    kind: str
    record: Record
    witnessed: bool


@dataclass(frozen=True, slots=True)
class KindHealth:
    """Whether what is known of a kind is all and fresh.

    Attributes:
        listed: whether it was listed at least once.
        denied: whether the server refuses it to us.
        broken_since: unix time since which it could not be read, ``None`` while all is well.
        failure: why it could not be read the last time.
    """

    listed: bool = False
    denied: bool = False
    broken_since: float | None = None
    failure: ApiFailure | None = None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Everything at one moment.

    Attributes:
        objects: kind -> uid -> record.
        gone: what is gone since the last snapshot.
        health: how well each place can be read.
        problems: reason -> count, since the last snapshot.
    """

    objects: Mapping[str, Mapping[str, Record]]
    gone: tuple[Gone, ...]
    health: Mapping[Place, KindHealth]
    problems: Mapping[str, int]


class ObjectStore:
    """Records by place and uid; safe to use from many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._objects: dict[Place, dict[str, Record]] = {}
        self._gone: list[Gone] = []
        self._health: dict[Place, KindHealth] = {}
        self._problems: Counter[str] = Counter()

    def replace(self, place: Place, records: dict[str, Record]) -> None:
        """Takes a whole list; what it lacks is gone."""
        with self._lock:
            before = self._objects.get(place, {})
            self._gone += [
                Gone(place.kind, record, witnessed=False) for uid, record in before.items() if uid not in records
            ]
            self._objects[place] = records
            self._health[place] = KindHealth(listed=True)

    def put(self, place: Place, record: Record) -> None:
        """Takes a new or changed object."""
        with self._lock:
            self._objects.setdefault(place, {})[record.uid] = record

    def remove(self, place: Place, record: Record) -> None:
        """Takes the last state of an object that was deleted."""
        with self._lock:
            self._objects.get(place, {}).pop(record.uid, None)
            self._gone.append(Gone(place.kind, record, witnessed=True))

    def set_health(
        self,
        place: Place,
        *,
        denied: bool = False,
        broken_since: float | None = None,
        failure: ApiFailure | None = None,
    ) -> None:
        """Says how well a kind can be read."""
        with self._lock:
            before = self._health.get(place, KindHealth())
            since = broken_since if before.broken_since is None or broken_since is None else before.broken_since
            self._health[place] = KindHealth(before.listed, denied, since, failure)

    def forget(self, place: Place) -> None:
        """A kind is not installed any more, and all its objects with it."""
        self.replace(place, {})
        with self._lock:
            del self._health[place]

    def count(self, reason: str) -> None:
        """Counts something that could not be read or understood."""
        with self._lock:
            self._problems[reason] += 1

    def take(self) -> Snapshot:
        """Everything now; what is gone and the problems are handed out once."""
        with self._lock:
            objects: dict[str, dict[str, Record]] = {}
            for place, records in self._objects.items():
                objects.setdefault(place.kind, {}).update(records)
            snapshot = Snapshot(objects, tuple(self._gone), dict(self._health), dict(self._problems))
            self._gone = []
            self._problems.clear()
        return snapshot

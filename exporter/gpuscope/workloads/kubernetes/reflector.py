"""One kind of object kept current: list, watch from there, and begin again when the server forgot where we were."""

import logging
import random
import threading
import time
from collections.abc import Callable

import msgspec

from gpuscope.workloads.kubernetes.failure import ApiFailure
from gpuscope.workloads.kubernetes.records import Record
from gpuscope.workloads.kubernetes.resources import Resource
from gpuscope.workloads.kubernetes.session import Session, WatchEvent
from gpuscope.workloads.kubernetes.store import ObjectStore

__all__ = ["Pace", "Reflector"]

log = logging.getLogger(__name__)

_TOO_SHORT_S = 0.5
_RELIST_AFTER = 3


class Pace(msgspec.Struct, frozen=True):
    """How often and how patiently the API is asked.

    Attributes:
        retry_s: first pause after a failure; it doubles, with a random part, up to ``retry_limit_s``.
        retry_limit_s: longest pause after a failure.
        refused_s: pause after the server refused a kind: a role may be granted later.
        watch_s: a watch is asked to end after so long, and up to twice that.
        page: objects asked for at once.
        discovery_s: how often it is looked which kinds are installed.
    """

    retry_s: float = 1.0
    retry_limit_s: float = 30.0
    refused_s: float = 60.0
    watch_s: float = 300.0
    page: int = 500
    discovery_s: float = 60.0


class Reflector(threading.Thread):
    """Keeps one kind in the store current, until it is stopped.

    Args:
        session: the way to the API.
        resource: what to watch.
        read: undecoded object -> record, ``None`` for one that does not matter.
        store: where to.
        pace: how patiently.
        clock: tells unix time.
    """

    def __init__(
        self, session: Session, resource: Resource, read: Callable[[msgspec.Raw], Record | None], store: ObjectStore,
        pace: Pace, clock: Callable[[], float],
    ) -> None:  # fmt: skip
        super().__init__(name=f"watch-{resource.label}", daemon=True)
        self.resource = resource
        self._session = session
        self._read = read
        self._store = store
        self._pace = pace
        self._clock = clock
        self._stop_asked = threading.Event()
        self._version = ""
        self._failures = 0
        self._short = 0
        self._expired = False
        self._said = ""

    def stop(self) -> None:
        """Asks it to end; it does at the next event, or when the session is closed."""
        self._stop_asked.set()

    def run(self) -> None:
        """Lists and watches until stopped."""
        while not self._stop_asked.is_set():
            try:
                if not self._version:
                    self._list()
                else:
                    self._watch()
            except ApiFailure as failure:
                if not self._stop_asked.is_set():
                    self._failed(failure)
            except Exception as error:
                if not self._stop_asked.is_set():
                    log.exception("%s: cannot be followed, is tried again", self.resource.path)
                    self._failed(ApiFailure("malformed", self.resource.path, repr(error)))

    def _list(self) -> None:
        records: dict[str, Record] = {}
        version = ""
        for page in self._session.pages(self.resource, self._pace.page):
            for raw in page.objects:
                record = self._understood(raw)
                if record is not None:
                    records[record.uid] = record
            version = page.version
            if self._stop_asked.is_set():
                return
        if not version:
            raise ApiFailure("malformed", self.resource.path, "a list without a resource version")
        self._store.replace(self.resource.place, records)
        self._version = version
        self._well()

    def _watch(self) -> None:
        timeout = round(self._pace.watch_s * random.uniform(1.0, 2.0))  # noqa: S311
        began = time.monotonic()
        try:
            with self._session.watch(self.resource, self._version, max(timeout, 1)) as changes:
                self._well()
                for change in changes:
                    if self._stop_asked.is_set():
                        return
                    self._take(change)
                    self._failures, self._expired = 0, False
        except ApiFailure as failure:
            if failure.reason != "malformed":
                raise
            self._cut_short("malformed", failure.detail)
            return
        if time.monotonic() - began < _TOO_SHORT_S:
            self._cut_short("short_watch", "watches are ended at once")
        else:
            self._short = 0

    def _cut_short(self, reason: str, detail: str) -> None:
        """A watch told nothing for long. Lists tell what is there, one after each pause, so that nothing is broken."""
        self._store.count(f"{reason}:{self.resource.label}")
        self._short += 1
        if self._short > 1 or reason == "malformed":
            self._version = ""
        if self._short == _RELIST_AFTER:
            log.warning("%s: %s; it is listed again and again instead", self.resource.path, detail)
        self._stop_asked.wait(self._pause(self._short - 1))

    def _take(self, change: WatchEvent) -> None:
        place = self.resource.place
        if change.type != "BOOKMARK":
            record = self._understood(change.object)
            if record is not None and change.type == "DELETED":
                self._store.remove(place, record)
            elif record is not None:
                self._store.put(place, record)
        self._version = change.version or self._version

    def _understood(self, raw: msgspec.Raw) -> Record | None:
        try:
            return self._read(raw)
        except (msgspec.DecodeError, UnicodeDecodeError, ValueError, OverflowError) as error:
            self._store.count("malformed_object")
            log.warning("%s: an object is left out: %s", self.resource.path, error)
            return None

    def _well(self) -> None:
        """All that is there was read, or the server lets us go on where we were."""
        if self._said:
            log.info("%s: can be read again", self.resource.path)
        self._said = ""
        self._store.set_health(self.resource.place)

    def _failed(self, failure: ApiFailure) -> None:
        label = self.resource.label
        if failure.reason == "expired":
            # Nothing is wrong: too much happened since the last version, and a list tells what is there now.
            self._store.count(f"expired:{label}")
            again, self._expired, self._version = self._expired, True, ""
            if not again:
                return
        if failure.reason in {"not_found", "malformed", "expired"} or self._failures >= _RELIST_AFTER:
            self._version = ""
        if failure.reason != "expired":
            self._store.count(f"{failure.reason}:{label}")
        # Without a role a kind is left out; without a valid token nothing at all is known.
        refused = failure.reason == "forbidden"
        self._store.set_health(self.resource.place, denied=refused, broken_since=self._clock(), failure=failure)
        if self._said != failure.reason and not failure.of_all:
            log.warning("%s", failure)  # whoever follows the source says once what concerns all kinds
            self._said = failure.reason
        self._stop_asked.wait(self._pace.refused_s if refused else self._pause(self._failures))
        self._failures += 1

    def _pause(self, failures: int) -> float:
        longest = min(self._pace.retry_limit_s, self._pace.retry_s * 2.0 ** min(failures, 10))
        return longest * random.uniform(0.5, 1.0)  # noqa: S311

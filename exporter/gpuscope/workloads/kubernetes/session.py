"""The only door to the Kubernetes API: lightkube finds the cluster and proves who we are, requests are ours.

lightkube's own ``watch`` neither asks for bookmarks nor notices a peer that died without a word, and its lists give up
on all objects for one that is malformed; so lists and watches are made here on the connection that it set up.
"""

import contextlib
import logging
import socket
import threading
from collections.abc import Iterator
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import NamedTuple, TypeVar

import httpx2
import msgspec
from lightkube.config import client_adapter
from lightkube.core.exceptions import ConfigError as LightkubeConfigError

from gpuscope.errors import ConfigError
from gpuscope.workloads.kubernetes.failure import ApiFailure, refused, told_in_stream, translated
from gpuscope.workloads.kubernetes.kubeconfig import SERVICE_ACCOUNT, find_config, place_of
from gpuscope.workloads.kubernetes.resources import Resource
from gpuscope.workloads.scheduler_clock import SchedulerClock

__all__ = ["Page", "Session", "WatchEvent"]

_Model = TypeVar("_Model")
_CONNECT_S = 10.0
_READ_S = 60.0


class Page(NamedTuple):
    """A part of a list.

    Attributes:
        objects: undecoded.
        version: resource version of the whole list.
    """

    objects: list[msgspec.Raw]
    version: str


class WatchEvent(NamedTuple):
    """One change.

    Attributes:
        type: ``ADDED``, ``MODIFIED``, ``DELETED`` or ``BOOKMARK``.
        object: undecoded; with a bookmark nothing but the version.
        version: resource version from which a watch can go on after it.
    """

    type: str
    object: msgspec.Raw
    version: str


class _ListMeta(msgspec.Struct, rename="camel"):
    resource_version: str = ""
    continue_: str | None = msgspec.field(name="continue", default=None)


class _List(msgspec.Struct):
    metadata: _ListMeta
    items: list[msgspec.Raw] | None = None


class _Change(msgspec.Struct):
    type: str
    object: msgspec.Raw


class _Versioned(msgspec.Struct):
    metadata: _ListMeta


class _GroupVersion(msgspec.Struct):
    version: str


class _Group(msgspec.Struct):
    name: str
    versions: list[_GroupVersion]


class _Groups(msgspec.Struct):
    groups: list[_Group]


class _ApiResource(msgspec.Struct):
    name: str


class _ApiResources(msgspec.Struct):
    resources: list[_ApiResource]


class Session:
    """Connections to one API server; safe to use from many threads.

    Args:
        kubeconfig: path of a kubeconfig file; empty takes the pod's service account, else ``$KUBECONFIG``, else the
            file in the home folder.
        context: its context; empty takes the current one.
        read_timeout_s: a watch on which nothing arrives for so long is taken for dead. The server sends a bookmark
            about once a minute.
        service_account: folder in which kubelet keeps a pod's token, which it renews, and the authority of the server.

    Attributes:
        clock: what the ``Date`` of every answer tells of the server's clock.

    Raises:
        ConfigError: no such file or context, or one that is not understood.
    """

    def __init__(
        self, kubeconfig: str = "", context: str = "", read_timeout_s: float = 150.0,
        service_account: Path = SERVICE_ACCOUNT,
    ) -> None:  # fmt: skip
        config = find_config(kubeconfig, context, service_account)
        # Proxies are for the way out; a cluster's own API is not reached through one.
        parameters = client_adapter.ConnectionParams(
            timeout=httpx2.Timeout(_READ_S, connect=_CONNECT_S), trust_env=False
        )
        try:
            self._http = client_adapter.Client(config, parameters)
        except (LightkubeConfigError, httpx2.InvalidURL, OSError, TypeError, ValueError) as error:
            raise ConfigError(f"{place_of(kubeconfig)}: {' '.join(str(error).split())}") from error
        # It would log every request.
        logging.getLogger("httpx2").setLevel(logging.WARNING)
        self.clock = SchedulerClock()
        self._watch_timeout = httpx2.Timeout(read_timeout_s, connect=_CONNECT_S)
        self._lock = threading.Lock()
        self._watched: set[socket.socket] = set()
        self._interrupted = False

    def interrupt(self) -> None:
        """Makes all watches fail, those under way and later ones; call it before ``close``."""
        with self._lock:
            self._interrupted = True
            for connection in self._watched:
                # Closing a socket does not wake a thread that reads from it.
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Closes all connections. No other thread may use the session any more."""
        self._http.close()

    def groups(self) -> dict[str, list[str]]:
        """API groups of the cluster -> their versions.

        Raises:
            ApiFailure: as it says.
        """
        found = self._get("/apis", {}, _Groups)
        return {group.name: [one.version for one in group.versions] for group in found.groups}

    def plurals(self, group: str, version: str) -> set[str]:
        """Plural names of all resources of a group's version.

        Raises:
            ApiFailure: as it says.
        """
        return {one.name for one in self._get(f"/apis/{group}/{version}", {}, _ApiResources).resources}

    def pages(self, resource: Resource, size: int) -> Iterator[Page]:
        """Lists all objects, part by part.

        Raises:
            ApiFailure: as it says; ``expired`` when the list took too long, and has to be begun again.
        """
        query = {"limit": str(size), **_selector(resource)}
        while True:
            found = self._get(resource.path, query, _List)
            yield Page(found.items or [], found.metadata.resource_version)
            if not found.metadata.continue_:
                return
            query["continue"] = found.metadata.continue_

    @contextlib.contextmanager
    def watch(self, resource: Resource, version: str, timeout_s: int) -> Iterator[Iterator[WatchEvent]]:
        """Changes after a version, until the server ends the watch after about ``timeout_s``.

        Raises:
            ApiFailure: as it says; ``expired`` when the server does not remember that version any more.
        """
        query = {
            "watch": "true", "allowWatchBookmarks": "true", "resourceVersion": version,
            "timeoutSeconds": str(timeout_s), **_selector(resource),
        }  # fmt: skip
        asked = self.clock.now()
        with (
            translated(resource.path),
            self._http.stream("GET", resource.path, params=query, timeout=self._watch_timeout) as answer,
        ):
            self._heard(answer, asked)
            if answer.status_code != 200:
                answer.read()
                raise refused(resource.path, answer.status_code, answer.content)
            connection = answer.extensions["network_stream"].get_extra_info("socket")
            with self._lock:
                if self._interrupted:
                    raise ApiFailure("unreachable", resource.path, "interrupted")
                self._watched.add(connection)
            try:
                yield _changes(resource.path, answer)
            finally:
                with self._lock:
                    self._watched.discard(connection)

    def send(self, method: str, path: str, body: bytes | None, timeout_s: float) -> bytes:
        """Reads (``GET``), creates (``POST``) or replaces (``PUT``) one object, as JSON.

        Raises:
            ApiFailure: as it says; ``conflict`` when it changed, or was created, since it was read.
        """
        headers = {} if body is None else {"Content-Type": "application/json"}
        asked = self.clock.now()
        with translated(path):
            answer = self._http.request(method, path, content=body, headers=headers, timeout=timeout_s)
            self._heard(answer, asked)
            if answer.status_code not in {200, 201}:
                raise refused(path, answer.status_code, answer.content)
            return answer.content

    def _get(self, path: str, query: dict[str, str], model: type[_Model]) -> _Model:
        asked = self.clock.now()
        with translated(path):
            answer = self._http.get(path, params=query)
            self._heard(answer, asked)
            if answer.status_code != 200:
                raise refused(path, answer.status_code, answer.content)
            return msgspec.json.decode(answer.content, type=model)

    def _heard(self, answer: httpx2.Response, asked: float) -> None:
        with contextlib.suppress(ValueError, OverflowError):  # no Date, or none that is understood, tells nothing
            self.clock.heard(parsedate_to_datetime(answer.headers.get("Date", "")).timestamp(), asked)


def _changes(path: str, answer: httpx2.Response) -> Iterator[WatchEvent]:
    for line in answer.iter_lines():
        if not line:
            continue
        change = _change.decode(line)
        if change.type == "ERROR":
            raise told_in_stream(path, change.object)
        yield WatchEvent(change.type, change.object, _versioned.decode(change.object).metadata.resource_version)


def _selector(resource: Resource) -> dict[str, str]:
    selector = resource.kind.field_selector
    return {"fieldSelector": selector} if selector else {}


_change = msgspec.json.Decoder(_Change)
_versioned = msgspec.json.Decoder(_Versioned)

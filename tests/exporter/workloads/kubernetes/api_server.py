"""An API server that speaks as much of Kubernetes' API as a watcher hears.

Discovery, lists in parts, watches, bookmarks, resource versions, 403, 404, 410. What happens in it a test makes happen.
"""

import copy
import json
import re
import socket
import ssl
import threading
import time
from collections import defaultdict
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

CORE = {"pods": "Pod", "nodes": "Node", "events": "Event"}


class ApiServer:
    """Objects, their history, and who watches them."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self.token = ""
        self.ahead_s = 0.0
        self._tls = tls
        self.changed = threading.Condition()
        self.version = 100
        self.oldest = 0
        self.objects: dict[str, dict[tuple[str, str], dict]] = defaultdict(dict)
        self.history: dict[str, list[tuple[int, str, dict]]] = defaultdict(list)
        self.kinds: dict[str, tuple[str, str]] = {kind: ("v1", plural) for plural, kind in CORE.items()}
        self.forbidden: set[str] = set()
        self.garbage: dict[str, bytes] = {}
        self.failing: dict[str, int] = {}
        self.leases: dict[str, dict] = {}
        self.requests: list[tuple[str, dict[str, str]]] = []
        self.short_watch: bytes | None = None
        self.cuts = 0
        self.bookmarks = 0
        self.expiries = 0
        self.running = True
        self._port = 0
        self._open: set[socket.socket] = set()
        self.back()

    @property
    def url(self) -> str:
        return f"http{'s' if self._tls else ''}://127.0.0.1:{self._port}"

    def back(self) -> None:
        """Answers, at the same address as before."""
        self.running = True
        self._http = _Http(("127.0.0.1", self._port), _handler(self))
        self._port = self._http.server_address[1]
        if self._tls:
            self._http.socket = self._tls.wrap_socket(self._http.socket, server_side=True)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    def away(self) -> None:
        """Breaks every connection and takes no new one."""
        with self.changed:
            self.running = False
            self.changed.notify_all()
        self._http.shutdown()
        self._thread.join(10)
        self._http.server_close()
        for connection in list(self._open):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def install(self, kind: str, api_version: str, plural: str) -> None:
        self.kinds[kind] = (api_version, plural)

    def uninstall(self, kind: str) -> None:
        api_version, plural = self.kinds.pop(kind)
        with self.changed:
            self.objects.pop(_path(api_version, plural), None)
            self.cuts += 1
            self.changed.notify_all()

    def put(self, obj: dict) -> dict:
        """Creates or changes an object; its kind is installed if it is not yet."""
        obj = copy.deepcopy(obj)
        self.kinds.setdefault(obj["kind"], (obj["apiVersion"], f"{obj['kind'].lower()}s"))
        path, key = self._where(obj), _key(obj)
        with self.changed:
            self.version += 1
            old = self.objects[path].get(key)
            same = old is not None and old["metadata"]["uid"] == obj["metadata"]["uid"]
            obj["metadata"]["resourceVersion"] = str(self.version)
            self.objects[path][key] = obj
            self.history[path].append((self.version, "MODIFIED" if same else "ADDED", obj))
            self.changed.notify_all()
        return obj

    def delete(self, obj: dict) -> None:
        """Deletes an object; watchers get its last state."""
        path = self._where(obj)
        with self.changed:
            self.version += 1
            last = copy.deepcopy(self.objects[path].pop(_key(obj)))
            last["metadata"]["resourceVersion"] = str(self.version)
            self.history[path].append((self.version, "DELETED", last))
            self.changed.notify_all()

    def compact(self) -> None:
        """Forgets all history: whoever goes on from an older version gets 410."""
        with self.changed:
            self.version += 1
            self.oldest = self.version
            self.history.clear()

    def cut(self) -> None:
        """Ends all watches, as a server does after their time."""
        with self.changed:
            self.cuts += 1
            self.changed.notify_all()

    def expire(self) -> None:
        """Tells all watchers, in their stream, that they are too far behind."""
        with self.changed:
            self.version += 1
            self.expiries += 1
            self.cuts += 1
            self.changed.notify_all()

    def bookmark(self) -> None:
        """Tells all watchers how far they are."""
        with self.changed:
            self.version += 1
            self.bookmarks += 1
            self.changed.notify_all()

    def asked(self, plural: str, *, watch: bool) -> list[dict[str, str]]:
        """Queries of the lists or watches of a kind so far."""
        found = [query for path, query in list(self.requests) if path.endswith(f"/{plural}")]
        return [query for query in found if ("watch" in query) == watch]

    def _where(self, obj: dict) -> str:
        _, plural = self.kinds[obj["kind"]]
        return _path(obj["apiVersion"], plural)


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True
    request_queue_size = 64

    def handle_error(self, request: object, client_address: object) -> None:
        """Connections break here all the time, on purpose."""


def _path(api_version: str, plural: str) -> str:
    return f"/{'apis' if '/' in api_version else 'api'}/{api_version}/{plural}"


def _key(obj: dict) -> tuple[str, str]:
    return obj["metadata"].get("namespace", ""), obj["metadata"]["name"]


def _handler(server: ApiServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        timeout = 60

        def date_time_string(self, timestamp: float | None = None) -> str:
            return super().date_time_string((timestamp or time.time()) + server.ahead_s)

        def setup(self) -> None:
            super().setup()
            server._open.add(self.connection)

        def finish(self) -> None:
            server._open.discard(self.connection)
            with suppress(OSError):
                super().finish()

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            query = {name: values[0] for name, values in parse_qs(parts.query).items()}
            server.requests.append((parts.path, query))
            with suppress(OSError):
                self._route(parts.path, query)

        def do_POST(self) -> None:
            self._write(self.path + "/" + json.loads(self._body())["metadata"]["name"])

        def do_PUT(self) -> None:
            self._body()
            self._write(self.path)

        def _body(self) -> bytes:
            self._sent = self.rfile.read(int(self.headers["Content-Length"]))
            return self._sent

        def _write(self, path: str) -> None:
            """Creates or replaces a Lease; who did not read its newest version is refused."""
            lease = json.loads(self._sent)
            with server.changed:
                before = server.leases.get(path)
                versions = [one and one["metadata"].get("resourceVersion") for one in (before, lease)]
                if "leases" in server.forbidden:
                    code = 403
                elif versions[0] != versions[1]:
                    code = 409
                else:
                    server.version += 1
                    lease["metadata"]["resourceVersion"] = str(server.version)
                    server.leases[path] = lease
                    code = 200 if before else 201
            if code >= 400:
                self._status(code)
            else:
                self._json(lease, code)

        def _route(self, path: str, query: dict[str, str]) -> None:
            plural = path.rsplit("/", 1)[1]
            in_namespace = re.fullmatch(r"(.*)/namespaces/([^/]+)/([^/]+)", path)
            namespace = ""
            if in_namespace and path not in server.leases and not plural.startswith("lease"):
                path, namespace = f"{in_namespace[1]}/{plural}", in_namespace[2]
            served = {_path(version, name) for version, name in server.kinds.values()}
            if not server.running:
                self.close_connection = True
            elif server.token and self.headers["Authorization"] != f"Bearer {server.token}":
                self._status(401)
            elif server.failing.get(plural):
                self._status(server.failing[plural])
            elif plural in server.garbage:
                self._answer(server.garbage[plural], 200)
            elif path == "/apis":
                self._json(self._groups())
            elif path.startswith("/apis/") and path.count("/") == 3:
                self._json(self._resources(path.removeprefix("/apis/")))
            elif path in server.leases:
                self._json(server.leases[path])
            elif path not in served:
                self._status(404)
            elif {plural, f"{namespace}/{plural}", namespace or "*"} & server.forbidden:
                self._status(403)
            elif "watch" in query and server.short_watch is not None:
                self._answer(server.short_watch, 200)
            elif "watch" in query:
                self._watch(path, int(query["resourceVersion"]), namespace)
            else:
                self._list(path, query, namespace)

        def _groups(self) -> dict:
            groups: dict[str, list[str]] = defaultdict(list)
            for api_version, _ in server.kinds.values():
                group, _, version = api_version.rpartition("/")
                if group and version not in groups[group]:
                    groups[group].append(version)
            return {
                "kind": "APIGroupList",
                "groups": [
                    {
                        "name": group,
                        "versions": [{"groupVersion": f"{group}/{one}", "version": one} for one in versions],
                    }
                    for group, versions in groups.items()
                ],
            }

        def _resources(self, api_version: str) -> dict:
            named = [(plural, kind) for kind, (version, plural) in server.kinds.items() if version == api_version]
            return {
                "kind": "APIResourceList",
                "groupVersion": api_version,
                "resources": [{"name": plural, "namespaced": True, "kind": kind} for plural, kind in named],
            }

        def _list(self, path: str, query: dict[str, str], namespace: str) -> None:
            with server.changed:
                every = [obj for key, obj in sorted(server.objects[path].items()) if namespace in {"", key[0]}]
                version = server.version
            begin, limit = int(query.get("continue", 0)), int(query.get("limit", 0)) or len(every)
            meta = {"resourceVersion": str(version)}
            if begin + limit < len(every):
                meta |= {"continue": str(begin + limit), "remainingItemCount": len(every) - begin - limit}
            self._json({"kind": "List", "metadata": meta, "items": every[begin : begin + limit]})

        def _watch(self, path: str, version: int, namespace: str) -> None:
            with server.changed:
                expired = version < server.oldest
                cuts, bookmarks, expiries = server.cuts, server.bookmarks, server.expiries
            if expired:
                self._status(410)
                return
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            while True:
                with server.changed:
                    new = [event for event in server.history[path] if event[0] > version]
                    if not new and server.running and server.cuts == cuts and server.bookmarks == bookmarks:
                        server.changed.wait(1.0)
                        continue
                    over = not server.running or server.cuts != cuts
                    marked, bookmarks = server.bookmarks != bookmarks, server.bookmarks
                    now = server.version
                for number, kind, obj in new:
                    if namespace in {"", obj["metadata"].get("namespace")}:
                        self._event(kind, obj)
                    version = number
                if marked:
                    meta = {"resourceVersion": str(now), "creationTimestamp": None}
                    self._event("BOOKMARK", {"kind": "Bookmark", "apiVersion": "v1", "metadata": meta})
                    version = now
                if over:
                    break
            if server.running and server.expiries != expiries:
                status = {"kind": "Status", "status": "Failure", "message": "too old resource version", "code": 410}
                self._event("ERROR", status | {"reason": "Expired", "metadata": {}})
            if server.running:
                self.wfile.write(b"0\r\n\r\n")
            else:
                self.close_connection = True

        def _event(self, kind: str, obj: dict) -> None:
            line = json.dumps({"type": kind, "object": obj}).encode() + b"\n"
            self.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))
            self.wfile.flush()

        def _status(self, code: int) -> None:
            words = {401: "Unauthorized", 403: "Forbidden", 404: "NotFound", 409: "Conflict", 410: "Expired"}
            message = "Unauthorized" if code == 401 else f"{self.path}: {words.get(code, 'InternalError')}"
            self._json(
                {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": message,
                 "reason": words.get(code, "InternalError"), "code": code}, code,
            )  # fmt: skip

        def _json(self, body: dict, code: int = 200) -> None:
            self._answer(json.dumps(body).encode(), code)

        def _answer(self, text: bytes, code: int) -> None:
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *args: object) -> None:
            pass

    return Handler

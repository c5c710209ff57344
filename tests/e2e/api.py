"""An API server that helm and kubectl can work with: it stores what they send, and makes pods as controllers would.

No validation, no defaults, no RBAC, and no process runs: its pods are Ready at once, and its proxy answers with a
text. It is there to try the checks of ``make e2e``; the chart itself is tried on real clusters.
"""

from __future__ import annotations

import copy
import itertools
import json
import re
import threading
import zlib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from tests.e2e.nodes import why_not
from tests.e2e.wire import decoded

__all__ = ["KINDS", "ApiServer"]

Object = dict[str, Any]
Key = tuple[str, str, str, str]
# Group, version, plural, kind, and whether it lives in namespaces.
KINDS = [
    ("", "v1", "namespaces", "Namespace", False),
    ("", "v1", "nodes", "Node", False),
    ("", "v1", "pods", "Pod", True),
    ("", "v1", "configmaps", "ConfigMap", True),
    ("", "v1", "secrets", "Secret", True),
    ("", "v1", "services", "Service", True),
    ("", "v1", "serviceaccounts", "ServiceAccount", True),
    ("", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", True),
    ("apps", "v1", "daemonsets", "DaemonSet", True),
    ("apps", "v1", "deployments", "Deployment", True),
    ("apps", "v1", "replicasets", "ReplicaSet", True),
    ("coordination.k8s.io", "v1", "leases", "Lease", True),
    ("policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", True),
    ("networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy", True),
    ("rbac.authorization.k8s.io", "v1", "clusterroles", "ClusterRole", False),
    ("rbac.authorization.k8s.io", "v1", "clusterrolebindings", "ClusterRoleBinding", False),
    ("rbac.authorization.k8s.io", "v1", "roles", "Role", True),
    ("rbac.authorization.k8s.io", "v1", "rolebindings", "RoleBinding", True),
    ("monitoring.coreos.com", "v1", "podmonitors", "PodMonitor", True),
    ("monitoring.coreos.com", "v1", "servicemonitors", "ServiceMonitor", True),
    ("monitoring.coreos.com", "v1", "prometheusrules", "PrometheusRule", True),
]
VERBS = ["create", "delete", "get", "list", "patch", "update", "watch"]


class _Http(ThreadingHTTPServer):
    # Helm opens a connection for each of fifty objects at once.
    request_queue_size = 256
    daemon_threads = True


class ApiServer:
    """The store, and what a test can change about it."""

    def __init__(self, without: tuple[str, ...] = (), version: str = "v1.33.0-of-a-test") -> None:
        self.version = version
        self.kinds = [kind for kind in KINDS if kind[0] not in without]
        self.objects: dict[Key, Object] = {}
        self.metrics = {
            "agent": "gpuscope_build_info 1\ngpuscope_up 1\n",
            "collector": "gpuscope_collector_source_up 1\n",
        }
        self.kept: set[str] = set()
        """Plurals whose objects a deletion leaves there."""
        self.asked: list[tuple[str, str]] = []
        self._lock = threading.RLock()
        self._version = itertools.count(100)
        self._http = _Http(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def close(self) -> None:
        self._http.shutdown()
        self._thread.join(10)
        self._http.server_close()

    def node(self, name: str, labels: dict[str, str], taints: list[dict[str, str]] | None = None) -> None:
        """Adds a node; DaemonSets that are there already do not notice."""
        # Kubelet says of every node what system it has.
        meta = {"name": name, "labels": {"kubernetes.io/os": "linux"} | labels}
        self.put(("", "nodes", "", name), {"apiVersion": "v1", "kind": "Node", "metadata": meta,
                                           "spec": {"taints": taints or []}})  # fmt: skip

    def put(self, key: Key, obj: Object) -> Object:
        """Creates or replaces."""
        with self._lock:
            obj = copy.deepcopy(obj)
            old = self.objects.get(key, {"metadata": {}})
            meta = obj["metadata"]
            version = str(next(self._version))
            same = old.get("spec") == obj.get("spec")
            meta["uid"] = old["metadata"].get("uid", f"uid-{version}")
            meta["generation"] = old["metadata"].get("generation", 0) + (not same)
            meta.setdefault("creationTimestamp", "2026-11-30T08:00:00Z")
            meta["resourceVersion"] = version
            if key[2]:
                meta["namespace"] = key[2]
            self.objects[key] = obj
            self._control(key, obj)
            return obj

    def delete(self, key: Key) -> Object | None:
        """Deletes, with what belongs to it."""
        with self._lock:
            if key[1] in self.kept:
                return self.objects.get(key)
            gone = self.objects.pop(key, None)
            if gone:
                uid = gone["metadata"]["uid"]
                for other, obj in list(self.objects.items()):
                    owners = obj["metadata"].get("ownerReferences", [])
                    if any(one["uid"] == uid for one in owners) or (key[1] == "namespaces" and other[2] == key[3]):
                        self.delete(other)
            return gone

    def matching(self, group: str, plural: str, namespace: str, query: dict[str, str]) -> list[Object]:
        """Objects that a list with selectors has."""
        with self._lock:
            found = [obj for key, obj in sorted(self.objects.items())
                     if key[:2] == (group, plural) and namespace in ("", key[2])]  # fmt: skip
        for part in filter(None, query.get("labelSelector", "").split(",")):
            name, _, value = part.partition("=")
            found = [one for one in found if one["metadata"].get("labels", {}).get(name) == value.lstrip("=")]
        for part in filter(None, query.get("fieldSelector", "").split(",")):
            name, _, value = part.partition("=")
            found = [one for one in found if one["metadata"].get(name.removeprefix("metadata.")) == value.lstrip("=")]
        return copy.deepcopy(found)

    def _control(self, key: Key, obj: Object) -> None:
        """What controllers and kubelets would do, at once."""
        seen = {"observedGeneration": obj["metadata"]["generation"]}
        if key[1] == "daemonsets":
            template = obj["spec"]["template"]
            nodes = [node for node in self.matching("", "nodes", "", {}) if not why_not(node, template["spec"])]
            count = len(nodes)
            names = ("desired", "current", "updated")
            obj["status"] = seen | {f"{name}NumberScheduled": count for name in names}
            obj["status"] |= {"numberReady": count, "numberAvailable": count, "numberMisscheduled": 0}
            self._pods(key, obj, count)
        elif key[1] == "deployments":
            count = obj["spec"].get("replicas", 1)
            names = ("replicas", "readyReplicas", "availableReplicas", "updatedReplicas")
            ready = [{"type": "Available", "status": "True"}, {"type": "Progressing", "status": "True",
                                                                "reason": "NewReplicaSetAvailable"}]  # fmt: skip
            obj["status"] = seen | dict.fromkeys(names, count) | {"conditions": ready}
            self._replica_set(key, obj, count)
        elif key[1] == "pods":
            done = obj["spec"].get("restartPolicy") == "Never"
            ready = [{"type": "Ready", "status": str(not done)}]
            obj["status"] = {"phase": "Succeeded" if done else "Running", "conditions": ready}
        elif key[1] == "services":
            obj["spec"].setdefault("clusterIP", "10.96.0.10")
        elif key[1] == "namespaces":
            obj["status"] = {"phase": "Active"}
            root = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "kube-root-ca.crt"}}
            self.put(("", "configmaps", key[3], "kube-root-ca.crt"), root)

    def _replica_set(self, key: Key, owner: Object, count: int) -> None:
        template = owner["spec"]["template"]
        name = f"{key[3]}-{zlib.crc32(json.dumps(template, sort_keys=True).encode()):x}"
        for old in self.matching("apps", "replicasets", key[2], {}):
            if old["metadata"]["ownerReferences"] == [_owner(owner)] and old["metadata"]["name"] != name:
                self.delete(("apps", "replicasets", key[2], old["metadata"]["name"]))
        place = ("apps", "replicasets", key[2], name)
        meta = {"name": name, "labels": template["metadata"]["labels"], "ownerReferences": [_owner(owner)]}
        spec = {"replicas": count, "template": template, "selector": owner["spec"]["selector"]}
        made = self.put(place, {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": meta, "spec": spec})
        made["status"] = {"observedGeneration": made["metadata"]["generation"], "replicas": count}
        made["status"] |= {"readyReplicas": count, "availableReplicas": count}
        self._pods(place, made, count)

    def _pods(self, key: Key, owner: Object, count: int) -> None:
        template = owner["spec"]["template"]
        for number in range(count):
            name = f"{key[3]}-{number}"
            meta = {"name": name, "labels": template["metadata"]["labels"], "ownerReferences": [_owner(owner)]}
            pod = {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": template["spec"]}
            self.put(("", "pods", key[2], name), pod)


def _owner(obj: Object) -> Object:
    meta = obj["metadata"]
    return {"apiVersion": obj["apiVersion"], "kind": obj["kind"], "name": meta["name"], "uid": meta["uid"],
            "controller": True}  # fmt: skip


def _handler(server: ApiServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            path, query = self._target()
            if path == "/openapi/v2":
                # A document without any kind, as protobuf: what is in no document is not validated.
                return self._answer(200, b"", "application/com.github.proto-openapi.spec.v2.v1.0+protobuf")
            found = _discovery(server, path)
            if found:
                return self._json(200, found)
            proxy = re.fullmatch(r"/api/v1/namespaces/([^/]+)/pods/([^/:]+):(\d+)/proxy/metrics", path)
            if proxy:
                pod = server.objects.get(("", "pods", proxy[1], proxy[2]))
                part = pod["metadata"]["labels"]["app.kubernetes.io/component"] if pod else ""
                return self._answer(200, server.metrics.get(part, "").encode(), "text/plain")
            place = _place(server, path)
            if place is None:
                return self._status(404, "NotFound", path)
            kind, namespace, name = place
            if name:
                obj = server.objects.get((kind[0], kind[2], namespace, name))
                return self._json(200, obj) if obj else self._status(404, "NotFound", f'{kind[2]} "{name}" not found')
            if query.get("watch") in ("true", "1"):
                return self._watch(query)
            group = f"{kind[0]}/{kind[1]}".lstrip("/")
            items = server.matching(kind[0], kind[2], namespace, query)
            meta = {"resourceVersion": "1"}
            return self._json(200, {"apiVersion": group, "kind": f"{kind[3]}List", "metadata": meta, "items": items})

        def do_POST(self) -> None:
            self._write(create=True)

        def do_PUT(self) -> None:
            self._write()

        def do_PATCH(self) -> None:
            self._write()

        def do_DELETE(self) -> None:
            path, _ = self._target()
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            place = _place(server, path)
            gone = server.delete((place[0][0], place[0][2], place[1], place[2])) if place else None
            if gone is None:
                return self._status(404, "NotFound", f"{path} not found")
            return self._json(200, gone)

        def _write(self, *, create: bool = False) -> None:
            path, _ = self._target()
            text = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            sent = decoded(text)
            place = _place(server, path)
            if place is None:
                return self._status(404, "NotFound", path)
            kind, namespace, name = place
            key = (kind[0], kind[2], namespace, name or sent["metadata"]["name"])
            there = server.objects.get(key)
            if create and there:
                return self._status(409, "AlreadyExists", f"{key[3]} already exists")
            if "merge-patch" in self.headers.get("Content-Type", "") and there:
                sent = _merge(there, sent)
            return self._json(201 if create else 200, server.put(key, sent))

        def _watch(self, query: dict[str, str]) -> None:
            if "sendInitialEvents" in query:
                return self._status(422, "Invalid", "sendInitialEvents: Forbidden")
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self.wfile.flush()
            # Nothing changes by itself here: a watcher hears nothing until it goes or its time is over.
            self.connection.settimeout(min(float(query.get("timeoutSeconds", 20)), 20))
            try:
                self.rfile.read(1)
            except OSError:
                self.close_connection = True
            return None

        def _target(self) -> tuple[str, dict[str, str]]:
            parts = urlsplit(self.path)
            server.asked.append((self.command, self.path))
            return unquote(parts.path), {name: values[0] for name, values in parse_qs(parts.query).items()}

        def _status(self, code: int, reason: str, message: str) -> None:
            said = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "code": code}
            self._json(code, said | {"message": message})

        def _json(self, code: int, content: Object) -> None:
            self._answer(code, json.dumps(content).encode(), "application/json")

        def _answer(self, code: int, body: bytes, kind: str) -> None:
            self.send_response(code)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    return Handler


def _discovery(server: ApiServer, path: str) -> Object | None:
    if path == "/version":
        return {"major": "1", "minor": "33", "gitVersion": server.version, "platform": "linux/amd64"}
    if path == "/api":
        return {"kind": "APIVersions", "versions": ["v1"]}
    groups = sorted({(kind[0], kind[1]) for kind in server.kinds})
    if path == "/apis":
        versions = [(group, {"groupVersion": f"{group}/{version}", "version": version}) for group, version in groups]
        named = [{"name": group, "versions": [one], "preferredVersion": one} for group, one in versions if group]
        return {"kind": "APIGroupList", "apiVersion": "v1", "groups": named}
    for group, version in groups:
        name = f"{group}/{version}".lstrip("/")
        if path == (f"/apis/{name}" if group else "/api/v1"):
            return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": name,
                    "resources": list(_resources(server, group))}  # fmt: skip
    return None


def _resources(server: ApiServer, group: str) -> Iterator[Object]:
    for one in server.kinds:
        if one[0] == group:
            singular = one[3].lower()
            yield {"name": one[2], "singularName": singular, "namespaced": one[4], "kind": one[3], "verbs": VERBS}


def _place(server: ApiServer, path: str) -> tuple[tuple[str, str, str, str, bool], str, str] | None:
    """Kind, namespace and name of a path."""
    found = re.fullmatch(
        r"/(?:api/v1|apis/([^/]+)/[^/]+)(?:/namespaces/([^/]+)(?=/))?/([^/]+)(?:/([^/]+))?(?:/status)?", path
    )
    if not found:
        return None
    group, namespace, plural, name = (part or "" for part in found.groups())
    kind = next((one for one in server.kinds if one[0] == group and one[2] == plural), None)
    return (kind, namespace, name) if kind else None


def _merge(old: Any, patch: Any) -> Any:
    """A strategic merge patch, as far as Helm's go: lists of what has names are merged by name."""
    if isinstance(old, dict) and isinstance(patch, dict):
        merged = dict(old)
        for key, value in patch.items():
            if key.startswith("$"):
                continue
            if value is None:
                merged.pop(key, None)
            else:
                merged[key] = _merge(merged.get(key), value)
        return merged
    named = isinstance(old, list) and isinstance(patch, list) and all("name" in one for one in old + patch
                                                                      if isinstance(one, dict))  # fmt: skip
    if named and any(isinstance(one, dict) for one in patch):
        by_name = {one["name"]: one for one in old}
        for one in patch:
            by_name[one["name"]] = _merge(by_name.get(one["name"]), one)
        return list(by_name.values())
    return copy.deepcopy(patch)

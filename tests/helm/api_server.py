"""A small API server of Kubernetes: it keeps what Helm sends, and runs nothing. No check of what it keeps is made."""

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import yaml
from tests.helm.protobuf import MAGIC, secret

Object = dict[str, Any]
CORE = {"pods": "Pod", "services": "Service", "secrets": "Secret", "configmaps": "ConfigMap"} | {
    "serviceaccounts": "ServiceAccount",
    "persistentvolumeclaims": "PersistentVolumeClaim",
    "namespaces": "Namespace",
}
GROUPS = {
    "apps/v1": {"daemonsets": "DaemonSet", "deployments": "Deployment"},
    "coordination.k8s.io/v1": {"leases": "Lease"},
    "policy/v1": {"poddisruptionbudgets": "PodDisruptionBudget"},
    "networking.k8s.io/v1": {"networkpolicies": "NetworkPolicy"},
    "rbac.authorization.k8s.io/v1": {"roles": "Role", "rolebindings": "RoleBinding"}
    | {"clusterroles": "ClusterRole", "clusterrolebindings": "ClusterRoleBinding"},
}
OPERATOR = {
    "monitoring.coreos.com/v1": {"podmonitors": "PodMonitor", "servicemonitors": "ServiceMonitor"}
    | {"prometheusrules": "PrometheusRule"},
}
"""Kinds of the Prometheus operator, where a cluster has it."""


class Cluster:
    """What a cluster serves and keeps."""

    def __init__(self, more: Mapping[str, Mapping[str, str]], version: str = "v1.33.4") -> None:
        self.version = version
        self.groups: Mapping[str, Mapping[str, str]] = {"v1": CORE, **GROUPS, **more}
        self.kept: dict[tuple[str, str, str], Object] = {}
        """Objects by plural, namespace and name."""
        self.address = ""

    def discovery(self, path: str) -> Object | None:
        """The answer to a question about what there is."""
        if path == "/version":
            return {"major": "1", "minor": "33", "gitVersion": self.version}
        if path == "/api":
            return {"kind": "APIVersions", "versions": ["v1"]}
        if path == "/apis":
            return {
                "kind": "APIGroupList",
                "apiVersion": "v1",
                "groups": [_group(one) for one in self.groups if "/" in one],
            }
        version = path.removeprefix("/apis/").removeprefix("/api/")
        kinds = self.groups.get(version)
        if kinds is None:
            return None
        return {
            "kind": "APIResourceList",
            "groupVersion": version,
            "resources": [_resource(*one) for one in kinds.items()],
        }


def _group(version: str) -> Object:
    versions = [{"groupVersion": version, "version": version.partition("/")[2]}]
    return {"name": version.partition("/")[0], "versions": versions, "preferredVersion": versions[0]}


def _resource(plural: str, kind: str) -> Object:
    verbs = ["create", "delete", "get", "list", "patch", "update", "watch"]
    return {"name": plural, "kind": kind, "namespaced": not kind.startswith(("Cluster", "Namespace")), "verbs": verbs}


class _Server(ThreadingHTTPServer):
    # Helm sends all objects of a kind at once, each on a connection of its own.
    request_queue_size = 256
    daemon_threads = True


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 100
    cluster: Cluster

    def _answer(self, body: Any, status: int = 200) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _refuse(self, status: int, reason: str) -> None:
        text = {
            "kind": "Status",
            "apiVersion": "v1",
            "status": "Failure",
            "reason": reason,
            "message": reason,
            "code": status,
        }
        self._answer(text, status)

    def _place(self) -> tuple[str, str, str]:
        parts = urlsplit(self.path).path.strip("/").split("/")
        rest = parts[2:] if parts[0] == "api" else parts[3:]
        namespace = ""
        if rest[0] == "namespaces" and len(rest) > 2:
            namespace, rest = rest[1], rest[2:]
        return rest[0], namespace, rest[1] if len(rest) > 1 else ""

    def _body(self) -> Object:
        data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if data.startswith(MAGIC):
            return secret(data)
        found: Object = yaml.load(data, yaml.CSafeLoader) if data else {}
        return found

    def do_GET(self) -> None:
        found = self.cluster.discovery(urlsplit(self.path).path)
        if found is not None:
            return self._answer(found)
        if self.path.startswith("/openapi"):
            return self._refuse(404, "NotFound")
        plural, namespace, name = self._place()
        if name:
            kept = self.cluster.kept.get((plural, namespace, name))
            return self._answer(kept) if kept else self._refuse(404, "NotFound")
        selector = parse_qs(urlsplit(self.path).query).get("labelSelector", [""])[0]
        wanted = dict(term.split("=", 1) for term in selector.split(",") if "=" in term)
        items = [
            one
            for (kind, where, _), one in self.cluster.kept.items()
            if (kind, where) == (plural, namespace) and wanted.items() <= one["metadata"].get("labels", {}).items()
        ]
        # A typed client decodes nothing else, and finds no records without a word.
        version, kind = next((one, kinds[plural]) for one, kinds in self.cluster.groups.items() if plural in kinds)
        head = {"kind": f"{kind}List", "apiVersion": version, "metadata": {"resourceVersion": "1"}}
        return self._answer(head | {"items": items})

    def _keep(self, place: tuple[str, str, str], found: Object, status: int) -> None:
        found.setdefault("metadata", {}).setdefault("uid", "-".join(place))
        found["metadata"]["resourceVersion"] = "1"
        self.cluster.kept[place] = found
        self._answer(found, status)

    def do_POST(self) -> None:
        plural, namespace, _ = self._place()
        found = self._body()
        place = (plural, namespace, found["metadata"]["name"])
        if place in self.cluster.kept:
            return self._refuse(409, "AlreadyExists")
        return self._keep(place, found, 201)

    def do_PUT(self) -> None:
        self._keep(self._place(), self._body(), 200)

    def do_PATCH(self) -> None:
        place, body = self._place(), self._body()
        applied = "apply-patch" in self.headers.get("Content-Type", "")
        self._keep(place, body if applied else _merged(self.cluster.kept.get(place, {}), body), 200)

    def do_DELETE(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        kept = self.cluster.kept.pop(self._place(), None)
        return self._answer(kept) if kept else self._refuse(404, "NotFound")

    def log_message(self, *arguments: object) -> None:
        """Says nothing."""


def _merged(old: Any, patch: Any) -> Any:
    if not isinstance(old, dict) or not isinstance(patch, dict):
        return patch
    changed = {key: _merged(old.get(key), value) for key, value in patch.items() if value is not None}
    return {key: value for key, value in old.items() if key not in patch} | changed


@contextmanager
def api_server(folder: Path, *, operator: bool = True, version: str = "v1.33.4") -> Iterator[tuple[Cluster, Path]]:
    """A cluster, and the kubeconfig that leads to it.

    Args:
        folder: for the kubeconfig.
        operator: whether it has the kinds of the Prometheus operator.
        version: of Kubernetes.
    """
    cluster = Cluster(OPERATOR if operator else {}, version)
    server = _Server(("127.0.0.1", 0), type("Handler", (_Handler,), {"cluster": cluster}))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "one", "cluster": {"server": f"http://127.0.0.1:{server.server_port}"}}],
        "users": [{"name": "one", "user": {}}],
        "contexts": [{"name": "one", "context": {"cluster": "one", "user": "one", "namespace": "default"}}],
        "current-context": "one",
    }
    path = folder / "kubeconfig"
    path.write_text(yaml.safe_dump(config), encoding="utf-8")
    try:
        yield cluster, path
    finally:
        server.shutdown()
        thread.join(10)
        server.server_close()

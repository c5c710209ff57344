"""A cluster that tests drive: a real HTTP server on loopback, and a source that watches it through the real client."""

import copy
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml
from tests.exporter.workloads.kubernetes.api_server import ApiServer

from gpuscope.workloads.kubernetes import FactLabels, KubernetesSource, Pace, Session
from gpuscope.workloads.observation import JobKey, KnownAttempts, Observation, ObservedJob

OBJECTS = Path(__file__).parent / "objects"
START = datetime(2026, 11, 30, 8, 0, tzinfo=UTC).timestamp()
WORKLOADS = {obj["kind"]: obj for obj in yaml.safe_load((OBJECTS / "workloads.yaml").read_text())}
PLURALS = {kind: f"{kind.lower()}s" for kind in WORKLOADS}
POD = yaml.safe_load((OBJECTS / "pod.yaml").read_text())
NODE = yaml.safe_load((OBJECTS / "node.yaml").read_text())
FAST = Pace(retry_s=0.02, retry_limit_s=0.1, refused_s=0.1, page=3, discovery_s=0.1)
KUBECONFIG = """
apiVersion: v1
kind: Config
current-context: test
clusters: [{name: test, cluster: {server: "%s"}}]
users: [{name: test, user: {token: secret}}]
contexts: [{name: test, context: {cluster: test, user: test}}]
"""


def at(seconds: float) -> str:
    """A time so many seconds after the beginning, as the API writes it."""
    return datetime.fromtimestamp(START + seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def workload(kind: str, **changes: dict) -> dict:
    """An object of a kind; ``spec``, ``status`` and ``metadata`` are merged into it."""
    obj = copy.deepcopy(WORKLOADS[kind])
    for part, fields in changes.items():
        obj.setdefault(part, {}).update(fields)
    return obj


def owned_by(owner: dict) -> list[dict]:
    meta = owner["metadata"]
    return [{"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": meta["name"], "uid": meta["uid"],
             "controller": True}]  # fmt: skip


def condition(kind: str, second: float, reason: str = "", message: str = "", status: str = "True") -> dict:
    return {"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": at(second)}


def terminated(code: int, reason: str, started: float, ended: float) -> dict:
    return {"terminated": {"exitCode": code, "reason": reason, "startedAt": at(started), "finishedAt": at(ended),
                           "containerID": "containerd://8d1f"}}  # fmt: skip


def pod(name: str, owner: dict, *, node: str = "gpu-01", created: float = 0, labels: dict | None = None) -> dict:
    """A pod that has just been created; without a node where ``node`` is empty."""
    obj = copy.deepcopy(POD)
    obj["metadata"] |= {"name": name, "uid": f"uid-{name}", "ownerReferences": owned_by(owner),
                        "creationTimestamp": at(created)}  # fmt: skip
    obj["metadata"]["labels"] |= labels or {}
    obj["spec"]["nodeName"] = node
    if node:
        obj["status"]["conditions"] = [condition("PodScheduled", created + 1)]
        obj["status"]["containerStatuses"] = [
            {"name": name, "restartCount": 0, "ready": False, "state": {"waiting": {"reason": "ContainerCreating"}}}
            for name in ("trainer", "log-shipper")
        ]
    else:
        del obj["spec"]["nodeName"]
        obj["status"]["conditions"] = [condition("PodScheduled", created, "Unschedulable", status="False")]
    return obj


def running(obj: dict, second: float) -> dict:
    """The pod since it runs."""
    obj = copy.deepcopy(obj)
    scheduled = next(one for one in obj["status"]["conditions"] if one["type"] == "PodScheduled")
    obj["status"] |= {"phase": "Running", "conditions": [scheduled, condition("Ready", second)]}
    for one in obj["status"]["containerStatuses"]:
        one |= {"ready": True, "state": {"running": {"startedAt": at(second)}}}
    return obj


def failed(obj: dict, code: int, second: float, reason: str = "Error") -> dict:
    """The pod after its process failed."""
    obj = copy.deepcopy(obj)
    started = obj["status"]["containerStatuses"][0]["state"].get("running", {}).get("startedAt")
    obj["status"]["phase"] = "Failed"
    obj["status"]["conditions"] = [
        one if one["type"] != "Ready" else condition("Ready", second, "PodFailed", status="False")
        for one in obj["status"]["conditions"]
    ]
    obj["status"]["containerStatuses"][0] |= {"ready": False, "state": terminated(code, reason, 0, second)}
    if started:
        obj["status"]["containerStatuses"][0]["state"]["terminated"]["startedAt"] = started
    obj["status"]["containerStatuses"][1] |= {"ready": False, "state": terminated(143, "Error", 0, second + 1)}
    return obj


def succeeded(obj: dict, second: float) -> dict:
    obj = failed(obj, 0, second, "Completed")
    obj["status"]["phase"] = "Succeeded"
    return obj


class Cluster:
    """The server, and what a source says of it."""

    def __init__(self, server: ApiServer, folder: Path) -> None:
        self.server = server
        self.now = START
        self.problems: dict[str, int] = {}
        self._folder = folder
        self._sources: list[KubernetesSource] = []

    def watch(
        self, known: Callable[[JobKey], KnownAttempts | None] | None = None,
        labels: FactLabels | None = None, pace: Pace = FAST, settle_s: float = 0.0, dra: bool = False,
        namespaces: Sequence[str] = (),
    ) -> KubernetesSource:  # fmt: skip
        config = self._folder / "kubeconfig"
        config.write_text(KUBECONFIG % self.server.url)
        session = Session(str(config))
        self.source = KubernetesSource(session, labels, known, pace, lambda: self.now, settle_s, dra, namespaces)
        self._sources.append(self.source)
        self.source.start()
        return self.source

    def see(self, until: Callable[[Observation], object], second: float = 3600) -> Observation:
        """Looks again and again until something is so; fails with what was seen last."""
        self.now = START + second
        give_up = time.monotonic() + 60
        while True:
            began = time.monotonic()
            seen = self.source.observe(self.now)
            for reason, count in seen.problems.items():
                self.problems[reason] = self.problems.get(reason, 0) + count
            if until(seen):
                return seen
            assert time.monotonic() < give_up, f"not seen: {seen}"
            time.sleep(max(0.01, time.monotonic() - began))  # what is watched needs the processor too

    def job(self, until: Callable[[ObservedJob], object] = lambda _: True, second: float = 3600) -> ObservedJob:
        """The only job, once it is so."""
        seen = self.see(lambda all_: len(all_.jobs) == 1 and until(all_.jobs[0]), second)
        return seen.jobs[0]

    def stop(self) -> None:
        for source in self._sources:
            source.stop()


@pytest.fixture
def server() -> Iterator[ApiServer]:
    api = ApiServer()
    for kind in ("Job", "JobSet", "Workload"):
        api.install(kind, WORKLOADS[kind]["apiVersion"], f"{kind.lower()}s")
    yield api
    if api.running:
        api.away()


@pytest.fixture
def cluster(server: ApiServer, tmp_path: Path) -> Iterator[Cluster]:
    for index in (1, 2, 3):
        node = copy.deepcopy(NODE)
        node["metadata"] |= {"name": f"gpu-0{index}", "uid": f"node-gpu-0{index}"}
        server.put(node)
    made = Cluster(server, tmp_path)
    yield made
    made.stop()

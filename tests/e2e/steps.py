"""What is asked of the chart on a cluster, one function a question."""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Callable

import yaml
from tests.e2e.cluster import Cluster, Failed, Object
from tests.e2e.nodes import why_none

__all__ = ["check_agents", "check_collector", "check_manifest", "check_monitoring", "pod_template", "wait_for"]

MONITORING = "monitoring.coreos.com"
AGENT = "app.kubernetes.io/component=agent"
COLLECTOR = "app.kubernetes.io/component=collector"


def wait_for(what: str, until: Callable[[], object], seconds: float) -> None:
    """Waits until something is so.

    Raises:
        Failed: it is not, in time.
    """
    end = time.monotonic() + seconds
    while not until():
        if time.monotonic() > end:
            raise Failed(f"not after {seconds:.0f} s: {what}")
        time.sleep(1)


def check_manifest(cluster: Cluster) -> str:
    """Every object that the chart rendered is there, with the labels of the release."""
    text = cluster.helm("get", "manifest", cluster.release)
    wanted = [one for one in yaml.safe_load_all(text) if one]
    if not wanted:
        raise Failed("the chart rendered nothing")
    with tempfile.NamedTemporaryFile("w", suffix=".yaml", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        found = cluster.get("--filename", file.name, "--namespace", cluster.namespace)
    for one in found.get("items", [found]):
        if one["metadata"].get("labels", {}).get("app.kubernetes.io/instance") != cluster.release:
            raise Failed(f"{one['kind']} {one['metadata']['name']} lacks the label of its release")
    return f"{len(wanted)} objects are there"


def check_agents(cluster: Cluster, seconds: float, wanted: int | None = None) -> str:
    """As many agents run as the DaemonSet desires, and each publishes; where none is desired it says why."""
    sets = cluster.list("daemonsets.v1.apps", "--namespace", cluster.namespace, f"--selector={AGENT}")
    if not sets:
        return "the chart runs no agent with these values"
    name = sets[0]["metadata"]["name"]

    def seen() -> Object:
        return cluster.get("daemonset.v1.apps", name, "--namespace", cluster.namespace)

    def observed() -> bool:
        now = seen()
        return bool(now.get("status", {}).get("observedGeneration", 0) >= now["metadata"].get("generation", 1))

    wait_for("the cluster's controller looks at the DaemonSet", observed, seconds)
    desired = seen()["status"].get("desiredNumberScheduled", 0)
    if wanted is not None and desired != wanted:
        raise Failed(f"{wanted} agents are expected, {desired} are desired: {_why(cluster, seen())}")
    if not desired:
        return f"no agent is desired: {_why(cluster, seen())}"

    def updated() -> bool:
        status = seen()["status"]
        return bool(status.get("numberAvailable", 0) == status.get("updatedNumberScheduled", 0) == desired)

    wait_for(f"{desired} agents are available", updated, seconds)
    silent = [pod for pod in _pods(cluster, AGENT) if not _published(cluster, pod, "gpuscope_build_info")]
    if silent:
        raise Failed(f"agents that publish nothing: {', '.join(silent)}")
    blind = [pod for pod in _pods(cluster, AGENT) if not _published(cluster, pod, "gpuscope_up")]
    said = f"{desired} of {desired} agents are ready and publish"
    return said + (f"; without a driver: {', '.join(blind)}" if blind else "")


def check_collector(cluster: Cluster, seconds: float) -> str:
    """The collector runs, and hears the API server."""
    found = cluster.list("deployments.v1.apps", "--namespace", cluster.namespace, f"--selector={COLLECTOR}")
    if not found:
        return "the chart runs no collector with these values"
    name, wanted = found[0]["metadata"]["name"], found[0]["spec"].get("replicas", 1)

    def available() -> bool:
        status = cluster.get("deployment.v1.apps", name, "--namespace", cluster.namespace).get("status", {})
        return bool(status.get("availableReplicas", 0) >= wanted)

    wait_for(f"{wanted} collectors are available", available, seconds)
    for pod in _pods(cluster, COLLECTOR):
        if _published(cluster, pod, "gpuscope_collector_source_up"):
            return f"{pod} hears its scheduler"
    raise Failed("no collector hears its scheduler")


def check_monitoring(cluster: Cluster) -> str:
    """Monitors and rules of the Prometheus operator are there where the cluster has the kinds."""
    said = []
    for kind, plural in (("PodMonitor", "podmonitors"), ("ServiceMonitor", "servicemonitors"),
                         ("PrometheusRule", "prometheusrules")):  # fmt: skip
        if not cluster.has(plural, MONITORING):
            said.append(f"no {kind}: the cluster does not have the kind")
            continue
        selector = f"--selector=app.kubernetes.io/instance={cluster.release}"
        found = cluster.list(f"{plural}.{MONITORING}", "--all-namespaces", selector)
        said.append(f"{len(found)} {kind}s")
    maps = cluster.list("configmaps", "--namespace", cluster.namespace, "--selector=grafana_dashboard=1")
    return "; ".join([*said, f"{len(maps)} boards"])


def pod_template(cluster: Cluster) -> Object:
    """Pod template of the agent, or of the collector where there is no agent."""
    for kind, selector in (("daemonsets.v1.apps", AGENT), ("deployments.v1.apps", COLLECTOR)):
        for one in cluster.list(kind, "--namespace", cluster.namespace, f"--selector={selector}"):
            return dict(one["spec"]["template"]["spec"])
    raise Failed("neither agent nor collector is there")


def _why(cluster: Cluster, agents: Object) -> str:
    return why_none(cluster.list("nodes"), agents["spec"]["template"]["spec"])


def _pods(cluster: Cluster, selector: str) -> list[str]:
    found = cluster.list("pods", "--namespace", cluster.namespace, f"--selector={selector}")
    return [pod["metadata"]["name"] for pod in found if not pod["metadata"].get("deletionTimestamp")]


def _published(cluster: Cluster, pod: str, metric: str) -> bool:
    """Whether a pod has a series that is not 0, as the API server's proxy sees it."""
    found = cluster.get("pod", pod, "--namespace", cluster.namespace)
    port = found["spec"]["containers"][0]["ports"][0]["containerPort"]
    text = cluster.raw(f"/api/v1/namespaces/{cluster.namespace}/pods/{pod}:{port}/proxy/metrics")
    return bool(re.search(rf"^{metric}(?:{{[^}}]*}})? (?!0(?:\.0)?$)\S+$", text, re.MULTILINE))

"""What of a release is still in a cluster."""

from __future__ import annotations

import time
from collections.abc import Sequence

from tests.e2e.cluster import Cluster, Failed, Object

__all__ = ["labeled", "other", "wait_until_gone"]

# What every namespace has, or keeps for a while by itself.
OWN = (
    "ConfigMap/kube-root-ca.crt",
    "ConfigMap/openshift-service-ca.crt",
    "ConfigMap/istio-ca-root-cert",
    "ServiceAccount/default",
    "ServiceAccount/builder",
    "ServiceAccount/deployer",
)
FLEETING = ("events", "events.events.k8s.io", "endpoints", "endpointslices.discovery.k8s.io")
# Copies that another API makes of objects, of usage or of reports.
DERIVED = ("metrics.k8s.io", "wgpolicyk8s.io", "aquasecurity.github.io")


def labeled(cluster: Cluster) -> list[str]:
    """Objects with the label of the release, in all namespaces and in none."""
    selector = f"--selector=app.kubernetes.io/instance={cluster.release}"
    found = _names(cluster, cluster.kinds(namespaced=False), (selector,))
    return found + _names(cluster, cluster.kinds(namespaced=True), (selector, "--all-namespaces"))


def other(cluster: Cluster) -> list[str]:
    """What is in the namespace beyond what every namespace has, labels or not."""
    found = _names(cluster, cluster.kinds(namespaced=True), ("--namespace", cluster.namespace))
    return [name for name in found if not name.endswith(OWN)]


def wait_until_gone(cluster: Cluster, seconds: float) -> None:
    """Waits until nothing is left behind.

    Raises:
        Failed: something is; it names all of it.
    """
    end = time.monotonic() + seconds
    while left := labeled(cluster) + other(cluster):
        if time.monotonic() > end:
            raise Failed(f"left behind: {', '.join(sorted(set(left)))}")
        time.sleep(1)


def _names(cluster: Cluster, kinds: Sequence[str], flags: Sequence[str]) -> list[str]:
    kinds = [kind for kind in kinds if not kind.endswith(DERIVED) and kind not in FLEETING]
    try:
        items = cluster.list(",".join(kinds), *flags)
    except Failed:
        # Some APIs list their kinds and then refuse to say more; nothing of a chart is in those.
        items = [one for kind in kinds for one in _listed(cluster, kind, flags)]
    return [f"{one['metadata'].get('namespace', '')}/{one['kind']}/{one['metadata']['name']}" for one in items]


def _listed(cluster: Cluster, kind: str, flags: Sequence[str]) -> list[Object]:
    try:
        return cluster.list(kind, *flags)
    except Failed as failure:
        if any(word in str(failure) for word in ("Forbidden", "NotAcceptable", "MethodNotAllowed", "NotFound")):
            return []
        raise

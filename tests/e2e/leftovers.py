"""What of a release is still in a cluster."""

from __future__ import annotations

import time
from collections.abc import Sequence

from tests.e2e.cluster import Cluster, Failed

__all__ = ["labeled", "other", "wait_until_gone"]

# What every namespace has, or keeps for a while by itself.
OWN = (
    "configmaps/kube-root-ca.crt",
    "configmaps/openshift-service-ca.crt",
    "configmaps/istio-ca-root-cert",
    "serviceaccounts/default",
    "serviceaccounts/builder",
    "serviceaccounts/deployer",
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
    kinds = [kind for kind in cluster.kinds(namespaced=True) if kind not in FLEETING]
    return [name for name in _names(cluster, kinds, ("--namespace", cluster.namespace)) if not name.endswith(OWN)]


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
    found = []
    for kind in kinds:
        if kind.endswith(DERIVED) or kind in FLEETING:
            continue
        try:
            items = cluster.list(kind, *flags)
        except Failed as failure:
            # Some APIs list their kinds and then refuse to say more; nothing of a chart is in those.
            if not any(word in str(failure) for word in ("Forbidden", "NotAcceptable", "MethodNotAllowed", "NotFound")):
                raise
            continue
        for one in items:
            meta = one["metadata"]
            found.append(f"{meta.get('namespace', '')}/{kind}/{meta['name']}")
    return found

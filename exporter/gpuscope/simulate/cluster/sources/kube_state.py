"""kube-state-metrics, alone or as a pair that says everything twice."""

from collections.abc import Callable
from functools import partial

from gpuscope.simulate.cluster.exposition import Page
from gpuscope.simulate.cluster.pod_history import pod_records
from gpuscope.simulate.cluster.sources.kube_nodes import add_namespaces, add_nodes
from gpuscope.simulate.cluster.sources.kube_pods import add_pods
from gpuscope.simulate.cluster.sources.kube_workloads import add_workloads
from gpuscope.simulate.cluster.sources.target import Source, Target, service
from gpuscope.simulate.cluster.world import World

__all__ = ["KUBE_STATE", "KUBE_STATE_PAIR"]


def kube_state_page(world: World) -> str:
    """The exposition; the same from each of a pair."""
    page = Page()
    records = pod_records(world)
    add_nodes(page, world)
    add_namespaces(page, world)
    add_pods(page, world, records)
    add_workloads(page, world, records)
    return page.text()


def _targets(count: int) -> Callable[[World], list[Target]]:
    def targets(world: World) -> list[Target]:
        return [
            Target(
                f"replica-{number}",
                service("monitoring", "kube-state-metrics", f"10.244.9.{number + 1}:8443", endpoint="https-main"),
                partial(kube_state_page, world),
            )
            for number in range(count)
        ]

    return targets


_TEXT = "kube-state-metrics with labels of pods and nodes allowed"
KUBE_STATE = Source("kube-state", "kube-state-metrics", _TEXT, _targets(1), honor_labels=True)
KUBE_STATE_PAIR = Source(
    "kube-state-pair", "kube-state-metrics", f"{_TEXT}, twice", _targets(2), honor_labels=True
)  # fmt: skip

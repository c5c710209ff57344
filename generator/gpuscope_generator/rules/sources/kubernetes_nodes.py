"""Nodes as kube-state-metrics sees them: ready, cordoned, why not, and their GPUs."""

from __future__ import annotations

from gpuscope.catalogue import attribution, scheduler
from gpuscope_generator.external import kubernetes as kube
from gpuscope_generator.normalized import gpu, node
from gpuscope_generator.promql import (
    Gauge,
    Matcher,
    Selector,
    Series,
    Vector,
    as_gauge,
    as_info,
    clamp,
    first_of,
    group_by,
    join,
    label_join,
    label_replace,
    last_over_time,
    max_by,
    select,
    sum_by,
)
from gpuscope_generator.promql.joins import one_of
from gpuscope_generator.rules.model import Recording, recording
from gpuscope_generator.rules.sources.canonical import canonical, of_object, of_source
from gpuscope_generator.rules.sources.pod_owners import SOURCE
from gpuscope_generator.settings import Settings

__all__ = ["kubernetes_node_rules", "not_countable", "state_rules", "told_by_collector"]

_POOLS = (
    "label_karpenter_sh_nodepool",
    "label_eks_amazonaws_com_nodegroup",
    "label_cloud_google_com_gke_nodepool",
    "label_kubernetes_azure_com_agentpool",
    "label_sagemaker_amazonaws_com_instance_group_name",
    "label_node_pool",
)
# Taints that keep other work away from GPU nodes say nothing against the node.
_USUAL_TAINTS = "nvidia.com/gpu|amd.com/gpu|node-role.kubernetes.io/.*|sku|dedicated"


def told_by_collector(settings: Settings) -> Vector:
    """Nodes whose state our collector knows; it comes before kube-state-metrics."""
    return canonical(
        of_source(as_gauge(scheduler.NODE_STATE), settings, "collector"), settings, node_from=("exported_node",)
    )


def state_rules(ready: Vector, cordoned: Vector, unknown: Vector) -> tuple[Recording, ...]:
    """READY, CORDONED and the four STATEs from 1 and 0 by cluster and node.

    Args:
        ready: 1 while the node is fit for work, cordoned or not.
        cordoned: 1 while new work is kept away.
        unknown: 1 while nobody can tell.
    """
    not_ready = clamp((ready + unknown) * -1 + 1, low=0)
    return (
        recording(node.READY, ready),
        recording(node.CORDONED, cordoned),
        recording(node.STATE, ready * (cordoned * -1 + 1), state="ready"),
        recording(node.STATE, ready * cordoned, state="cordoned"),
        recording(node.STATE, not_ready, state="not_ready"),
        recording(node.STATE, unknown, state="unknown"),
    )


def not_countable(settings: Settings) -> Vector:
    """Nodes of which Kubernetes counts something else than GPUs: MIG instances, or shares of time."""
    in_slices = select(gpu.MIG_MODE).compare("==", 1)
    shared = canonical(
        last_over_time(
            of_source(as_info(attribution.POD_ALLOCATION), settings, "gpuscope", Matcher("replica", "!=", "")),
            "1h",
        ),
        settings,
    )
    return group_by(in_slices, *node.NODE).or_(group_by(shared, *node.NODE))


def kubernetes_node_rules(settings: Settings) -> tuple[Recording, ...]:
    """Rules of nodes, for those that our collector does not tell of."""
    told = told_by_collector(settings)

    def raw(series: Series, *conditions: Matcher, labels: tuple[str, ...] = ()) -> Vector:
        selected: Selector[Series] = of_source(series, settings, SOURCE, *conditions)
        return max_by(of_object(selected, settings, "node"), *node.NODE, *labels)

    def condition(status: str) -> Vector:
        return raw(kube.NODE_CONDITION, Matcher("condition", "=", "Ready"), Matcher("status", "=", status)).unless(
            told, on=node.NODE
        )

    counted = max_by(
        canonical(
            of_source(as_gauge(scheduler.NODE_GPUS), settings, "collector", Matcher("kind", "=", "total")),
            settings,
            node_from=("exported_node",),
        ),
        *node.NODE,
    )

    def gpus(series: Gauge, state: str) -> Recording:
        each = raw(series, Matcher("resource", "=~", kube.WHOLE_GPU_RESOURCES), labels=("resource",))
        in_mig = raw(series, Matcher("resource", "=~", kube.MIG_RESOURCES)).compare(">", 0)
        whole = sum_by(each, *node.NODE).unless(in_mig, on=node.NODE).unless(not_countable(settings), on=node.NODE)
        if state == "expected":
            return recording(node.GPUS, whole.unless(counted, on=node.NODE).compare(">", 0), state=state)
        # A device plugin that is gone offers 0; on a node without GPUs that says nothing.
        none = whole.compare("==", 0).and_(select(gpu.UP), on=node.NODE)
        return recording(node.GPUS, whole.compare(">", 0).or_(none), state=state)

    pressed = raw(
        kube.NODE_CONDITION,
        Matcher("condition", "!=", "Ready"),
        Matcher("status", "=", "true"),
        labels=("condition",),
    ).compare("==", 1)
    tainted = raw(
        kube.NODE_TAINT,
        Matcher("effect", "!=", "PreferNoSchedule"),
        Matcher("key", "!~", _USUAL_TAINTS),
        labels=("key",),
    )
    idle = select(node.READY).compare("==", 0).or_(select(node.CORDONED).compare("==", 1))
    reasons = first_of(
        label_replace(pressed, "reason", "$1", "condition", "(.*)"),
        label_replace(tainted, "reason", "taint $1", "key", "(.*)"),
    ).unless(told, on=node.NODE)
    return (
        *state_rules(condition("true"), raw(kube.NODE_UNSCHEDULABLE).unless(told, on=node.NODE), condition("unknown")),
        recording(node.REASON, group_by(reasons.and_(idle, on=node.NODE), *node.NODE, "reason")),
        gpus(kube.NODE_CAPACITY, "expected"),
        gpus(kube.NODE_ALLOCATABLE, "allocatable"),
        recording(node.INFO, _info(settings)),
    )


def _info(settings: Settings) -> Vector:
    """Pool and instance type, where kube-state-metrics publishes these labels; the node itself in any case."""
    known = group_by(of_object(of_source(kube.NODE_INFO, settings, SOURCE), settings, "node"), *node.NODE)
    labels = of_object(of_source(kube.NODE_LABELS, settings, SOURCE), settings, "node")
    pooled = label_replace(label_join(labels, "pool", ";", *_POOLS), "pool", "$1", "pool", ";*([^;]*).*")
    typed = label_replace(pooled, "instance_type", "$1", "label_node_kubernetes_io_instance_type", "(.*)")
    facts = one_of(group_by(typed, *node.NODE, "pool", "instance_type"), *node.NODE)
    bare = label_replace(label_replace(known, "pool", "", "", ""), "instance_type", "", "", "")
    joined = join(known, facts, on=node.NODE, take=("pool", "instance_type"))
    # Without Kubernetes a node is one that is scraped, or that has a GPU.
    seen = group_by(select(node.INSTANCE), *node.NODE).or_(group_by(select(gpu.INFO), *node.NODE))
    other = label_replace(label_replace(seen, "pool", "", "", ""), "instance_type", "", "", "")
    return first_of(joined, bare, other, on=node.NODE)

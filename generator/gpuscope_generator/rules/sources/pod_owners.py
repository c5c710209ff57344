"""Which workload a pod belongs to: from our collector, or from what kube-state-metrics tells of owners."""

from __future__ import annotations

from gpuscope.catalogue import scheduler
from gpuscope_generator.external import kubernetes as kube
from gpuscope_generator.normalized import workload
from gpuscope_generator.promql import Info, Matcher, Vector, as_info, first_of, group_by, join, label_replace, max_by
from gpuscope_generator.promql.joins import one_of
from gpuscope_generator.rules.sources.canonical import of_object, of_source
from gpuscope_generator.settings import Settings

__all__ = ["OBJECT", "SOURCE", "pods_of_workloads"]

OBJECT = ("cluster", "namespace", "pod")
"""What identifies a pod; its name alone does not."""
SOURCE = "kube-state-metrics"
_NO_WORK = "DaemonSet|Node"
_NOBODY = "|<none>"
# Kubernetes makes the hash of a ReplicaSet's template from these letters and digits only.
_TEMPLATE_HASH = "(.+)-[bcdfghjklmnpqrstvwxz2456789]{5,10}"
_OWNED = ("workload_kind", "workload", "team", "queue")


def pods_of_workloads(settings: Settings) -> Vector:
    """One series a pod, with the labels of `normalized.workload.POD`.

    Pods of DaemonSets and static pods are left out: every node has them, and they are nobody's work. A pod that our
    collector knows belongs to what the collector says. Else it belongs to its owner's owner, as far as
    kube-state-metrics tells it; to the Deployment whose name a ReplicaSet carries; to its owner; or to itself. Team
    and queue are then the pod's labels ``team`` and ``kueue.x-k8s.io/queue-name``, where they are published.
    """
    told = of_object(
        of_source(as_info(scheduler.POD_WORKLOAD), settings, "collector", Matcher("workload_kind", "!~", _NO_WORK)),
        settings,
        "namespace",
        "pod",
    )
    told = group_by(told, *OBJECT, *_OWNED)
    pods = group_by(of_object(_pods(settings), settings, "namespace", "pod", "node"), *OBJECT, "node")
    named = first_of(*_from_owners(settings), on=OBJECT)
    labelled = join(named, _team_and_queue(settings), on=OBJECT, take=("team", "queue"))
    facts = first_of(told, labelled, named, on=OBJECT)
    # Two kube-state-metrics may disagree for a moment about where a new pod is.
    joined = join(one_of(pods, *OBJECT), facts, on=OBJECT, take=_OWNED)
    alone = label_replace(told, "node", "", "", "")
    return max_by(joined.or_(alone, on=OBJECT), *workload.POD)


def _team_and_queue(settings: Settings) -> Vector:
    """Of the pods that carry them as labels; the collector's default is the same label for the team."""
    found = of_object(of_source(kube.POD_LABELS, settings, SOURCE), settings, "namespace", "pod")
    named = label_replace(found, "team", "$1", "label_team", "(.*)")
    queued = label_replace(named, "queue", "$1", "label_kueue_x_k8s_io_queue_name", "(.*)")
    return group_by(queued, *OBJECT, "team", "queue")


def _pods(settings: Settings, *conditions: Matcher) -> Vector:
    return of_source(kube.POD_INFO, settings, SOURCE, Matcher("created_by_kind", "!~", _NO_WORK), *conditions)


def _from_owners(settings: Settings) -> tuple[Vector, ...]:
    """The candidates, the best first."""
    of_replica_sets = _owned_by(settings, "replicaset", Matcher("created_by_kind", "=", "ReplicaSet"))
    of_jobs = _owned_by(settings, "job_name", Matcher("created_by_kind", "=", "Job"))
    hashed = _owned_by(
        settings,
        "replicaset",
        Matcher("created_by_kind", "=", "ReplicaSet"),
        Matcher("created_by_name", "=~", _TEMPLATE_HASH),
    ).unless(_owners(kube.REPLICASET_OWNER, settings, "replicaset"), on=("cluster", "namespace", "replicaset"))
    owned = _owned_by(settings, "workload", Matcher("created_by_kind", "!~", _NOBODY))
    pods = of_object(_pods(settings), settings, "namespace", "pod")
    return (
        _above(of_replica_sets, _owners(kube.REPLICASET_OWNER, settings, "replicaset", _KNOWN), "replicaset"),
        _above(of_jobs, _owners(kube.JOB_OWNER, settings, "job_name", _KNOWN), "job_name"),
        _fact(
            label_replace(
                label_replace(hashed, "workload_kind", "Deployment", "", ""),
                "workload",
                "$1",
                "replicaset",
                _TEMPLATE_HASH,
            )
        ),
        _fact(label_replace(owned, "workload_kind", "$1", "created_by_kind", "(.*)")),
        _fact(_other_owners(settings)),
        _fact(label_replace(label_replace(pods, "workload_kind", "Pod", "", ""), "workload", "$1", "pod", "(.*)")),
    )


_KNOWN = Matcher("owner_kind", "!~", _NOBODY)


def _owned_by(settings: Settings, label: str, *conditions: Matcher) -> Vector:
    """Pods with the name of their owner as a label."""
    named = of_object(_pods(settings, *conditions), settings, "namespace", "pod")
    return label_replace(named, label, "$1", "created_by_name", "(.*)")


def _owners(series: Info, settings: Settings, label: str, *conditions: Matcher) -> Vector:
    found = of_object(of_source(series, settings, SOURCE, *conditions), settings, "namespace")
    return group_by(found, "cluster", "namespace", label, "owner_kind", "owner_name")


def _above(pods: Vector, owners: Vector, label: str) -> Vector:
    """The owner of the owner."""
    keys = ("cluster", "namespace", label)
    joined = join(group_by(pods, *OBJECT, label), owners, on=keys, take=("owner_kind", "owner_name"))
    named = label_replace(joined, "workload_kind", "$1", "owner_kind", "(.*)")
    return _fact(label_replace(named, "workload", "$1", "owner_name", "(.*)"))


def _other_owners(settings: Settings) -> Vector:
    """Owners that do not control the pod, as some operators set them."""
    found = of_object(
        of_source(
            kube.POD_OWNER,
            settings,
            SOURCE,
            Matcher("owner_is_controller", "=", "false"),
            Matcher("owner_kind", "!~", f"{_NOBODY}|{_NO_WORK}"),
        ),
        settings,
        "namespace",
        "pod",
    )
    named = label_replace(found, "workload_kind", "$1", "owner_kind", "(.*)")
    return label_replace(named, "workload", "$1", "owner_name", "(.*)")


def _fact(named: Vector) -> Vector:
    """Team and queue stay empty: owners do not tell them."""
    empty = label_replace(group_by(named, *OBJECT, "workload_kind", "workload"), "team", "", "", "")
    return label_replace(empty, "queue", "", "", "")

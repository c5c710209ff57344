"""Pods as kube-state-metrics sees them: phase, restarts, requests, times."""

from __future__ import annotations

from gpuscope_generator.external import kubernetes as kube
from gpuscope_generator.normalized import workload
from gpuscope_generator.promql import (
    Gauge,
    Matcher,
    Series,
    Vector,
    count_values,
    join,
    label_replace,
    max_by,
    select,
    sum_by,
)
from gpuscope_generator.promql.joins import one_of
from gpuscope_generator.rules.model import Recording, recording
from gpuscope_generator.rules.sources.canonical import of_object, of_source
from gpuscope_generator.rules.sources.pod_owners import OBJECT, SOURCE, pods_of_workloads
from gpuscope_generator.settings import Settings

__all__ = ["attributed", "kubernetes_pod_rules"]

_CONTAINER = (*OBJECT, "container")


def attributed(of_pods: Vector) -> Vector:
    """Gives what carries cluster, namespace and pod the workload and the node of the pod; other pods drop out."""
    taken = tuple(label for label in workload.POD if label not in OBJECT)
    return join(of_pods, select(workload.POD_INFO), on=OBJECT, take=taken)


def kubernetes_pod_rules(settings: Settings) -> tuple[Recording, ...]:
    """Rules of pods; the first makes the series that all others, of all sources, are joined with."""

    def raw(series: Series, *labels: str, conditions: tuple[Matcher, ...] = ()) -> Vector:
        """The largest of what two kube-state-metrics say, by the labels of the object."""
        objects = ("namespace", "pod", *(("container",) if "container" in labels else ()))
        return max_by(of_object(of_source(series, settings, SOURCE, *conditions), settings, *objects), *labels)

    alive = select(workload.POD_PHASE, Matcher("phase", "=~", "Running|Pending"))

    def asked(target: Gauge, series: Gauge, resource: str) -> Recording:
        each = raw(series, *_CONTAINER, conditions=(Matcher("resource", "=", resource),))
        return recording(target, attributed(sum_by(each, *OBJECT)).and_(alive, on=OBJECT))

    devices = raw(
        kube.CONTAINER_REQUEST,
        *_CONTAINER,
        "resource",
        conditions=(Matcher("resource", "=~", f"{kube.GPU_RESOURCES}|{kube.MIG_RESOURCES}"),),
    )
    reasons = raw(kube.CONTAINER_EXIT_REASON, *_CONTAINER, "reason").compare("==", 1)
    codes = count_values("exit_code", raw(kube.CONTAINER_EXIT_CODE, *_CONTAINER), *_CONTAINER)
    ended = join(reasons, codes, on=_CONTAINER, take=("exit_code",))
    unknown_code = label_replace(reasons, "exit_code", "", "", "")
    times = (("created", kube.POD_CREATED), ("scheduled", kube.POD_SCHEDULED), ("ready", kube.POD_READY))
    return (
        recording(workload.POD_INFO, pods_of_workloads(settings)),
        recording(
            workload.POD_PHASE, attributed(one_of(raw(kube.POD_PHASE, *OBJECT, "phase").compare("==", 1), *OBJECT))
        ),
        recording(workload.POD_RESTARTS, attributed(raw(kube.CONTAINER_RESTARTS, *_CONTAINER))),
        recording(
            workload.POD_WAITING,
            attributed(raw(kube.CONTAINER_WAITING, *_CONTAINER, "reason").compare("==", 1)),
        ),
        recording(workload.POD_EXIT, attributed(one_of(ended.or_(unknown_code, on=_CONTAINER), *_CONTAINER))),
        asked(workload.POD_CPU_REQUEST, kube.CONTAINER_REQUEST, "cpu"),
        asked(workload.POD_CPU_LIMIT, kube.CONTAINER_LIMIT, "cpu"),
        asked(workload.POD_MEMORY_REQUEST, kube.CONTAINER_REQUEST, "memory"),
        asked(workload.POD_MEMORY_LIMIT, kube.CONTAINER_LIMIT, "memory"),
        recording(
            workload.POD_GPU_REQUEST,
            attributed(sum_by(devices, *OBJECT, "resource")).and_(alive, on=OBJECT),
        ),
        *(recording(workload.POD_TIME, attributed(raw(series, *OBJECT)), event=event) for event, series in times),
    )

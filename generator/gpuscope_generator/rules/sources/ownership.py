"""From a pod or a job that holds a device to the workload, the team and the queue that it belongs to."""

from __future__ import annotations

from gpuscope.catalogue import scheduler, training
from gpuscope_generator.normalized.workload import POD_INFO
from gpuscope_generator.promql import Matcher, Vector, as_info, gauge, group_by, join, max_by, select
from gpuscope_generator.rules.sources.canonical import clustered, of_object, of_source
from gpuscope_generator.rules.sources.labels import first_label, labelled
from gpuscope_generator.settings import Settings

__all__ = ["OWNER_LABELS", "not_of_exporter", "owners"]

OWNER_LABELS = ("namespace", "pod", "workload_kind", "workload", "job_id", "team", "queue")
_POD = ("cluster", "namespace", "pod")
_JOB = ("cluster", "job_id")
_TARGET_UP = gauge("up", "instance", "namespace", "pod", source="prometheus")
_COLLECTOR = "collector"


def not_of_exporter(series: Vector, settings: Settings) -> Vector:
    """Drops what carries the exporter's own pod.

    A scrape adds the labels of its target to every series that lacks them, the exporter's own pod among them;
    ``up`` carries exactly the labels of the target, so it tells which pod that is, with ``honorLabels`` on or off.
    """
    return series.unless(select(_TARGET_UP), on=(settings.cluster_label, "instance", "namespace", "pod"))


def owners(pods: Vector, jobs: Vector, settings: Settings, identity: tuple[str, ...]) -> Vector:
    """Who holds each device: 1 for each device and holder.

    Args:
        pods: series of devices, with ``namespace`` and ``pod`` of the pod that holds them.
        jobs: series of devices, with the ``job_id`` of the Slurm job that holds them.
        settings: for the selectors of our collector.
        identity: labels of a device.
    """
    by_pod = _owned_by_pods(group_by(pods, *identity, "namespace", "pod"), settings, identity)
    return by_pod.or_(_owned_by_jobs(group_by(jobs, *identity, "job_id"), settings, identity))


def _owned_by_pods(held: Vector, settings: Settings, identity: tuple[str, ...]) -> Vector:
    """With the workload that the collector or kube-state-metrics names, else the pod as its own."""
    collected = of_object(
        of_source(as_info(scheduler.POD_WORKLOAD), settings, _COLLECTOR), settings, "namespace", "pod"
    )
    facts = collected.or_(select(POD_INFO), on=_POD)
    known = join(held, facts, on=_POD, take=("workload_kind", "workload", "job_id", "team", "queue"))
    alone = first_label(held.unless(facts, on=_POD), "workload", "pod")
    unknown = labelled(alone, workload_kind="Pod", job_id="", team="", queue="")
    return max_by(known.or_(unknown), *identity, *OWNER_LABELS)


def _owned_by_jobs(held: Vector, settings: Settings, identity: tuple[str, ...]) -> Vector:
    """The job's id is the workload; account and partition come from the collector where it runs."""
    facts = clustered(
        of_source(as_info(training.JOB_INFO), settings, _COLLECTOR, Matcher("scheduler", "=", "slurm")), settings
    )
    known = join(held, facts, on=_JOB, take=("team", "queue"))
    unknown = labelled(held.unless(facts, on=_JOB), team="", queue="")
    either = first_label(known.or_(unknown), "workload", "job_id")
    return max_by(labelled(either, workload_kind="slurm_job", namespace="", pod=""), *identity, *OWNER_LABELS)

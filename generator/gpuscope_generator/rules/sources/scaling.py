"""Replicas of Deployments and StatefulSets, and the autoscalers above them: kube-state-metrics and KEDA."""

from __future__ import annotations

from gpuscope_generator.external import scaling
from gpuscope_generator.normalized import serving
from gpuscope_generator.promql import Gauge, Vector, join, label_replace, max_by
from gpuscope_generator.rules.model import Group, Recording, RuleFile, recording
from gpuscope_generator.rules.sources.canonical import of_object, of_source
from gpuscope_generator.rules.sources.labels import first_label
from gpuscope_generator.settings import Settings

__all__ = ["scaling_rules"]

_SCALER = ("cluster", *scaling.HPA)
_KSM = "kube-state-metrics"


def scaling_rules(settings: Settings) -> RuleFile:
    """Rules of replicas and of what autoscalers see."""

    def raw(series: Gauge, *labels: str, source: str = _KSM) -> Vector:
        """The largest of what two kube-state-metrics say."""
        found = of_object(of_source(series, settings, source), settings, "namespace")
        return max_by(found, "cluster", "namespace", *labels)

    def replicas(series: Gauge, label: str, kind: str, state: str) -> Recording:
        named = label_replace(raw(series, label), "workload", "$1", label, "(.*)")
        return recording(
            serving.REPLICAS, max_by(named, "cluster", "namespace", "workload"), workload_kind=kind, state=state
        )

    def scaled(series: Gauge, *labels: str) -> Vector:
        """Of the object that an autoscaler acts on."""
        targets = of_object(of_source(scaling.HPA_INFO, settings, _KSM), settings, "namespace")
        kind = label_replace(targets, "workload_kind", "$1", "scaletargetref_kind", "(.*)")
        facts = label_replace(kind, "workload", "$1", "scaletargetref_name", "(.*)")
        found = raw(series, "horizontalpodautoscaler", *labels)
        return join(found, facts, on=_SCALER, take=("workload_kind", "workload"))

    def scaler(series: Gauge, state: str) -> Recording:
        return recording(serving.REPLICAS, max_by(scaled(series), *serving.SCALED), state=state)

    def metric(series: Gauge, what: str) -> Recording:
        named = first_label(scaled(series, "metric_name"), "metric", "metric_name")
        return recording(serving.AUTOSCALER_METRIC, max_by(named, *serving.SCALED, "metric"), what=what)

    # A ScaledObject usually has the name of what it scales; where it has not, its metrics stand alone.
    keda = label_replace(
        raw(scaling.KEDA_VALUE, "scaledObject", "metric", source="keda"), "workload", "$1", "scaledObject", "(.*)"
    )
    rules = (
        replicas(scaling.DEPLOYMENT_WANTED, "deployment", "Deployment", "wanted"),
        replicas(scaling.DEPLOYMENT_READY, "deployment", "Deployment", "ready"),
        replicas(scaling.STATEFUL_SET_WANTED, "statefulset", "StatefulSet", "wanted"),
        replicas(scaling.STATEFUL_SET_READY, "statefulset", "StatefulSet", "ready"),
        scaler(scaling.HPA_MIN, "minimum"),
        scaler(scaling.HPA_MAX, "maximum"),
        scaler(scaling.HPA_WANTED, "scaler_wanted"),
        scaler(scaling.HPA_CURRENT, "scaler_current"),
        metric(scaling.HPA_METRIC_TARGET, "target"),
        metric(scaling.HPA_METRIC_CURRENT, "current"),
        recording(
            serving.AUTOSCALER_METRIC,
            max_by(keda, "cluster", "namespace", "workload", "metric"),
            workload_kind="ScaledObject",
            what="scaler",
        ),
    )
    return RuleFile(
        path="recording/scaling.yaml",
        comment="From kube-state-metrics and KEDA to replicas of Deployments and StatefulSets, and what scales them.",
        groups=(Group("gpuscope-normalize-scaling", settings.intervals.normalize, rules),),
    )

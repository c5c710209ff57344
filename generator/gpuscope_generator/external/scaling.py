"""Replicas and what scales them: kube-state-metrics 2.13 to 2.18, and KEDA 2.14 to 2.17."""

from __future__ import annotations

from gpuscope_generator.promql import gauge, info

__all__ = [
    "DEPLOYMENT_READY",
    "DEPLOYMENT_WANTED",
    "HPA",
    "HPA_CURRENT",
    "HPA_INFO",
    "HPA_MAX",
    "HPA_METRIC_CURRENT",
    "HPA_METRIC_TARGET",
    "HPA_MIN",
    "HPA_WANTED",
    "KEDA_VALUE",
    "STATEFUL_SET_READY",
    "STATEFUL_SET_WANTED",
]

_SOURCE = "kube-state-metrics"
_DEPLOYMENT = ("namespace", "deployment", "exported_namespace")
_STATEFUL_SET = ("namespace", "statefulset", "exported_namespace")
HPA = ("namespace", "horizontalpodautoscaler")
_HPA = (*HPA, "exported_namespace")
_METRIC = ("metric_name", "metric_target_type")

DEPLOYMENT_WANTED = gauge("kube_deployment_spec_replicas", *_DEPLOYMENT, source=_SOURCE)
DEPLOYMENT_READY = gauge("kube_deployment_status_replicas_ready", *_DEPLOYMENT, source=_SOURCE)
STATEFUL_SET_WANTED = gauge("kube_statefulset_replicas", *_STATEFUL_SET, source=_SOURCE)
STATEFUL_SET_READY = gauge("kube_statefulset_status_replicas_ready", *_STATEFUL_SET, source=_SOURCE)
HPA_INFO = info(
    "kube_horizontalpodautoscaler_info", *_HPA, "scaletargetref_kind", "scaletargetref_name", source=_SOURCE
)
HPA_MIN = gauge("kube_horizontalpodautoscaler_spec_min_replicas", *_HPA, source=_SOURCE)
HPA_MAX = gauge("kube_horizontalpodautoscaler_spec_max_replicas", *_HPA, source=_SOURCE)
HPA_WANTED = gauge("kube_horizontalpodautoscaler_status_desired_replicas", *_HPA, source=_SOURCE)
HPA_CURRENT = gauge("kube_horizontalpodautoscaler_status_current_replicas", *_HPA, source=_SOURCE)
HPA_METRIC_TARGET = gauge("kube_horizontalpodautoscaler_spec_target_metric", *_HPA, *_METRIC, source=_SOURCE)
HPA_METRIC_CURRENT = gauge("kube_horizontalpodautoscaler_status_target_metric", *_HPA, *_METRIC, source=_SOURCE)
KEDA_VALUE = gauge(
    "keda_scaler_metrics_value", "namespace", "scaledObject", "scaler", "metric", "exported_namespace", source="keda"
)

"""Operators of training jobs: Kubeflow's training-operator 1.9, JobSet 0.8, HyperPod's operator of 2025.

HyperPod's documentation and its own board call the same numbers by different names: both are here.
"""

from __future__ import annotations

from gpuscope.catalogue.metric import Unit
from gpuscope_generator.promql import counter, gauge, histogram

__all__ = [
    "HYPERPOD_CREATED",
    "HYPERPOD_DETECTION",
    "HYPERPOD_DOWNTIME",
    "HYPERPOD_ENDED",
    "HYPERPOD_RESTARTED",
    "HYPERPOD_RESTARTS_OF_DAY",
    "HYPERPOD_RESTART_LATENCY",
    "HYPERPOD_TRAINING_MS",
    "HYPERPOD_UPTIME",
    "JOBSET_COMPLETED",
    "JOBSET_FAILED",
    "KUBEFLOW_CREATED",
    "KUBEFLOW_ENDED",
    "KUBEFLOW_RESTARTED",
]

_KUBEFLOW = ("job_namespace", "framework")
_JOBSET = ("jobset_name", "namespace", "exported_namespace")
_HYPERPOD = ("jobName", "namespace", "exported_namespace")
_DAY = "Of the last 24 hours, as the operator itself counts."

KUBEFLOW_CREATED = counter("training_operator_jobs_created_total", *_KUBEFLOW, source="training-operator")
KUBEFLOW_RESTARTED = counter("training_operator_jobs_restarted_total", *_KUBEFLOW, source="training-operator")
KUBEFLOW_ENDED = {
    "succeeded": counter("training_operator_jobs_successful_total", *_KUBEFLOW, source="training-operator"),
    "failed": counter("training_operator_jobs_failed_total", *_KUBEFLOW, source="training-operator"),
    "deleted": counter("training_operator_jobs_deleted_total", *_KUBEFLOW, source="training-operator"),
}
"""By outcome."""

JOBSET_COMPLETED = counter("jobset_completed_total", *_JOBSET, source="jobset")
JOBSET_FAILED = counter("jobset_failed_total", *_JOBSET, source="jobset")

_EVENTS = "hyperpod_training_operator_jobs"
HYPERPOD_CREATED = counter(f"{_EVENTS}_created_total", *_HYPERPOD, source="hyperpod")
HYPERPOD_ENDED = {
    "succeeded": counter(f"{_EVENTS}_successful_total", *_HYPERPOD, source="hyperpod"),
    "failed": counter(f"{_EVENTS}_failed_total", *_HYPERPOD, source="hyperpod"),
    "deleted": counter(f"{_EVENTS}_deleted_total", *_HYPERPOD, source="hyperpod"),
}
"""By outcome."""
HYPERPOD_RESTARTED = counter(f"{_EVENTS}_restarted_total", *_HYPERPOD, "reason", source="hyperpod")
HYPERPOD_RESTART_LATENCY = histogram(f"{_EVENTS}_restart_latency", *_HYPERPOD, source="hyperpod")
HYPERPOD_DETECTION = histogram(f"{_EVENTS}_fault_detection_latency", *_HYPERPOD, source="hyperpod")

HYPERPOD_UPTIME = gauge(
    "training_uptime_percentage", "job_name", unit=Unit.RATIO, meaning=f"In percent. {_DAY}", source="hyperpod"
)
HYPERPOD_TRAINING_MS = gauge("training_time_ms", "job_name", meaning=_DAY, source="hyperpod")
HYPERPOD_RESTARTS_OF_DAY = {
    "automatic": (
        gauge("training_auto_recovery_count", "job_name", meaning=_DAY, source="hyperpod"),
        gauge("training_auto_restart_count", "job_name", meaning=_DAY, source="hyperpod"),
    ),
    "manual": (
        gauge("training_manual_recovery_count", "job_name", meaning=_DAY, source="hyperpod"),
        gauge("training_manual_restart_count", "job_name", meaning=_DAY, source="hyperpod"),
    ),
}
"""By trigger: the name in the documentation, and the name on HyperPod's board."""
HYPERPOD_DOWNTIME = {
    "automatic": (
        gauge("training_auto_recovery_downtime", "job_name", meaning=f"In milliseconds. {_DAY}", source="hyperpod"),
        gauge("training_auto_restart_downtime_ms", "job_name", meaning=_DAY, source="hyperpod"),
    ),
    "manual": (
        gauge("training_manual_downtime_ms", "job_name", meaning=_DAY, source="hyperpod"),
        gauge("training_manual_restart_downtime_ms", "job_name", meaning=_DAY, source="hyperpod"),
    ),
}
"""By trigger, likewise."""

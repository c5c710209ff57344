"""Kubeflow's training-operator: jobs by namespace and framework."""

from __future__ import annotations

from gpuscope_generator.external import operators
from gpuscope_generator.normalized import training
from gpuscope_generator.promql import Counter, Vector, label_replace, max_by, sum_by, with_zero
from gpuscope_generator.rules.model import Group, RuleFile
from gpuscope_generator.rules.sources.adapting import Adapter
from gpuscope_generator.settings import Settings

__all__ = ["kubeflow_rules"]

_KEYS = ("cluster", "instance", "namespace")


def kubeflow_rules(settings: Settings) -> RuleFile:
    """Rules of the training-operator; it does not tell which job, nor why one was restarted."""
    adapter = Adapter(settings, "training-operator")

    def read(series: Counter) -> Vector:
        once = max_by(adapter.read(series), "cluster", "instance", "job_namespace", "framework")
        return label_replace(once, "namespace", "$1", "job_namespace", "(.*)")

    # A counter begins with its first event: while others tell that the operator runs, it stands at 0.
    created = read(operators.KUBEFLOW_CREATED)
    known = sum_by(created, *_KEYS)
    ends = [
        adapter.counted(training.JOBS_ENDED, with_zero(sum_by(read(series), *_KEYS), known), outcome=outcome)
        for outcome, series in operators.KUBEFLOW_ENDED.items()
    ]
    restarted = with_zero(sum_by(read(operators.KUBEFLOW_RESTARTED), *_KEYS), known)
    return RuleFile(
        path="recording/kubeflow.yaml",
        comment="From Kubeflow's training-operator to numbers of training jobs.",
        groups=(
            Group(
                "gpuscope-normalize-kubeflow",
                settings.intervals.normalize,
                (
                    adapter.counted(training.JOBS_CREATED, known),
                    *ends,
                    adapter.counted(training.RESTARTS, restarted, trigger="unknown", fault_type="unknown"),
                ),
            ),
        ),
    )

"""Variables that only the training board has."""

from __future__ import annotations

from gpuscope_generator.normalized import training
from gpuscope_generator.panels.variables import IN_CLUSTER, IN_KIND, IN_NAMESPACE, IN_TEAM
from gpuscope_generator.promql import select
from gpuscope_generator.view import LabelValues

__all__ = ["JOB_WORKLOAD"]

JOB_WORKLOAD = LabelValues(
    name="workload",
    label="Job",
    selector=select(training.JOB_INFO, IN_CLUSTER, IN_TEAM, IN_NAMESPACE, IN_KIND),
    values_of="workload",
)
"""Jobs that live or ended within a day, those that wait and hold nothing included."""

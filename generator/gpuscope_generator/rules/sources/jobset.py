"""JobSet's controller: JobSets that ended. Restarts are not among its metrics."""

from __future__ import annotations

from gpuscope_generator.external import operators
from gpuscope_generator.normalized import training
from gpuscope_generator.promql import Counter, Vector, max_by, sum_by, with_zero
from gpuscope_generator.rules.model import Group, RuleFile
from gpuscope_generator.rules.sources.adapting import Adapter
from gpuscope_generator.settings import Settings

__all__ = ["jobset_rules"]

_KEYS = ("cluster", "instance", "namespace")


def jobset_rules(settings: Settings) -> RuleFile:
    """Rules of JobSet's controller, by namespace."""
    adapter = Adapter(settings, "jobset", "JobSet")

    def read(series: Counter) -> Vector:
        return sum_by(max_by(adapter.read(series), *_KEYS, "jobset_name"), *_KEYS)

    completed, failed = read(operators.JOBSET_COMPLETED), read(operators.JOBSET_FAILED)
    return RuleFile(
        path="recording/jobset.yaml",
        comment="From JobSet's controller to JobSets that succeeded and failed. A counter begins with its first event, "
        "so that the very first end in a namespace is not seen.",
        groups=(
            Group(
                "gpuscope-normalize-jobset",
                settings.intervals.normalize,
                (
                    adapter.counted(training.JOBS_ENDED, with_zero(completed, failed), outcome="succeeded"),
                    adapter.counted(training.JOBS_ENDED, with_zero(failed, completed), outcome="failed"),
                ),
            ),
        ),
    )
